// Sizes in binary units. The API has mebibytes.
const UNITS = ['MiB', 'GiB', 'TiB', 'PiB'] as const

export function sizeText(mib: number | null | undefined): string {
  if (mib === null || mib === undefined) return '–'
  let value = mib
  let unit = 0
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024
    unit++
  }
  const digits = value >= 100 || Number.isInteger(value) ? 0 : 1
  return `${value.toFixed(digits)} ${UNITS[unit] ?? ''}`
}
