// The only source of chance; the simulation hands in a seeded one.
import { randomBytes, randomInt, randomUUID } from 'node:crypto'

export interface Random {
  uuid(): string
  /** `bytes` random bytes as lower-case hexadecimal. */
  hex(bytes: number): string
  /** A whole number, 0 <= n < bound. */
  below(bound: number): number
}

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  hex: (bytes) => randomBytes(bytes).toString('hex'),
  below: (bound) => randomInt(bound),
}

/** Repeatable chance for tests and simulation (mulberry32); never for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (bound: number) => Math.floor(next() * bound)
  const hex = (bytes: number) => Array.from({ length: bytes }, () => below(256).toString(16).padStart(2, '0')).join('')
  const uuid = () => {
    const h = hex(16)
    return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-a${h.slice(17, 20)}-${h.slice(20)}`
  }
  return { uuid, hex, below }
}
