// The form of locks and their owners in calls of wconfd and in its files. Errors name types as Ganeti does.
import { leaf, string } from '../lib/shapes/leaves'
import { type Shape, refine } from '../lib/shapes/shape'
import type { ClientId, LockMode, LockName, LockRequest } from './lock'
import { isLockName } from './lock-names'

export const LOCK_MODES = ['shared', 'exclusive'] as const satisfies readonly LockMode[]

export const clientId: Shape<ClientId> = leaf('ClientIdentifier', listOfLength(3), isClientId)

export const knownLock: Shape<LockName> = refine(
  string,
  { format: 'the name of a lock' },
  isLockName,
  (name) => `Unknown lock name '${name}'`,
)

export const lockRequest: Shape<LockRequest> = leaf('GanetiLockRequest', listOfLength(2), isLockRequest)

function listOfLength(length: number) {
  return { type: 'array', minItems: length, maxItems: length }
}

function isClientId(value: unknown): value is ClientId {
  if (!Array.isArray(value) || value.length !== 3) return false
  const [identifier, livelock, pid]: readonly unknown[] = value
  const named = typeof identifier === 'string' || Number.isSafeInteger(identifier)
  return named && typeof livelock === 'string' && Number.isSafeInteger(pid)
}

function isLockRequest(value: unknown): value is LockRequest {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [lock, mode]: readonly unknown[] = value
  const known = mode === 'release' || LOCK_MODES.some((one) => one === mode)
  return known && typeof lock === 'string' && isLockName(lock)
}
