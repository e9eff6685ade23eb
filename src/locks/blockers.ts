// Finds the owners that block a request: holders of conflicting locks, as in Ganeti, and one more rule against starvation.
import type { LockMode, LockName } from '../model/lock'
import { BIG_LOCK, CLUSTER_LOCKSET, levelOf, lockSetOf } from '../model/lock-names'
import type { LockTable, OwnerKey, Wanted } from './state'

export function firstBlocker(table: LockTable, desired: Wanted): OwnerKey | undefined {
  for (const blocker of blockersOf(table, desired)) return blocker
  return undefined
}

/** May name an owner more than once. */
export function* blockersOf(table: LockTable, desired: Wanted): Generator<OwnerKey> {
  for (const [lock, mode] of desired.request)
    if (mode !== 'release') for (const [, key] of conflicts(table, desired.key, lock, mode)) yield key
  const earlier = earlierClusterRequest(table, desired)
  if (earlier) yield earlier.key
}

/** Locks in use, and by whom, that keep this owner from having the lock in this mode. */
export function* conflicts(
  table: LockTable,
  self: OwnerKey,
  lock: LockName,
  mode: LockMode,
): Generator<[LockName, OwnerKey]> {
  const state = table.locks.get(lock)
  if (state) {
    yield* others(lock, self, mode === 'exclusive' ? state.holders.keys() : [state.exclusive])
    yield* others(lock, self, mode === 'exclusive' ? state.members.keys() : state.exclusiveMembers)
  }
  const set = lockSetOf(lock)
  const setState = set === undefined ? undefined : table.locks.get(set)
  if (set !== undefined && setState)
    yield* others(set, self, mode === 'exclusive' ? setState.holders.keys() : [setState.exclusive])
}

/**
 * Without this rule, a stream of jobs that share the cluster lock would keep out an exclusive request for ever. It only
 * holds back owners without any lock, because the earlier request may wait for an owner that holds one; and only behind
 * a request that is at least as urgent.
 */
export function earlierClusterRequest(table: LockTable, desired: Wanted): Wanted | undefined {
  if (table.clusterRequests.size === 0 || table.owners.has(desired.key)) return undefined
  if (desired.request.every(([lock, mode]) => mode === 'release' || levelOf(lock) === 'config')) return undefined
  for (const earlier of table.clusterRequests.values()) {
    if (earlier.sequence >= desired.sequence) return undefined
    if (earlier.priority <= desired.priority) return earlier
  }
  return undefined
}

export const isClusterRequest = (desired: Wanted): boolean =>
  desired.request.some(([lock, mode]) => mode === 'exclusive' && (lock === BIG_LOCK || lock === CLUSTER_LOCKSET))

function* others(
  lock: LockName,
  self: OwnerKey,
  keys: Iterable<OwnerKey | undefined>,
): Generator<[LockName, OwnerKey]> {
  for (const key of keys) if (key !== undefined && key !== self) yield [lock, key]
}
