// Checks that owners take locks in one common order, so that no two owners wait for each other.
import { LockError } from '../model/errors'
import type { LockName, LockRequest } from '../model/lock'
import { compareLocks, describeLock, lockSetOf } from '../model/lock-names'
import { highestLock, type Owner } from './state'

/** Throws LockError with Ganeti's texts. The order does not apply to releases, nor to locks that are already held. */
export function checkOrder(owner: Owner | undefined, request: readonly LockRequest[]): void {
  checkConsistent(request)
  const highest = owner && highestLock(owner)
  if (owner === undefined || highest === undefined) return
  const modeOf = (lock: LockName | undefined) => (lock === undefined ? undefined : owner.locks.get(lock)?.mode)
  for (const [lock, mode] of request) {
    if (mode === 'release' || compareLocks(lock, highest) >= 0) continue
    const held = [modeOf(lock), modeOf(lockSetOf(lock))]
    if (held.some((have) => have === 'exclusive' || have === mode)) continue
    throw new LockError(`Order violation: requesting ${describeLock(lock)} while holding ${describeLock(highest)}`)
  }
  for (const [lock, mode] of request) {
    const set = lockSetOf(lock)
    if (mode !== 'exclusive' || set === undefined || modeOf(set) !== 'shared') continue
    throw new LockError(
      `Order violation: requesting exclusively ${describeLock(lock)} while holding a shared lock on the group lock ` +
        `${describeLock(set)} it belongs to.`,
    )
  }
}

function checkConsistent(request: readonly LockRequest[]): void {
  const modes = new Map<LockName, string>()
  for (const [lock, mode] of request) {
    if ((modes.get(lock) ?? mode) !== mode)
      throw new LockError(`Inconsistent requests for lock ${describeLock(lock)}: ${modes.get(lock)} and ${mode}`)
    modes.set(lock, mode)
  }
}
