// Answers questions about the lock table in the forms of Ganeti's calls.
import type { ClientId, LockMode, LockName, LockRequest } from '../model/lock'
import { BIG_LOCK, compareLocks } from '../model/lock-names'
import { conflicts, earlierClusterRequest } from './blockers'
import { heldLocks, inQueueOrder } from './encoding'
import { ownerKey, type LockTable } from './state'

/** Locks in use, including locksets with held members. */
export const listAllLocks = (table: LockTable): LockName[] => [...table.locks.keys()].sort(compareLocks)

export const listLocks = (table: LockTable, client: ClientId): [LockName, LockMode][] =>
  heldLocks(table.owners.get(ownerKey(client)))

export const listAllLocksOwners = (table: LockTable): [LockName, [ClientId, LockMode][]][] =>
  listAllLocks(table).map((lock) => {
    const owners: [ClientId, LockMode][] = []
    for (const [key, { mode }] of table.locks.get(lock)?.holders ?? []) {
      const owner = table.owners.get(key)
      if (owner) owners.push([owner.client, mode])
    }
    return [lock, owners]
  })

/** Most urgent first. */
export const listWaiting = (table: LockTable): [number, ClientId, LockRequest[]][] =>
  inQueueOrder(table).map(({ priority, client, request }) => [priority, client, [...request]])

export interface Blocking {
  lock: LockName
  holders: { client: ClientId; mode: LockMode; since: number }[]
}

/** The locks for which a client waits, with their owners and since when. Empty if it waits for none. */
export function blocking(table: LockTable, client: ClientId): Blocking[] {
  const waiting = table.waiting.get(ownerKey(client))
  if (waiting === undefined) return []
  const found = new Map<LockName, Set<string>>()
  for (const [lock, mode] of waiting.request) {
    if (mode === 'release') continue
    for (const [used, key] of conflicts(table, waiting.key, lock, mode)) {
      const keys = found.get(used)
      if (keys) keys.add(key)
      else found.set(used, new Set([key]))
    }
  }
  const answer = [...found].map(([lock, keys]) => ({
    lock,
    holders: [...keys].flatMap((key) => holder(table, lock, key)),
  }))
  const earlier = earlierClusterRequest(table, waiting)
  if (earlier)
    answer.push({ lock: BIG_LOCK, holders: [{ client: earlier.client, mode: 'exclusive', since: earlier.since }] })
  return answer
}

/** An owner that blocks a whole lockset by its members has done so since it took the first one. */
function holder(table: LockTable, lock: LockName, key: string): Blocking['holders'] {
  const owner = table.owners.get(key)
  if (owner === undefined) return []
  const direct = owner.locks.get(lock)
  if (direct) return [{ client: owner.client, mode: direct.mode, since: direct.since }]
  const mode = table.locks.get(lock)?.exclusiveMembers.has(key) ? 'exclusive' : 'shared'
  const prefix = lock.slice(0, lock.indexOf('/') + 1)
  const members = [...owner.locks].filter(([name]) => name.startsWith(prefix))
  return [{ client: owner.client, mode, since: Math.min(...members.map(([, { since }]) => since)) }]
}
