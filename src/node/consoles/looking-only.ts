// Filters the messages of a viewer who may only look at a screen. Requests for pictures pass; typing, pointing and
// pasting are dropped. An unknown message ends the connection, because nobody can tell where the next one begins.
import type { ByteReader } from '../../lib/net/byte-reader'

const WORD = {
  ...{ pixelFormat: 0, encodings: 2, update: 3, key: 4, pointer: 5, paste: 6 },
  ...{ continuous: 150, fence: 248, power: 250, desktopSize: 251, qemu: 255 },
} as const
/** With this encoding, pointer messages have another length. */
const MORE_MOUSE_BUTTONS = -316

export async function* lookingOnly(received: ByteReader): AsyncGenerator<Buffer> {
  for (;;) {
    const word = await received.take(1)
    const passed = await passedOn(word.readUInt8(), received)
    if (passed !== undefined) yield Buffer.concat([word, passed])
  }
}

/** The rest of the message, if it may pass. */
async function passedOn(word: number, received: ByteReader): Promise<Buffer | undefined> {
  switch (word) {
    case WORD.pixelFormat:
      return received.take(19)
    case WORD.encodings:
      return encodings(received)
    case WORD.update:
    case WORD.continuous:
      return received.take(9)
    case WORD.fence: {
      const head = await received.take(8)
      return Buffer.concat([head, await received.take(head.readUInt8(7))])
    }
    default:
      await leaveOut(word, received)
      return undefined
  }
}

async function encodings(received: ByteReader): Promise<Buffer> {
  const head = await received.take(3)
  const count = head.readUInt16BE(1)
  const list = await received.take(4 * count)
  const known = Array.from({ length: count }, (_, at) => list.readInt32BE(4 * at))
  const desired = known.filter((encoding) => encoding !== MORE_MOUSE_BUTTONS)
  const passed = Buffer.alloc(3 + 4 * desired.length)
  passed.writeUInt16BE(desired.length, 1)
  for (const [at, encoding] of desired.entries()) passed.writeInt32BE(encoding, 3 + 4 * at)
  return passed
}

async function leaveOut(word: number, received: ByteReader): Promise<void> {
  switch (word) {
    case WORD.key:
      return received.skip(7)
    case WORD.pointer:
      return received.skip(5)
    case WORD.paste:
      // A negative length belongs to an extended clipboard message.
      return received.skip(Math.abs((await received.take(7)).readInt32BE(3)))
    case WORD.power:
      return received.skip(3)
    case WORD.desktopSize:
      return received.skip(16 * (await received.take(7)).readUInt8(5))
    case WORD.qemu:
      return leaveOutQemu(received)
    default:
      throw new Error(`a viewer who may only look said the unknown word ${word}`)
  }
}

/** Key codes by position on the keyboard, and sound. */
async function leaveOutQemu(received: ByteReader): Promise<void> {
  if ((await received.take(1)).readUInt8() === 0) return received.skip(10)
  const sound = (await received.take(2)).readUInt16BE()
  return received.skip(sound === 2 ? 6 : 0)
}
