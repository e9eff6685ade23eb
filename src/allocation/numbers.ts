// Numbers as Ganeti's programs write them.
/** Eight digits behind the point; what lies exactly between two goes to the even one, as Ganeti's programs round. */
export function score8(value: number): string {
  const long = value.toFixed(20)
  const [kept, tail] = [long.slice(0, -12), long.slice(-12)]
  return tail === '500000000000' && Number(kept.at(-1)) % 2 === 0 ? kept : value.toFixed(8)
}

/** As Haskell shows a Double: always with a decimal point. */
export function showDouble(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return value.toFixed(1)
  if (value !== 0 && (Math.abs(value) < 0.1 || Math.abs(value) >= 1e7)) {
    const [digits = '', exponent = '0'] = value.toExponential().split('e')
    return `${digits.includes('.') ? digits : `${digits}.0`}e${Number(exponent)}`
  }
  return String(value)
}
