// The memory of the lock table, and the only function that changes the holders of locks.
import type { ClientId, LockMode, LockName, LockRequest } from '../model/lock'
import { compareLocks, lockSetOf } from '../model/lock-names'

/** A client id as a map key. */
export type OwnerKey = string
export const ownerKey = (client: ClientId): OwnerKey => JSON.stringify(client)

interface Held {
  mode: LockMode
  since: number
}

export interface Owner {
  readonly client: ClientId
  readonly locks: Map<LockName, Held>
  /**
   * Set when the owner takes its first lock, void when its last is gone. Null after a restart, until the owner states
   * it.
   */
  epoch: number | null
  /** The greatest held lock; undefined if it must be searched again. */
  highest: LockName | undefined
  /** The owner's text for locks.data; undefined if it must be encoded again. */
  encoded: string | undefined
}

/** A waiting request, or the one that is being checked. */
export interface Wanted {
  readonly key: OwnerKey
  readonly client: ClientId
  readonly request: readonly LockRequest[]
  /** Smaller is more urgent. */
  readonly priority: number
  /** Order of arrival. */
  readonly sequence: number
  readonly since: number
}

interface LockState {
  /** At most one when `exclusive`. */
  readonly holders: Map<OwnerKey, Held>
  exclusive: OwnerKey | undefined
  /** For a lockset: how many members each owner holds in either mode. */
  readonly members: Map<OwnerKey, { shared: number; exclusive: number }>
  readonly exclusiveMembers: Set<OwnerKey>
}

export interface LockTable {
  readonly locks: Map<LockName, LockState>
  readonly owners: Map<OwnerKey, Owner>
  readonly waiting: Map<OwnerKey, Wanted & { blocker: OwnerKey }>
  /** Waiting requests by an owner that blocks them. When another owner acts, they need not be checked. */
  readonly blockedOn: Map<OwnerKey, Set<OwnerKey>>
  /** Waiting exclusive requests for the cluster lock, in order of arrival. */
  readonly clusterRequests: Map<OwnerKey, Wanted>
  nextSequence: number
  nextEpoch: number
}

/** Epochs only grow, also across runs of the daemon, so they start at the current time. */
export function createTable(firstEpoch: number): LockTable {
  return {
    locks: new Map(),
    owners: new Map(),
    waiting: new Map(),
    blockedOn: new Map(),
    clusterRequests: new Map(),
    nextSequence: 0,
    nextEpoch: firstEpoch,
  }
}

/** Gives the owner the lock in this mode, or takes it away. The caller has checked that it may. */
export function hold(
  table: LockTable,
  key: OwnerKey,
  client: ClientId,
  lock: LockName,
  mode: LockMode | 'release',
  at: number,
): void {
  const before = table.owners.get(key)?.locks.get(lock)
  const after = mode === 'release' ? undefined : mode
  if (before?.mode === after) return
  const held = after === undefined ? undefined : { mode: after, since: before?.since ?? at }
  setOwner(table, key, client, lock, held)
  setHolder(table, key, lock, held)
  const set = lockSetOf(lock)
  if (set !== undefined) countMember(table, key, set, before?.mode, after)
}

/** Whether the owner already holds exactly what the request asks for. */
export function isFulfilled(owner: Owner | undefined, request: readonly LockRequest[]): boolean {
  return request.every(([lock, mode]) => (owner?.locks.get(lock)?.mode ?? 'release') === mode)
}

export function highestLock(owner: Owner): LockName | undefined {
  if (owner.highest === undefined)
    for (const lock of owner.locks.keys())
      if (owner.highest === undefined || compareLocks(lock, owner.highest) > 0) owner.highest = lock
  return owner.highest
}

function setOwner(table: LockTable, key: OwnerKey, client: ClientId, lock: LockName, held: Held | undefined): void {
  let owner = table.owners.get(key)
  if (owner === undefined) {
    owner = { client, locks: new Map(), epoch: table.nextEpoch++, highest: undefined, encoded: undefined }
    table.owners.set(key, owner)
  }
  owner.encoded = undefined
  if (held) {
    const highest = highestLock(owner)
    owner.locks.set(lock, held)
    if (highest !== undefined && compareLocks(lock, highest) > 0) owner.highest = lock
    return
  }
  owner.locks.delete(lock)
  if (owner.highest === lock) owner.highest = undefined
  if (owner.locks.size === 0) table.owners.delete(key)
}

function setHolder(table: LockTable, key: OwnerKey, lock: LockName, held: Held | undefined): void {
  const state = stateOf(table, lock)
  if (state.exclusive === key) state.exclusive = undefined
  if (held) state.holders.set(key, held)
  else state.holders.delete(key)
  if (held?.mode === 'exclusive') state.exclusive = key
  forgetUnused(table, lock, state)
}

function countMember(
  table: LockTable,
  key: OwnerKey,
  set: LockName,
  before: LockMode | undefined,
  after: LockMode | undefined,
): void {
  const state = stateOf(table, set)
  const count = state.members.get(key) ?? { shared: 0, exclusive: 0 }
  if (before) count[before]--
  if (after) count[after]++
  if (count.shared + count.exclusive > 0) state.members.set(key, count)
  else state.members.delete(key)
  if (count.exclusive > 0) state.exclusiveMembers.add(key)
  else state.exclusiveMembers.delete(key)
  forgetUnused(table, set, state)
}

function stateOf(table: LockTable, lock: LockName): LockState {
  let state = table.locks.get(lock)
  if (state === undefined) {
    state = { holders: new Map(), exclusive: undefined, members: new Map(), exclusiveMembers: new Set() }
    table.locks.set(lock, state)
  }
  return state
}

function forgetUnused(table: LockTable, lock: LockName, state: LockState): void {
  if (state.holders.size === 0 && state.members.size === 0) table.locks.delete(lock)
}
