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

/** A text for a number of bytes, which may be less than a MiB. */
export function byteText(bytes: number): string {
  if (bytes >= 1024 * 1024) return sizeText(bytes / 1024 / 1024)
  const kib = bytes / 1024
  return kib >= 1 ? `${kib.toFixed(kib >= 100 || Number.isInteger(kib) ? 0 : 1)} KiB` : `${Math.round(bytes)} B`
}

const FACTORS: Readonly<Record<string, number>> = { '': 1, m: 1, g: 1024, t: 1024 ** 2, p: 1024 ** 3 }

/** The MiB of a text such as `512`, `10g` or `1.5 GiB`; undefined if it is no size. Units are binary. */
export function parseSize(text: string): number | undefined {
  const [, digits, unit = ''] = /^\s*(\d+(?:[.,]\d+)?)\s*([mgtp]?)(?:i?b)?\s*$/i.exec(text) ?? []
  const factor = FACTORS[unit.toLowerCase()]
  if (digits === undefined || factor === undefined) return undefined
  const mib = Math.round(Number(digits.replace(',', '.')) * factor)
  return Number.isSafeInteger(mib) ? mib : undefined
}

/** A size as users type it: `10g`. */
export function sizeWord(mib: number): string {
  for (const unit of ['t', 'g'] as const) {
    const factor = FACTORS[unit] ?? 1
    if (mib >= factor && mib % factor === 0) return `${mib / factor}${unit}`
  }
  return `${mib}m`
}
