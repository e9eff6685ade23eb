// Reads what `rbd` prints about images: which are mapped to block devices on this node, and which clients have one open. The formats differ
// between versions.
import { isObject } from '../../../lib/shapes/shape'

export interface Mapped {
  readonly pool: string
  readonly image: string
  /** Undefined if the image itself is mapped. */
  readonly snapshot?: string
  readonly device: string
}

/** Reads `rbd showmapped --format json`: a list, or in older versions an object by number. Undefined if it is neither. */
export function readMappedJson(text: string): Mapped[] | undefined {
  const found = parsed(text.trim() === '' ? '[]' : text)
  if (!Array.isArray(found) && !isObject(found)) return undefined
  return Object.values(found).flatMap((one: unknown) => {
    if (!isObject(one)) return []
    const { pool, name, device, snap, namespace = '' } = one
    const known = typeof pool === 'string' && typeof name === 'string' && typeof device === 'string'
    return known && namespace === '' ? [mapped(pool, name, typeof snap === 'string' ? snap : '-', device)] : []
  })
}

/**
 * Reads `rbd showmapped`: a table, in which the column of namespaces may be missing and is mostly empty. Undefined if the text is not such
 * a table.
 */
export function readMappedTable(text: string): Mapped[] | undefined {
  const [header, ...rows] = text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([first]) => first !== '')
  if (header === undefined) return []
  const columns = header.filter((name) => name !== 'namespace')
  if (columns.join(' ') !== 'id pool image snap device') return undefined
  return rows.flatMap((row) => {
    const [, pool, image, snapshot, device] = row
    const complete = pool !== undefined && image !== undefined && snapshot !== undefined && device !== undefined
    return complete && row.length === columns.length ? [mapped(pool, image, snapshot, device)] : []
  })
}

const mapped = (pool: string, image: string, snapshot: string, device: string): Mapped => ({
  ...{ pool, image, device },
  ...(snapshot !== '-' && snapshot !== '' && { snapshot }),
})

/**
 * Reads `rbd status --format json`. Returns the addresses, without ports, of all clients that have the image open for writing. Undefined if
 * the text cannot be read.
 */
export function readWatchers(text: string): string[] | undefined {
  const status = parsed(text)
  const watchers = isObject(status) ? status['watchers'] : undefined
  if (!Array.isArray(watchers) && !isObject(watchers)) return undefined
  const addresses = Object.values(watchers).flatMap((one: unknown) => {
    const address = isObject(one) ? one['address'] : undefined
    return typeof address === 'string' ? [address.replace(/:\d+\/\d+$/, '')] : []
  })
  return [...new Set(addresses)]
}

/** Reads `rbd ls --format json`. Returns the names of all images of a pool, or undefined if the text cannot be read. */
export function readNames(text: string): ReadonlySet<string> | undefined {
  const names = parsed(text.trim() === '' ? '[]' : text)
  return Array.isArray(names) && names.every((one) => typeof one === 'string') ? new Set(names) : undefined
}

/** Reads `rbd info --format json`. Returns the size in bytes, or undefined if the text cannot be read. */
export function readImageSize(text: string): number | undefined {
  const info = parsed(text)
  const size = isObject(info) ? info['size'] : undefined
  return typeof size === 'number' && Number.isSafeInteger(size) ? size : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
