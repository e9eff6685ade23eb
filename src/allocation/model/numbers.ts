// Numbers in the format of Ganeti's programs.
/** So many digits behind the point; where the shortest way to write the value lies between two, the even one is taken. */
export function fixed(value: number, digits: number): string {
  const [mantissa = '', exponent = ''] = value.toExponential().split('e')
  const shortest = mantissa.replace(/[-.]/g, '')
  const between = shortest.length - 1 - Number(exponent) === digits + 1 && shortest.endsWith('5')
  if (!between) return value.toFixed(digits)
  const below = BigInt(shortest.slice(0, -1) || '0')
  const even = String(below + (below % 2n)).padStart(digits + 1, '0')
  const point = even.length - digits
  return `${value < 0 ? '-' : ''}${even.slice(0, point)}${digits > 0 ? '.' : ''}${even.slice(point)}`
}

/** The printed form of scores. */
export const score8 = (value: number): string => fixed(value, 8)

/** As Haskell shows a Double: always with a decimal point. */
export function showDouble(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return value.toFixed(1)
  if (value !== 0 && (Math.abs(value) < 0.1 || Math.abs(value) >= 1e7)) {
    const [digits = '', exponent = '0'] = value.toExponential().split('e')
    return `${digits.includes('.') ? digits : `${digits}.0`}e${Number(exponent)}`
  }
  return String(value)
}

export type NumberKind = 'whole' | 'any'

export interface Unreadable {
  readonly error: string
}

/** Parses a number as Haskell does: blanks and brackets may precede it, nothing may follow. */
export function readNumber(text: string, kind: NumberKind): number | Unreadable {
  const found = readPrefix(text, kind)
  if (found === undefined) return { error: `cannot parse string '${text}'` }
  if (found.rest !== '') return { error: `leftover characters when parsing '${text}': '${found.rest}'` }
  return found.value
}

/** MiB of `512`, `4g`, `1T`: small letters and `iB` are powers of 1024, capitals of 1000. */
export function parseSize(text: string): number | Unreadable {
  const found = readPrefix(text, 'whole')
  if (found === undefined) return { error: `Can't parse string '${text}'` }
  const unit = found.rest.trimStart()
  const factor = UNITS[unit] ?? UNITS[unit.toUpperCase()]
  return factor === undefined ? { error: `Unknown unit '${unit}'` } : Math.trunc(found.value * factor)
}

const NUMBER = /^(?:0[xX][\da-fA-F]+|0[oO][0-7]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/
const WORD = /^(?:NaN|Infinity)(?![\p{L}\p{N}_'])/u

function readPrefix(text: string, kind: NumberKind): { value: number; rest: string } | undefined {
  const start = text.trimStart()
  if (start.startsWith('(')) {
    const inner = readPrefix(start.slice(1), kind)
    const rest = inner?.rest.trimStart()
    return inner !== undefined && rest?.startsWith(')') ? { value: inner.value, rest: rest.slice(1) } : undefined
  }
  const negative = start.startsWith('-')
  const unsigned = negative ? start.slice(1).trimStart() : start
  const [digits] = NUMBER.exec(unsigned) ?? (kind === 'any' ? WORD.exec(unsigned) : null) ?? []
  if (digits === undefined) return undefined
  const whole = /^(?:\d+|0[xXoO].*)$/.test(digits)
  if (kind === 'whole' && !whole) return undefined
  // Whole numbers overflow as 64-bit integers do.
  const value = kind === 'whole' ? Number(BigInt.asIntN(64, BigInt(digits))) : Number(digits)
  return { value: negative ? -value : value, rest: unsigned.slice(digits.length) }
}

const MB = 1000 ** 2 / 1024 ** 2
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  m: 1,
  g: 1024,
  t: 1024 ** 2,
  M: MB,
  G: MB * 1000,
  T: MB * 1000 ** 2,
  MIB: 1,
  GIB: 1024,
  TIB: 1024 ** 2,
  MB,
  GB: MB * 1000,
  TB: MB * 1000 ** 2,
}
