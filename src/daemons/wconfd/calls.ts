// The handlers of wconfd: one for every call of rpc/wconfd/calls.ts, by name. They only translate; the lock keeper, the
// reservations and the configuration store do the work.
import { encodeConfig } from '../../config/encode'
import { lockTitle } from '../../config/lookup'
import { slice } from '../../config/slice'
import { ChangeUnsettled } from '../../config/store'
import { verifyConfig } from '../../config/verify'
import type { FramedConnection } from '../../lib/net/json-socket'
import { string } from '../../lib/shapes/leaves'
import { blocking, listAllLocks, listAllLocksOwners, listLocks, listWaiting } from '../../locks/listing'
import { ownerKey } from '../../locks/state'
import type { ConfigData } from '../../model/config'
import { ConfigVerifyError, GenericError } from '../../model/errors'
import { ANSWERED, type CallHandler, type CallHandlers } from '../../rpc/json-protocol'
import { readArguments } from '../../rpc/wconfd/arguments'
import { type ArgumentsOf, type ResultOf, type WconfdCallName, wconfdCalls } from '../../rpc/wconfd/calls'
import type { FollowFeed } from '../../rpc/wconfd/follow-server'
import { WITHOUT_LOCKS } from './receipts'
import type { WconfdState } from './state'

/** Handlers of calls without a result may return anything. */
type Answer<R> = [R] extends [null] ? unknown : R | Promise<R> | typeof ANSWERED | Promise<typeof ANSWERED>
type Handler<N extends WconfdCallName> = (
  args: ArgumentsOf<N>,
  connection: FramedConnection,
  /** A call `byId` has one; clients of an earlier version send none. */
  id: string | undefined,
) => Answer<ResultOf<N>>
type WconfdHandlers = { readonly [N in WconfdCallName]: Handler<N> }

export function serveWconfd(state: WconfdState, feed: FollowFeed): CallHandlers {
  const handlers: WconfdHandlers = {
    echo: ([text]) => text,
    ...configCalls(state),
    ...waitingCalls(state),
    ...lockCalls(state),
    ...listCalls(state),
    ...reservationCalls(state),
    ...addressCalls(state),
  }
  const gantryFollow: CallHandler = async (_, connection) => {
    await feed.attach(connection)
    return ANSWERED
  }
  const names = Object.keys(wconfdCalls) as WconfdCallName[]
  return { ...Object.fromEntries(names.map((name) => [name, served(name, handlers)])), gantryFollow }
}

function served(name: WconfdCallName, handlers: WconfdHandlers): CallHandler {
  const { args: readers, result, byId } = wconfdCalls[name]
  // The compiler cannot see that arguments and handler belong to the same call.
  const handler = handlers[name] as (args: readonly unknown[], connection: FramedConnection, id?: string) => unknown
  return async (input, connection) => {
    const id = byId && Array.isArray(input) && input.length > readers.length ? string.parse(input.at(-1)) : undefined
    const own: unknown = id === undefined || !Array.isArray(input) ? input : input.slice(0, -1)
    const answer = await handler(readArguments(readers, own), connection, id)
    return result.unit ? [] : answer
  }
}

const configCalls = ({ store, locks, replication, measures, receipts }: WconfdState) =>
  ({
    readConfig: (_, connection) => sendConfig(connection, store.current()),
    gantryRead: ([desired], connection) => sendConfig(connection, slice(store.current(), desired)),
    gantrySection: ([section]) => store.gantry().sections[section] ?? {},
    gantryChange: async ([client, epoch, changes], connection, id) => {
      // A job that gave up while this daemon was stopped has already reported a failure.
      if (!(await connection.senderStays())) throw new GenericError('The sender of the change has left')
      const owner = epoch === null ? WITHOUT_LOCKS : ownerKey(client)
      const make = async () => {
        if (epoch !== null) locks.checkEpoch(client, epoch)
        return store.change(changes, client[0], id === undefined ? undefined : { owner, id })
      }
      try {
        return [...(await (id === undefined ? make() : receipts.once(owner, id, make)))]
      } catch (error) {
        // No answer is better than this one: the client asks the next run.
        if (error instanceof ChangeUnsettled) connection.destroy()
        throw error
      }
    },
    verifyConfig: () => {
      const errors = verifyConfig(store.current())
      if (errors.length > 0) throw new ConfigVerifyError('Validation failed', errors)
    },
    flushConfig: () => replication.flush(),
    gantryReplicas: () => replication.status(),
    gantryMetrics: () => measures.told(),
    allocatePort: async () => Number((await store.change([['allocatePort']]))[0]),
  }) satisfies Partial<WconfdHandlers>

