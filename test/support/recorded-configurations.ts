// The configurations of Ganeti's own tests, one for each version, and the differences between two of them.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { isObject } from '../../src/lib/shapes/shape'

const DATA = path.join(__dirname, '../data/config')
/** cfgupgrade turns these into one of version 3.1. */
export const OLD_VERSIONS = ['2.7', '2.8', '2.9', '2.10', '2.11', '2.12', '2.13', '2.14', '2.15', '2.16']
/** These are taken over unchanged. */
export const VERSIONS = ['3.0', '3.1']
export const MASTER = 'node1.example.com'

export const recordedConfig = (version: string): string =>
  fs.readFileSync(path.join(DATA, `cluster_config_${version}.json`), 'utf8')

/** The versions of all recordings that are there. */
export const recordedVersions = (): string[] =>
  fs.readdirSync(DATA).flatMap((name) => /^cluster_config_(.*)\.json$/.exec(name)?.[1] ?? [])

/** The serial number and the times of an object, and values that a later release adds. */
const MOVING = ['serial_no', 'mtime']
const EMPTY = [[], {}, 0].map((value) => JSON.stringify(value))

/**
 * The paths at which two JSON texts differ, such as `cluster.tags`. Ignores serial numbers and times, new empty lists, and what these
 * recordings lack for a volume below a mirror.
 */
export const configChanges = (before: string, after: string): string[] =>
  differences(JSON.parse(before), JSON.parse(after), [])

function differences(before: unknown, after: unknown, at: readonly string[]): string[] {
  const last = at.at(-1) ?? ''
  if (MOVING.includes(last)) return []
  if (before === undefined && (EMPTY.includes(JSON.stringify(after)) || isOfVolume(at))) return []
  if (isObject(before) && isObject(after)) return withinBoth(before, after, at)
  // The order of a list of objects matters. A missing end is a difference too.
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length && before.some(isObject))
    return withinBoth({ ...before }, { ...after }, at)
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [at.join('.')]
}

const withinBoth = (before: object, after: object, at: readonly string[]): string[] => {
  const [one, other] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((key) =>
    differences(one.get(key), other.get(key), [...at, key]),
  )
}

const isOfVolume = (at: readonly string[]): boolean => at.at(-3) === 'children'
