// Names of locks: their order, their levels, and their locksets.
import { GenericError } from './errors'
import type { LockLevel, LockName } from './lock'

const LOCKSET = '[lockset]'
const CONFIG_LOCK = 'cluster/config'
export const BIG_LOCK = 'cluster/BGL'
export const CLUSTER_LOCKSET = `cluster/${LOCKSET}`

/** Ganeti's order of levels, and the names that its error texts use. */
const LEVELS: readonly (readonly [level: LockLevel, set: string, member: string])[] = [
  ['cluster', 'ClusterLockSet', 'BGL'],
  ['instance', 'InstanceLockSet', 'Instance'],
  ['nodegroup', 'NodeGroupLockSet', 'NodeGroup'],
  ['node', 'NodeLockSet', 'Node'],
  ['node-res', 'NodeResLockSet', 'NodeRes'],
  ['network', 'NetworkLockSet', 'Network'],
]
const LEVEL_NUMBERS = new Map(LEVELS.map(([level], number) => [level as string, number]))
const CONFIG_RANK = 2 * LEVELS.length

/** The order in which locks must be taken. */
export function compareLocks(a: LockName, b: LockName): number {
  const difference = rankOf(a) - rankOf(b)
  if (difference !== 0) return difference
  return a < b ? -1 : a > b ? 1 : 0
}

/** The lockset that a lock is part of; undefined for locksets and for the configuration lock. */
export function lockSetOf(lock: LockName): LockName | undefined {
  if (lock === CONFIG_LOCK || lock.endsWith(`/${LOCKSET}`)) return undefined
  return lock.slice(0, lock.indexOf('/') + 1) + LOCKSET
}

export function levelOf(lock: LockName): LockLevel {
  return lock === CONFIG_LOCK ? 'config' : (LEVELS[rankOf(lock) >> 1]?.[0] ?? 'config')
}

export const isLevel = (text: unknown): text is LockLevel =>
  text === 'config' || LEVELS.some(([level]) => level === text)

export function isLockName(text: string): boolean {
  const slash = text.indexOf('/')
  const level = text.slice(0, slash)
  if (slash < 1 || slash === text.length - 1 || !LEVEL_NUMBERS.has(level)) return false
  return level !== 'cluster' || text === BIG_LOCK || text === CLUSTER_LOCKSET || text === CONFIG_LOCK
}

export function checkLockName(text: unknown): LockName {
  if (typeof text === 'string' && isLockName(text)) return text
  throw new GenericError(`Unknown lock name '${typeof text === 'string' ? text : JSON.stringify(text)}'`)
}

/** A lock as Ganeti's error texts show it: `Node "uuid"`, `InstanceLockSet`, `BGL`. */
export function describeLock(lock: LockName): string {
  if (lock === CONFIG_LOCK) return 'ConfigLock'
  const [, set, member] = LEVELS[rankOf(lock) >> 1] ?? ['', lock, lock]
  if (lockSetOf(lock) === undefined) return set
  return lock === BIG_LOCK ? member : `${member} ${JSON.stringify(lock.slice(lock.indexOf('/') + 1))}`
}

/** Locksets come before their members, and the configuration lock after everything. */
function rankOf(lock: LockName): number {
  if (lock === CONFIG_LOCK) return CONFIG_RANK
  const level = LEVEL_NUMBERS.get(lock.slice(0, lock.indexOf('/'))) ?? LEVELS.length
  return 2 * level + (lock.endsWith(`/${LOCKSET}`) ? 0 : 1)
}
