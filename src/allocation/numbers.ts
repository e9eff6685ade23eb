// Numbers as Ganeti's programs write them.
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

/** As scores are printed. */
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

/** MiB of `512`, `4g`, `1T`: small letters and `iB` are powers of 1024, capitals of 1000. */
export function parseSize(text: string): number | { readonly error: string } {
  const match = /^(-?\d+) *(.*)$/.exec(text)
  if (match === null) return { error: `Can't parse string '${text}'` }
  const [, digits = '', unit = ''] = match
  const factor = UNITS[unit] ?? UNITS[unit.toUpperCase()]
  return factor === undefined ? { error: `Unknown unit '${unit}'` } : Math.trunc(Number(digits) * factor)
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
