// Every call of wconfd (spec: wconfd.json): Ganeti's lock and reservation calls, and ours, which begin with `gantry`.
// Ganeti reads, modifies and writes whole objects; ours use named changes and slices instead. Client, server and
// handlers take their types from here.
import type { ConfigData } from '../../model/config'
import type { ClientId, LockMode, LockName, LockRequest } from '../../model/lock'
import { clientId } from '../../model/lock-shapes'
import { orNull } from '../../lib/shapes/containers'
import { bool, int, string } from '../../lib/shapes/leaves'
import type { Shape } from '../../lib/shapes/shape'
import {
  type Arguments,
  list,
  lockAndMode,
  lockLevel,
  lockName,
  namedChange,
  ownerId,
  seconds,
  selector,
  wantedLock,
} from './arguments'

export type { Selector } from './arguments'
export type { ClientId, LockLevel, LockMode, LockName, LockRequest } from '../../model/lock'

/** The name of a pure change in config/changes.ts, with its arguments. */
export type NamedChange = readonly [name: string, ...args: unknown[]]

export interface ReplicaStatus {
  node: string
  name: string
  /** `checkpoints`: it runs Ganeti's noded, which gets the whole config.data a moment later. */
  state: 'in sync' | 'out of sync' | 'checkpoints'
  /** Why it is out of sync. */
  reason: string | null
  /** It knows more than the master: a person must say which copy is right. */
  has_more?: boolean
}

type Shapes = readonly Shape<unknown>[]

interface WconfdCall<A extends Shapes, R> {
  readonly args: A
  readonly result: Result<R>
  /**
   * The client may repeat it after a lost answer. For other calls a second call would collide with the work of the
   * first.
   */
  readonly again: boolean
  /**
   * The client adds an id as the last argument. A repeated call with this id gets the answer of the first, and does
   * nothing.
   */
  readonly byId: boolean
  /** The answer waits until others release something, so it has its own connection and no time limit. */
  readonly waits: boolean
}

interface Result<R> {
  /** Exists only for its type. */
  readonly type?: R
  /** Ganeti's unit type is an empty list. */
  readonly unit: boolean
}

const of = <R>(): Result<R> => ({ unit: false })
const nothing: Result<null> = { unit: true }

const again = <const A extends Shapes, R>(args: A, result: Result<R>): WconfdCall<A, R> => ({
  ...{ args, result },
  ...{ again: true, byId: false, waits: false },
})
const once = <const A extends Shapes, R>(args: A, result: Result<R>): WconfdCall<A, R> => ({
  ...again(args, result),
  again: false,
})
const byId = <const A extends Shapes, R>(args: A, result: Result<R>): WconfdCall<A, R> => ({
  ...again(args, result),
  byId: true,
})

const locksAndModes = list(lockAndMode)
const [network, ip] = [string, string]

