// Waiting requests. Each is filed under one owner that blocks it, and checked again when that owner acts.
import type { ClientId } from '../model/lock'
import { firstBlocker, isClusterRequest } from './blockers'
import { hold, type LockTable, type OwnerKey, type Wanted } from './state'

export function enqueue(table: LockTable, desired: Wanted, blocker: OwnerKey): void {
  table.waiting.set(desired.key, { ...desired, blocker })
  const filed = table.blockedOn.get(blocker)
  if (filed) filed.add(desired.key)
  else table.blockedOn.set(blocker, new Set([desired.key]))
  if (isClusterRequest(desired) && !table.clusterRequests.has(desired.key))
    table.clusterRequests.set(desired.key, desired)
}

/** Returns whether there was a request. Others may have waited behind it, so the caller then revisits the owner. */
export function dropRequest(table: LockTable, key: OwnerKey): boolean {
  table.clusterRequests.delete(key)
  return unfile(table, key) !== undefined
}

/**
 * Gives a waiting request another priority. It keeps its place among requests of that priority. The rule against
 * starvation looks at priorities, so the request itself and those behind it are checked again.
 */
export function reprioritize(table: LockTable, { key, ...waiting }: Wanted, priority: number, at: number): ClientId[] {
  unfile(table, key)
  const desired = { ...waiting, key, priority }
  // Setting the value of a known key keeps its place in the order of arrival.
  if (table.clusterRequests.has(key)) table.clusterRequests.set(key, desired)
  return grant(table, takeFiled(table, key, [desired]), at)
}

/** Grants what the owner's act made possible. */
export const revisit = (table: LockTable, actor: OwnerKey, at: number): ClientId[] =>
  grant(table, takeFiled(table, actor, []), at)

/**
 * Grants what can be had, most urgent first, then in order of arrival. Each grant is an act too, as it may release locks
 * or leave the queue.
 */
function grant(table: LockTable, candidates: Wanted[], at: number): ClientId[] {
  const granted: ClientId[] = []
  for (let desired = candidates.pop(); desired !== undefined; desired = candidates.pop()) {
    const blocker = firstBlocker(table, desired)
    if (blocker !== undefined) {
      enqueue(table, desired, blocker)
      continue
    }
    table.clusterRequests.delete(desired.key)
    for (const [lock, mode] of desired.request) hold(table, desired.key, desired.client, lock, mode, at)
    granted.push(desired.client)
    if (table.blockedOn.has(desired.key)) takeFiled(table, desired.key, candidates)
  }
  return granted
}

/** Adds the requests filed under an owner to the candidates, which stay sorted with the first to try at the end. */
function takeFiled(table: LockTable, blocker: OwnerKey, candidates: Wanted[]): Wanted[] {
  for (const key of [...(table.blockedOn.get(blocker) ?? [])]) {
    const desired = unfile(table, key)
    if (desired) candidates.push(desired)
  }
  return candidates.sort((a, b) => b.priority - a.priority || b.sequence - a.sequence)
}

function unfile(table: LockTable, key: OwnerKey): Wanted | undefined {
  const desired = table.waiting.get(key)
  if (desired === undefined) return undefined
  table.waiting.delete(key)
  const filed = table.blockedOn.get(desired.blocker)
  filed?.delete(key)
  if (filed?.size === 0) table.blockedOn.delete(desired.blocker)
  return desired
}
