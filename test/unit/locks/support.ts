// A lock table that tests drive event by event.
import { step, type Effects, type LockEvent } from '../../../src/locks/table'
import { createTable, ownerKey, type LockTable } from '../../../src/locks/state'
import type { ClientId, LockLevel, LockMode, LockName, LockRequest } from '../../../src/model/lock'

export const job = (id: number): ClientId => [id, `/livelocks/job_${id}`, 1000 + id]

type WithoutTime<E> = E extends unknown ? Omit<E, 'at' | 'owner'> : never

/** A table with a hand for each event, at a time that grows by one with each. */
export class Desk {
  time = 0
  /** What was done last. */
  last: { readonly id: number; readonly event: WithoutTime<LockEvent> } | undefined
  constructor(readonly table: LockTable = createTable(100)) {}
  ask = (id: number, ...request: LockRequest[]) => this.step(id, { kind: 'update', request, priority: null })
  wait = (id: number, priority: number, ...request: LockRequest[]) =>
    this.step(id, { kind: 'update', request, priority })
  takeFree = (id: number, count: number, ...locks: [LockName, LockMode][]) =>
    this.step(id, { kind: 'takeFree', locks, count })
  free = (id: number) => this.step(id, { kind: 'free' })
  cancel = (id: number) => this.step(id, { kind: 'cancel' })
  level = (kind: 'freeLevel' | 'downgrade', id: number, level: LockLevel) => this.step(id, { kind, level })
  intersect = (id: number, ...locks: LockName[]) => this.step(id, { kind: 'intersect', locks })
  /** The request for which an owner waits. */
  pending = (id: number): readonly LockRequest[] => this.table.waiting.get(ownerKey(job(id)))?.request ?? []
  private step(id: number, event: WithoutTime<LockEvent>): Effects {
    this.last = { id, event }
    return step(this.table, { ...event, owner: job(id), at: ++this.time })
  }
}

export const ids = (clients: readonly ClientId[]): (number | string)[] => clients.map(([id]) => id)
