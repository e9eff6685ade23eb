// Names and owners of locks, on the wire and in locks.data (spec: wconfd.json).

/** `[job id or daemon name, live-lock path, process id]`: an owner of locks. */
export type ClientId = [identifier: number | string, livelock: string, pid: number]
export type LockMode = 'shared' | 'exclusive'
/** Full names: `cluster/BGL`, `instance/<name>`, `node/<uuid>`, `node/[lockset]`, ... */
export type LockName = string
export type LockRequest = readonly [LockName, LockMode | 'release']
export type LockLevel = 'cluster' | 'instance' | 'nodegroup' | 'node' | 'node-res' | 'network' | 'config'
