// Changes good bytes as a bad line, a mistake or an attacker would: cuts them, joins them, or alters them a little.
import type { Random } from '../../src/lib/random'

export const picker =
  (random: Random) =>
  <T>(all: readonly T[], otherwise: T): T =>
    all[random.below(all.length)] ?? otherwise

export function mutated(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length)
  const length = 1 + random.below(40)
  const noise = () => Buffer.from(random.hex(length), 'hex')
  const around = (middle: Buffer, from = at) => Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(from)])
  const ways: readonly (() => Buffer)[] = [
    () => bytes.subarray(0, at),
    () => around(noise()),
    () => around(Buffer.alloc(0), at + length),
    () => around(noise(), at + length),
    // Repeats a part.
    () => around(bytes.subarray(at, at + length)),
    () => Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ (1 << random.below(8)) : byte))),
  ]
  return picker(random)(ways, () => bytes)()
}
