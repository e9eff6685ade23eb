// A viewer who may only look sends nothing of RFB that types or points.
import { ByteReader } from '../../../../src/lib/net/byte-reader'
import { lookingOnly } from '../../../../src/node/consoles/looking-only'

const word = (type: number, length: number): Buffer => Buffer.concat([Buffer.from([type]), Buffer.alloc(length - 1)])

async function passed(words: readonly Buffer[]): Promise<Buffer[]> {
  const all: Buffer[] = []
  try {
    for await (const one of lookingOnly(
      new ByteReader(
        (async function* () {
          yield* words
        })(),
      ),
    ))
      all.push(one)
  } catch (error) {
    if (!String(error).includes('closed the connection')) throw error
  }
  return all
}

const PASTE = Buffer.concat([word(6, 4), Buffer.from([0, 0, 0, 3]), Buffer.from('abc')])
const LONG_PASTE = Buffer.concat([word(6, 4), Buffer.from([0xff, 0xff, 0xff, 0xfb]), Buffer.alloc(5)])
const FENCE = Buffer.concat([word(248, 8), Buffer.from([2, 7, 7])])
const SIZES = Buffer.concat([word(251, 6), Buffer.from([1, 0]), Buffer.alloc(16)])
const SOUND = Buffer.concat([Buffer.from([255, 1, 0, 2]), Buffer.alloc(6)])

test('requests for pictures are passed on, and keys, pointer and paste are left out', async () => {
  const update = word(3, 10)
  const words = [
    ...[word(0, 20), word(4, 8), word(5, 6), PASTE, LONG_PASTE, FENCE, word(150, 10), word(250, 4), SIZES],
    ...[word(255, 12), SOUND, Buffer.from([255, 1, 0, 0]), update],
  ]
  expect(await passed(words)).toEqual([word(0, 20), FENCE, word(150, 10), update])
})

test('what comes byte by byte is the same', async () => {
  const words = [PASTE, word(3, 10), word(5, 6), FENCE]
  expect(await passed([...Buffer.concat(words)].map((byte) => Buffer.from([byte])))).toEqual([word(3, 10), FENCE])
})

test('the encoding that makes the words of a pointer longer is not asked for', async () => {
  const requested = Buffer.alloc(4 + 12)
  requested.writeUInt8(2)
  requested.writeUInt16BE(3, 2)
  for (const [at, encoding] of [7, -316, -223].entries()) requested.writeInt32BE(encoding, 4 + 4 * at)
  const left = Buffer.alloc(4 + 8)
  left.writeUInt8(2)
  left.writeUInt16BE(2, 2)
  for (const [at, encoding] of [7, -223].entries()) left.writeInt32BE(encoding, 4 + 4 * at)
  expect(await passed([requested])).toEqual([left])
})

test('an unknown word ends it, since nobody can tell where the next one begins', async () => {
  await expect(passed([word(99, 5)])).rejects.toThrow('unknown word 99')
})
