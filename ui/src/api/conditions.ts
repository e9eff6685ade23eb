// Conditions of the query language, for filters of lists.

/** Matches names that contain these letters. Letters with a meaning in regular expressions are escaped. */
export const nameLike = (letters: string, field = 'name'): unknown[] => ['=~', field, `(?i)${escaped(letters)}`]

const escaped = (letters: string): string => letters.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Matches objects that have a value. All other conditions also match objects without one. */
export const hasValue = (field: string): unknown[] => ['!', ['<', field, '']]

/** Matches objects whose UUID begins so. Fewer letters than these would match by chance. */
export const uuidLike = (letters: string): unknown[][] =>
  /^[\da-f]{8}[\da-f-]*$/i.test(letters) ? [['=~', 'uuid', `(?i)^${escaped(letters)}`]] : []

const IPV4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/
const MAC = /^[\da-f]{2}(:[\da-f]{2}){5}$/i
const PART = /^(\d{1,3}\.[\d.]*|[\da-f]{0,4}(:[\da-f]{0,4})+)(\/\d*)?$/i

/**
 * Matches objects that have this IP or MAC address, or one that contains this part, in a field of words. A whole address matches no longer
 * one. `subnets` matches networks that contain a whole address.
 */
export function addressLike(letters: string, field: string, subnets = false): unknown[][] {
  if (!PART.test(letters)) return []
  const isWhole = IPV4.test(letters) || MAC.test(letters)
  const words = ['=~', field, isWhole ? `(?i)(^| )${escaped(letters)}( |$)` : `(?i)${escaped(letters)}`]
  return [words, ...(subnets ? subnetsOf(letters).map((subnet) => ['==', 'network', subnet]) : [])]
}

/** All subnets that contain an IPv4 address, from the largest that a network may have. */
function subnetsOf(address: string): string[] {
  const parts = IPV4.exec(address)?.slice(1).map(Number) ?? []
  if (parts.length === 0 || parts.some((part) => part > 255)) return []
  const number = parts.reduce((sum, part) => sum * 256 + part, 0)
  return Array.from({ length: 32 }, (_, at) => at + 1).map((bits) => {
    const size = 2 ** (32 - bits)
    const base = number - (number % size)
    return `${[24, 16, 8, 0].map((shift) => Math.floor(base / 2 ** shift) % 256).join('.')}/${bits}`
  })
}

/** At least one of the conditions must match. */
export const anyOf = (conditions: readonly unknown[][]): unknown[] => ['|', ...conditions]

/** Makes the `filter` of a request. All conditions must match. */
export function allOf(conditions: readonly unknown[][]): string | undefined {
  if (conditions.length === 0) return undefined
  return JSON.stringify(conditions.length === 1 ? conditions[0] : ['&', ...conditions])
}
