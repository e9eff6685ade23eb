// A lock table that tests drive event by event.
import { step, type Effects } from '../../../src/locks/table'
import { createTable, type LockTable } from '../../../src/locks/state'
import type { ClientId, LockLevel, LockMode, LockName, LockRequest } from '../../../src/model/lock'

export const job = (id: number): ClientId => [id, `/livelocks/job_${id}`, 1000 + id]

/** A table with a hand for each event, at a time that grows by one with each. */
export class Desk {
  time = 0
  constructor(readonly table: LockTable = createTable(100)) {}
  ask = (id: number, ...request: LockRequest[]): Effects => this.update(id, null, request)
  wait = (id: number, priority: number, ...request: LockRequest[]): Effects => this.update(id, priority, request)
  takeFree = (id: number, count: number, ...locks: [LockName, LockMode][]): Effects =>
    step(this.table, { kind: 'takeFree', owner: job(id), at: ++this.time, locks, count })
  free = (id: number): Effects => step(this.table, { kind: 'free', owner: job(id), at: ++this.time })
  cancel = (id: number): Effects => step(this.table, { kind: 'cancel', owner: job(id), at: ++this.time })
  level = (kind: 'freeLevel' | 'downgrade', id: number, level: LockLevel): Effects =>
    step(this.table, { kind, owner: job(id), at: ++this.time, level })
  intersect = (id: number, ...locks: LockName[]): Effects =>
    step(this.table, { kind: 'intersect', owner: job(id), at: ++this.time, locks })
  private update(id: number, priority: number | null, request: LockRequest[]): Effects {
    return step(this.table, { kind: 'update', owner: job(id), at: ++this.time, request, priority })
  }
}

export const ids = (clients: readonly ClientId[]): (number | string)[] => clients.map(([id]) => id)
