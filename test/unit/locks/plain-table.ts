// Ganeti's rules for locks, written down as plainly as possible: after each event every waiting request is tried.
import { lockSetOf } from '../../../src/model/lock-names'
import type { LockMode, LockName, LockRequest } from '../../../src/model/lock'

interface Request {
  readonly id: number
  priority: number
  readonly request: readonly LockRequest[]
}

export class PlainTable {
  readonly held = new Map<number, Map<LockName, LockMode>>()
  /** In order of arrival. */
  waiting: Request[] = []

  /** The owners for which a request waits; for one that does not wait yet, all waiting ones have come earlier. */
  blockers({ id, priority, request }: Request): Set<number> {
    const found = new Set<number>()
    for (const [other, locks] of this.held)
      for (const [lock, mode] of locks)
        if (other !== id && request.some((part) => clash(part, lock, mode))) found.add(other)
    const place = this.waiting.findIndex((one) => one.id === id)
    const earlier = place === -1 ? this.waiting : this.waiting.slice(0, place)
    const exempt = this.held.has(id) || request.every(([lock, mode]) => mode === 'release' || lock === 'cluster/config')
    const first = earlier.find((one) => one.priority <= priority && one.request.some(isForCluster))
    if (first && !exempt) found.add(first.id)
    return found
  }

  /** Answers with whom the request waits for, and who was granted a request that waited. */
  update(id: number, priority: number | null, request: readonly LockRequest[]) {
    const before = this.waiting.find((one) => one.id === id)
    const desired = before ?? { id, priority: priority ?? 0, request }
    desired.priority = priority ?? 0
    const blocked = before !== undefined || this.blockers(desired).size > 0
    if (!blocked) this.give(desired)
    else if (priority !== null && !before) this.waiting.push(desired)
    const granted = this.grantAll()
    const waits = blocked && !granted.includes(id)
    return { granted, blockers: waits ? this.blockers(desired) : new Set<number>() }
  }

  /** Sets what an owner holds after it took or gave back locks. */
  setHeld(id: number, locks: readonly (readonly [LockName, LockMode])[]): number[] {
    if (locks.length > 0) this.held.set(id, new Map(locks))
    else this.held.delete(id)
    return this.grantAll()
  }

  drop(id: number): void {
    this.waiting = this.waiting.filter((one) => one.id !== id)
  }

  private grantAll(): number[] {
    const granted: number[] = []
    for (;;) {
      const free = this.waiting.filter((one) => this.blockers(one).size === 0).sort((a, b) => a.priority - b.priority)
      const [first] = free
      if (first === undefined) return granted
      this.drop(first.id)
      this.give(first)
      granted.push(first.id)
    }
  }

  private give({ id, request }: Request): void {
    const locks = this.held.get(id) ?? new Map<LockName, LockMode>()
    for (const [lock, mode] of request)
      if (mode === 'release') locks.delete(lock)
      else locks.set(lock, mode)
    if (locks.size > 0) this.held.set(id, locks)
    else this.held.delete(id)
  }
}

function clash([desired, mode]: LockRequest, held: LockName, heldMode: LockMode): boolean {
  if (mode === 'release' || (mode === 'shared' && heldMode === 'shared')) return false
  return desired === held || lockSetOf(desired) === held || lockSetOf(held) === desired
}

const isForCluster = ([name, mode]: LockRequest) => name === 'cluster/BGL' && mode === 'exclusive'
