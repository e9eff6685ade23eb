// The lock table: a state machine over Ganeti's locks. `step` takes one event and returns its effects. It does no IO
// and reads no clock. It changes the given table in place, so that a step only costs the locks that it touches.
import { LockError } from '../model/errors'
import type { ClientId, LockLevel, LockMode, LockName, LockRequest } from '../model/lock'
import { blockersOf, firstBlocker } from './blockers'
import { dropRequest, enqueue, reprioritize, revisit } from './queue'
import { hold, isFulfilled, ownerKey, type LockTable, type Owner, type OwnerKey } from './state'
import { checkOrder } from './order'
import { compareLocks, levelOf } from '../model/lock-names'

export type LockEvent = { owner: ClientId; at: number } & (
  | /** All of the request or nothing; with a priority it waits until all can be had. */
    {
      kind: 'update'
      request: readonly LockRequest[]
      priority: number | null
    } /** Whichever of the locks are free; none unless at least `count` are. */
  | {
      kind: 'takeFree'
      locks: readonly (readonly [LockName, LockMode])[]
      count: number
    } /** Ends the owner: all locks and the waiting request. */
  | { kind: 'free' }
  | { kind: 'freeLevel' | 'downgrade'; level: LockLevel } /** Keeps only these locks. */
  | { kind: 'intersect'; locks: readonly LockName[] } /** Takes the waiting request back. */
  | { kind: 'cancel' }
)

export interface Effects {
  /** The owners for which an update waits, or would have to wait; empty if it was done. */
  blockers: ClientId[]
  /** Locks that takeFree got. */
  acquired: LockName[]
  /** Owners whose waiting requests were granted, in the order of granting. May include the owner of the event. */
  granted: ClientId[]
  /** The owner's waiting request ended without being granted. */
  withdrawn: boolean
  /** Whether the table has changed. */
  changed: boolean
}

/** Throws LockError for a forbidden request, and leaves the table unchanged. */
export function step(table: LockTable, event: LockEvent): Effects {
  const key = ownerKey(event.owner)
  switch (event.kind) {
    case 'update':
      return update(table, key, event)
    case 'takeFree':
      return takeFree(table, key, event)
    case 'cancel': {
      const withdrawn = dropRequest(table, key)
      return { ...nothing(), withdrawn, changed: withdrawn, granted: withdrawn ? revisit(table, key, event.at) : [] }
    }
    case 'free':
      return change(table, key, event.at, 'release', () => true)
    case 'freeLevel':
      return change(table, key, event.at, 'release', (lock) => levelOf(lock) === event.level)
    case 'downgrade':
      return change(table, key, event.at, 'shared', (lock) => levelOf(lock) === event.level)
    case 'intersect': {
      const kept = new Set(event.locks)
      return change(table, key, event.at, 'release', (lock) => !kept.has(lock))
    }
  }
}

const nothing = (): Effects => ({ blockers: [], acquired: [], granted: [], withdrawn: false, changed: false })

function update(table: LockTable, key: OwnerKey, event: LockEvent & { kind: 'update' }): Effects {
  const { owner: client, request, priority, at } = event
  const waiting = table.waiting.get(key)
  if (waiting !== undefined) {
    if (priority === null || !sameRequest(waiting.request, request))
      throw new LockError('cannot update locks while having pending requests')
    const changed = priority !== waiting.priority
    const granted = changed ? reprioritize(table, waiting, priority, at) : []
    const stillWaits = table.waiting.get(key)
    const blockers = stillWaits ? clients(table, blockersOf(table, stillWaits)) : []
    return { ...nothing(), blockers, changed, granted }
  }
  const owner = table.owners.get(key)
  if (isFulfilled(owner, request)) return nothing()
  checkOrder(owner, request)
  const desired = { key, client, request, priority: priority ?? 0, sequence: table.nextSequence++, since: at }
  const blocker = firstBlocker(table, desired)
  if (blocker === undefined) {
    for (const [lock, mode] of request) hold(table, key, client, lock, mode, at)
    return { ...nothing(), changed: true, granted: revisit(table, key, at) }
  }
  const blockers = clients(table, blockersOf(table, desired))
  if (priority !== null) enqueue(table, desired, blocker)
  return { ...nothing(), blockers, changed: priority !== null }
}

/** Taking more locks never frees any, so other requests need not be checked. */
function takeFree(table: LockTable, key: OwnerKey, event: LockEvent & { kind: 'takeFree' }): Effects {
  const { owner: client, at } = event
  if (table.waiting.has(key)) return nothing()
  const taken: [lock: LockName, before: LockMode | 'release'][] = []
  for (const [lock, mode] of [...event.locks].sort(byLockThenMode)) {
    const before = table.owners.get(key)?.locks.get(lock)?.mode
    if (before === 'exclusive' || before === mode) continue
    const request: LockRequest[] = [[lock, mode]]
    const desired = { key, client, request, priority: 0, sequence: table.nextSequence++, since: at }
    if (!isInOrder(table.owners.get(key), request) || firstBlocker(table, desired) !== undefined) continue
    hold(table, key, client, lock, mode, at)
    taken.push([lock, before ?? 'release'])
  }
  if (taken.length >= event.count)
    return { ...nothing(), acquired: [...new Set(taken.map(([lock]) => lock))], changed: taken.length > 0 }
  for (const [lock, before] of taken.reverse()) hold(table, key, client, lock, before, at)
  return nothing()
}

/** Releases or downgrades held locks. This must succeed at once, so it drops a waiting request of the owner. */
function change(
  table: LockTable,
  key: OwnerKey,
  at: number,
  mode: 'release' | 'shared',
  applies: (lock: LockName) => boolean,
): Effects {
  const withdrawn = dropRequest(table, key)
  const owner = table.owners.get(key)
  const affected = owner ? [...owner.locks.keys()].filter((lock) => applies(lock)) : []
  if (owner) for (const lock of affected) hold(table, key, owner.client, lock, mode, at)
  const changed = withdrawn || affected.length > 0
  return { ...nothing(), withdrawn, changed, granted: changed ? revisit(table, key, at) : [] }
}

function isInOrder(owner: Owner | undefined, request: readonly LockRequest[]): boolean {
  try {
    checkOrder(owner, request)
    return true
  } catch {
    return false
  }
}

const byLockThenMode = (a: readonly [LockName, LockMode], b: readonly [LockName, LockMode]) =>
  compareLocks(a[0], b[0]) || (a[1] === b[1] ? 0 : a[1] === 'shared' ? -1 : 1)

const sameRequest = (a: readonly LockRequest[], b: readonly LockRequest[]) =>
  a.length === b.length && a.every(([lock, mode], i) => lock === b[i]?.[0] && mode === b[i]?.[1])

function clients(table: LockTable, keys: Iterable<OwnerKey>): ClientId[] {
  const found: ClientId[] = []
  for (const key of new Set(keys)) {
    const client = table.owners.get(key)?.client ?? table.waiting.get(key)?.client
    if (client) found.push(client)
  }
  return found
}