const waitingCalls = (state: WconfdState) =>
  ({
    gantryAcquire: async ([client, priority, request, timeout_s], connection) => {
      const answer = await state.locks.acquire(client, priority, request, timeout_s, connection.closed)
      // The caller has left and cannot get the answer. A living owner will ask again; a killed one must not keep the
      // locks.
      if (connection.socket.destroyed) await state.releaseIfDead([client])
      return answer
    },
    gantryCancelRequest: ([owner]) => state.locks.perform({ kind: 'cancel', owner }),
    gantryOwnerDied: async ([client]) => {
      const held = listLocks(state.locks.table, client)
      await state.release(client)
      return held.map(([lock, mode]) => [lockTitle(state.store.current(), lock), mode])
    },
    gantryBlockers: ([client]) =>
      blocking(state.locks.table, client).map((blocked) => ({
        ...blocked,
        title: lockTitle(state.store.current(), blocked.lock),
      })),
  }) satisfies Partial<WconfdHandlers>

const lockCalls = ({ locks, free, settle, releaseDead }: WconfdState) =>
  ({
    tryUpdateLocks: async ([owner, request]) => {
      return (await locks.perform({ kind: 'update', owner, request, priority: null })).blockers
    },
    updateLocksWaiting: async ([owner, priority, request]) =>
      (await locks.perform({ kind: 'update', owner, request, priority })).blockers,
    freeLocks: ([owner]) => locks.perform({ kind: 'free', owner }),
    gantryFreeAll: async ([client]) => {
      await free(client)
      await settle()
    },
    freeLocksLevel: ([owner, level]) => locks.perform({ kind: 'freeLevel', owner, level }),
    downGradeLocksLevel: ([owner, level]) => locks.perform({ kind: 'downgrade', owner, level }),
    intersectLocks: ([owner, kept]) => locks.perform({ kind: 'intersect', owner, locks: kept }),
    opportunisticLockUnion: async ([owner, desired]) => {
      return (await locks.perform({ kind: 'takeFree', owner, locks: desired, count: 0 })).acquired
    },
    guardedOpportunisticLockUnion: async ([count, owner, desired]) => {
      return (await locks.perform({ kind: 'takeFree', owner, locks: desired, count })).acquired
    },
    cleanupLocks: () => releaseDead(),
  }) satisfies Partial<WconfdHandlers>

const listCalls = ({ locks: { table } }: WconfdState) =>
  ({
    hasPendingRequest: ([client]) => table.waiting.has(ownerKey(client)),
    listLocks: ([client]) => listLocks(table, client),
    listAllLocks: () => listAllLocks(table),
    listAllLocksOwners: () => listAllLocksOwners(table),
    listLocksWaitingStatus: () => [listAllLocksOwners(table), listWaiting(table)],
  }) satisfies Partial<WconfdHandlers>

const reservationCalls = ({ reservations: own, reserving }: WconfdState) =>
  ({
    dropAllReservations: ([client]) => (own.drop(client) ? reserving(() => undefined) : undefined),
    computeDRBDMap: () => own.drbdMap(),
    allocateDRBDMinor: ([disk, nodes]) => reserving(() => own.allocateMinors(disk, nodes)),
    gantryReserveMinors: ([client, disk, nodes]) => reserving(() => own.allocateMinorsFor(client, disk, nodes)),
    releaseDRBDMinors: ([disk]) => reserving(() => own.releaseMinors(disk)),
    reserveMAC: ([client, mac]) => reserving(() => own.reserveMac(client, mac)),
    generateMAC: ([client, network]) => reserving(() => own.generateMac(client, network)),
    generateDRBDSecret: ([client]) => reserving(() => own.generateSecret(client)),
    reserveLV: ([client, volume]) => reserving(() => own.reserveVolume(client, volume)),
  }) satisfies Partial<WconfdHandlers>

const addressCalls = ({ reservations: own, reserving, store }: WconfdState) =>
  ({
    reserveIp: ([client, network, ip, external]) => reserving(() => own.reserveIp(client, network, ip, external)),
    releaseIp: ([client, network, ip]) => reserving(() => own.releaseIp(client, network, ip)),
    generateIp: ([client, network]) => reserving(() => own.generateIp(client, network)),
    commitTemporaryIps: ([client]) => store.change([['commitTemporaryIps', own.ipsOf(client)]]),
    commitReleaseTemporaryIp: ([network, ip]) => store.change([['commitTemporaryIps', [['release', ip, network]]]]),
    listReservedIps: ([client]) => own.ipsOf(client),
  }) satisfies Partial<WconfdHandlers>

/** Objects keep their JSON, so the text is put together from it. */
function sendConfig(connection: FramedConnection, config: ConfigData): typeof ANSWERED {
  connection.send(`{"success":true,"result":${encodeConfig(config)}}`)
  return ANSWERED
}
