// Every call of wconfd (spec: wconfd.json), once: Ganeti's lock and reservation calls, and ours (they begin with `gantry`), which
// replace Ganeti's read-modify-write of whole objects by named changes and slices. Client, server and handlers take their types from
// here.
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

/** A named pure change of config/changes.ts with its arguments. */
export type NamedChange = readonly [name: string, ...args: unknown[]]

export interface ReplicaStatus {
  node: string
  name: string
  /** `checkpoints`: runs Ganeti's noded, which takes config.data as a whole, a moment later. */
  state: 'in sync' | 'out of sync' | 'checkpoints'
  /** Why it is out of sync. */
  reason: string | null
}

type Shapes = readonly Shape<unknown>[]

interface WconfdCall<A extends Shapes, R> {
  readonly args: A
  readonly result: Result<R>
  /** It may be sent again when its answer got lost; for others a second call would find the work of the first one. */
  readonly again: boolean
  /** Answered only when others let go of something: it has a connection to itself, and no time limit. */
  readonly waits: boolean
}

interface Result<R> {
  /** Only its type matters. */
  readonly type?: R
  /** Ganeti's unit is an empty list. */
  readonly unit: boolean
}

const of = <R>(): Result<R> => ({ unit: false })
const nothing: Result<null> = { unit: true }

const again = <const A extends Shapes, R>(args: A, result: Result<R>): WconfdCall<A, R> => ({
  ...{ args, result },
  ...{ again: true, waits: false },
})
const once = <const A extends Shapes, R>(args: A, result: Result<R>): WconfdCall<A, R> => ({
  ...again(args, result),
  again: false,
})

const locksAndModes = list(lockAndMode)
const [network, ip] = [string, string]

/** The calls that operations need: a plan, too, has an answer to each of these. */
const unitCalls = {
  readConfig: again([], of<ConfigData>()),
  /** A ConfigData with only the selected objects; a name that does not exist is simply absent. */
  gantryRead: again([selector], of<ConfigData>()),
  /** The values of a section of gantry.data by their keys; empty when there is none. */
  gantrySection: again([string], of<Readonly<Record<string, unknown>>>()),
  /**
   * Applies the changes in order as one durable, replicated step; returns each change's result. The second argument is the owner's lock
   * epoch (see gantryAcquire); a wrong one is refused, null is for daemons that hold no locks.
   */
  gantryChange: once([clientId, orNull(int), list(namedChange)], of<unknown[]>()),
  /**
   * Waits, with a priority, until the whole request is granted. Rejects with LockError when it is taken back, or after the seconds that the
   * last argument gives, with a text that names the holders. A request whose connection breaks is taken back. The epoch is good until
   * the owner's last lock is gone.
   */
  gantryAcquire: {
    ...again([ownerId, int, list(wantedLock), orNull(seconds)], of<{ epoch: number }>()),
    waits: true,
  },
  /** Takes back a waiting request of this client. */
  gantryCancelRequest: again([clientId], nothing),
  /** The locks that this client's request waits for, and who has them since when: a waiting job logs it. `title` is
   *  the lock by the name that people know. */
  gantryBlockers: again(
    [clientId],
    of<{ lock: LockName; title: string; holders: { client: ClientId; mode: LockMode; since: number }[] }[]>(),
  ),
  /** Which master candidates have everything: `gnt cluster verify` names the others. */
  gantryReplicas: again([], of<ReplicaStatus[]>()),
  /** Locks and reservations, in one step: what an opcode needs at its end. */
  gantryFreeAll: again([clientId], nothing),
  /** Answers whom the request waits for. */
  tryUpdateLocks: again([ownerId, list(wantedLock)], of<ClientId[]>()),
  updateLocksWaiting: again([ownerId, int, list(wantedLock)], of<ClientId[]>()),
  freeLocksLevel: again([clientId, lockLevel], nothing),
  downGradeLocksLevel: again([clientId, lockLevel], nothing),
  opportunisticLockUnion: once([ownerId, locksAndModes], of<LockName[]>()),
  /** The first argument is how many it must get, or none. */
  guardedOpportunisticLockUnion: once([int, ownerId, locksAndModes], of<LockName[]>()),
  listAllLocksOwners: again([], of<[LockName, [ClientId, LockMode][]][]>()),
  /** Sends the whole configuration to the candidates and ssconf to all nodes, and waits for those that answer. */
  flushConfig: again([], nothing),
  reserveMAC: once([ownerId, string], nothing),
  generateMAC: again([ownerId, orNull(network)], of<string>()),
  /** The last argument: whether an address that is reserved for others is refused. */
  reserveIp: once([ownerId, network, ip, bool], nothing),
  generateIp: again([ownerId, network], of<string>()),
  generateDRBDSecret: again([ownerId], of<string>()),
  reserveLV: once([ownerId, string], nothing),
  /** Minors in use by node, reserved ones too. */
  computeDRBDMap: again([], of<[string, [number, string][]][]>()),
  /** A minor on each of the nodes for a disk. Unlike those of allocateDRBDMinor they become free when the owner ends. */
  gantryReserveMinors: once([ownerId, string, list(string)], of<number[]>()),
}

export const wconfdCalls = {
  ...unitCalls,
  echo: again([string], of<string>()),
  /** Nobody else needs to find out: the owner's process has ended. Frees its locks, requests and reservations;
   *  answers the locks by the names that people know. */
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
  /** A minor on each of the nodes for a disk. */
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
