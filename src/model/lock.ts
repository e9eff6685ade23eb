// Locks as they are named and owned on the wire and in locks.data (spec: wconfd.json).

/** `[job id or daemon name, live-lock path, process id]`: who owns locks. */
export type ClientId = [identifier: number | string, livelock: string, pid: number]
export type LockMode = 'shared' | 'exclusive'
/** Full names: `cluster/BGL`, `instance/<name>`, `node/<uuid>`, `node/[lockset]`, ... */
export type LockName = string
export type LockRequest = [LockName, LockMode | 'release']
export type LockLevel = 'cluster' | 'instance' | 'nodegroup' | 'node' | 'node-res' | 'network' | 'config'

export function isClientId(value: unknown): value is ClientId {
  if (!Array.isArray(value) || value.length !== 3) return false
  const items: unknown[] = value
  const [identifier, livelock, pid] = items
  const named = typeof identifier === 'string' || Number.isSafeInteger(identifier)
  return named && typeof livelock === 'string' && Number.isSafeInteger(pid)
}

export const isMode = (value: unknown): value is LockMode => value === 'shared' || value === 'exclusive'