/** The calls of operations. A plan must have an answer to each of them. */
const unitCalls = {
  readConfig: again([], of<ConfigData>()),
  /** A ConfigData with only the selected objects; skips names that do not exist. */
  gantryRead: again([selector], of<ConfigData>()),
  /** The values of a section of gantry.data by key; empty if there is none. */
  gantrySection: again([string], of<Readonly<Record<string, unknown>>>()),
  /**
   * Applies the changes in order as one durable, replicated step. Returns each change's result. The second argument is
   * the owner's lock epoch (see gantryAcquire), and a wrong one is refused; null is for daemons without locks.
   */
  gantryChange: byId([clientId, orNull(int), list(namedChange)], of<unknown[]>()),
  /**
   * Waits, with a priority, until the whole request is granted. Rejects with LockError when the request is taken back,
   * or after the seconds of the last argument, with a text that names the holders. A broken connection takes the
   * request back. The epoch stays valid until the owner's last lock is gone.
   */
  gantryAcquire: {
    ...again([ownerId, int, list(wantedLock), orNull(seconds)], of<{ epoch: number }>()),
    waits: true,
  },
  /** Takes back a waiting request of this client. */
  gantryCancelRequest: again([clientId], nothing),
  /**
   * The locks for which this client's request waits, and their holders since when, for the log of a waiting job.
   * `title` is the lock's name for people.
   */
  gantryBlockers: again(
    [clientId],
    of<{ lock: LockName; title: string; holders: { client: ClientId; mode: LockMode; since: number }[] }[]>(),
  ),
  /** Which master candidates are in sync; `gnt cluster verify` names the others. */
  gantryReplicas: again([], of<ReplicaStatus[]>()),
  /** Frees locks and reservations in one step, at the end of an opcode. */
  gantryFreeAll: again([clientId], nothing),
  /** Returns the owners for which the request waits. */
  tryUpdateLocks: again([ownerId, list(wantedLock)], of<ClientId[]>()),
  updateLocksWaiting: again([ownerId, int, list(wantedLock)], of<ClientId[]>()),
  freeLocksLevel: again([clientId, lockLevel], nothing),
  downGradeLocksLevel: again([clientId, lockLevel], nothing),
  opportunisticLockUnion: once([ownerId, locksAndModes], of<LockName[]>()),
  /** The first argument is the number of locks that it must get; otherwise it gets none. */
  guardedOpportunisticLockUnion: once([int, ownerId, locksAndModes], of<LockName[]>()),
  listAllLocksOwners: again([], of<[LockName, [ClientId, LockMode][]][]>()),
  /** Sends the whole configuration to the candidates and ssconf to all nodes, and waits for those that answer. */
  flushConfig: again([], nothing),
  reserveMAC: once([ownerId, string], nothing),
  generateMAC: again([ownerId, orNull(network)], of<string>()),
  /** The last argument: whether to refuse an address that is reserved for others. */
  reserveIp: once([ownerId, network, ip, bool], nothing),
  generateIp: again([ownerId, network], of<string>()),
  generateDRBDSecret: again([ownerId], of<string>()),
  reserveLV: once([ownerId, string], nothing),
  /** Minors in use by node, including reserved ones. */
  computeDRBDMap: again([], of<[string, [number, string][]][]>()),
  /**
   * Reserves a minor for a disk on each of the nodes. Unlike those of allocateDRBDMinor, they become free when the
   * owner ends.
   */
  gantryReserveMinors: once([ownerId, string, list(string)], of<number[]>()),
}

export const wconfdCalls = {
  ...unitCalls,
  echo: again([string], of<string>()),
  /**
   * Tells wconfd that the owner's process has ended, so that it need not find out. Frees the owner's locks, requests
   * and reservations. Returns the locks by their names for people.
   */
  gantryOwnerDied: again([clientId], of<[title: string, LockMode][]>()),
  /** The measurements of wconfd, as prom-client's JSON. */
  gantryMetrics: again([], of<unknown[]>()),
  freeLocks: again([clientId], nothing),
  intersectLocks: again([clientId, list(lockName)], nothing),
  hasPendingRequest: again([clientId], of<boolean>()),
  listLocks: again([clientId], of<[LockName, LockMode][]>()),
  listAllLocks: again([], of<LockName[]>()),
  listLocksWaitingStatus: again([], of<[[LockName, [ClientId, LockMode][]][], [number, ClientId, LockRequest[]][]]>()),
  cleanupLocks: again([], nothing),
  verifyConfig: again([], nothing),
  dropAllReservations: again([clientId], nothing),
  releaseIp: once([ownerId, network, ip], nothing),
  commitTemporaryIps: again([clientId], nothing),
  commitReleaseTemporaryIp: again([network, ip], nothing),
  listReservedIps: again([clientId], of<(readonly ['reserve' | 'release', ip: string, network: string])[]>()),
  /** Allocates a minor for a disk on each of the nodes. */
  allocateDRBDMinor: once([string, list(string)], of<number[]>()),
  releaseDRBDMinors: again([string], nothing),
  allocatePort: again([], of<number>()),
}

type Table = typeof wconfdCalls
export type WconfdCallName = keyof Table
export type ArgumentsOf<N extends WconfdCallName> = Arguments<Table[N]['args']>
export type ResultOf<N extends WconfdCallName> = Table[N] extends WconfdCall<Shapes, infer R> ? R : never

export type Wconfd = { readonly [N in WconfdCallName]: (...args: ArgumentsOf<N>) => Promise<ResultOf<N>> }

/** The calls of wconfd that operations use. */
export type UnitWconfd = Pick<Wconfd, keyof typeof unitCalls>
