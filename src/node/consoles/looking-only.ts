// Filters the messages of a viewer who may only look at a screen. Requests for pictures pass; typing, pointing and
// pasting are dropped. An unknown message ends the connection, because nobody can tell where the next one begins.
import type { ByteReader } from '../../lib/net/byte-reader'

const WORD = {
  ...{ pixelFormat: 0, encodings: 2, update: 3, key: 4, pointer: 5, paste: 6 },
  ...{ continuous: 150, fence: 248, power: 250, desktopSize: 251, qemu: 255 },
} as const
/** With this encoding, pointer messages have another length. */
const MORE_MOUSE_BUTTONS = -316

export async function* lookingOnly(heard: ByteReader): AsyncGenerator<Buffer> {
  for (;;) {
    const word = await heard.take(1)
    const passed = await passedOn(word.readUInt8(), heard)
    if (passed !== undefined) yield Buffer.concat([word, passed])
  }
}

/** The rest of the message, if it may pass. */
async function passedOn(word: number, heard: ByteReader): Promise<Buffer | undefined> {
  switch (word) {
    case WORD.pixelFormat:
      return heard.take(19)
    case WORD.encodings:
      return encodings(heard)
    case WORD.update:
    case WORD.continuous:
      return heard.take(9)
    case WORD.fence: {
      const head = await heard.take(8)
      return Buffer.concat([head, await heard.take(head.readUInt8(7))])
    }
    default:
      await leaveOut(word, heard)
      return undefined
  }
}

async function encodings(heard: ByteReader): Promise<Buffer> {
  const head = await heard.take(3)
  const count = head.readUInt16BE(1)
  const list = await heard.take(4 * count)
  const known = Array.from({ length: count }, (_, at) => list.readInt32BE(4 * at))
  const wanted = known.filter((encoding) => encoding !== MORE_MOUSE_BUTTONS)
  const passed = Buffer.alloc(3 + 4 * wanted.length)
  passed.writeUInt16BE(wanted.length, 1)
  for (const [at, encoding] of wanted.entries()) passed.writeInt32BE(encoding, 3 + 4 * at)
  return passed
}

async function leaveOut(word: number, heard: ByteReader): Promise<void> {
  switch (word) {
    case WORD.key:
      return heard.skip(7)
    case WORD.pointer:
      return heard.skip(5)
    case WORD.paste:
      // A negative length belongs to an extended clipboard message.
      return heard.skip(Math.abs((await heard.take(7)).readInt32BE(3)))
    case WORD.power:
      return heard.skip(3)
    case WORD.desktopSize:
      return heard.skip(16 * (await heard.take(7)).readUInt8(5))
    case WORD.qemu:
      return leaveOutQemu(heard)
    default:
      throw new Error(`a viewer who may only look said the unknown word ${word}`)
  }
}

/** Key codes by position on the keyboard, and sound. */
async function leaveOutQemu(heard: ByteReader): Promise<void> {
  if ((await heard.take(1)).readUInt8() === 0) return heard.skip(10)
  const sound = (await heard.take(2)).readUInt16BE()
  return heard.skip(sound === 2 ? 6 : 0)
}
