// The handlers of wconfd: one for every call of rpc/wconfd/calls.ts, by name. Each only translates; the lock keeper, the reservations and the
// configuration store do the work.
import { encodeConfig } from '../../config/encode'
import { lockTitle } from '../../config/lookup'
import { slice } from '../../config/slice'
import { verifyConfig } from '../../config/verify'
import type { FramedConnection } from '../../lib/json-socket'
import { blocking, listAllLocks, listAllLocksOwners, listLocks, listWaiting } from '../../locks/listing'
import { ownerKey } from '../../locks/state'
import type { ConfigData } from '../../model/config'
import { ConfigVerifyError, GenericError } from '../../model/errors'
import { ANSWERED, type CallHandler } from '../../rpc/json-protocol'
import type { Selector, Wconfd } from '../../rpc/wconfd/calls'
import type { FollowFeed } from '../../rpc/wconfd/follow-server'
import * as read from './arguments'
import { call, unit } from './arguments'
import type { WconfdState } from './state'

type Calls<K extends keyof Wconfd> = { readonly [N in K]: CallHandler }
type AllCalls = Calls<keyof Wconfd> & { readonly gantryFollow: CallHandler }

export const wconfdCalls = (state: WconfdState, feed: FollowFeed): AllCalls => ({
  echo: call([read.text], ([text]) => text),
  ...configCalls(state, feed),
  ...waitingCalls(state),
  ...lockCalls(state),
  ...listCalls(state),
  ...reservationCalls(state),
  ...addressCalls(state),
})

const configCalls = ({ store, locks, replication, measures }: WconfdState, feed: FollowFeed) => ({
  readConfig: call([], (_, connection) => sendConfig(connection, store.current())),
  gantryRead: call([selector], ([wanted], connection) => sendConfig(connection, slice(store.current(), wanted))),
  gantrySection: call([read.text], ([section]) => store.gantry().sections[section] ?? {}),
  gantryFollow: call([], async (_, connection) => {
    await feed.attach(connection)
    return ANSWERED
  }),
  gantryChange: call(
    [read.clientId, read.optional(read.integer), read.list(read.namedChange)],
    async ([client, epoch, changes], connection) => {
      // A job that has given up while this daemon was stopped has told that it failed.
      if (!(await connection.senderStays())) throw new GenericError('The sender of the change has left')
      if (epoch !== null) locks.checkEpoch(client, epoch)
      return store.change(changes, client[0])
    },
  ),
  verifyConfig: call(
    [],
    unit(() => {
      const errors = verifyConfig(store.current())
      if (errors.length > 0) throw new ConfigVerifyError('Validation failed', errors)
    }),
  ),
  flushConfig: call(
    [],
    unit(() => replication.flush()),
  ),
  gantryReplicas: call([], () => replication.status()),
  gantryMetrics: call([], () => measures.told()),
  allocatePort: call([], async () => (await store.change([['allocatePort']]))[0]),
})

const waitingCalls = (state: WconfdState) => ({
  gantryAcquire: call(
    [read.ownerId, read.integer, read.list(read.lockRequest), read.optional(read.seconds)],
    async ([client, priority, request, timeout_s], connection) => {
      const answer = await state.locks.acquire(client, priority, request, timeout_s, connection.closed)
      // The caller has left and cannot hear the answer. An owner that lives will ask again; one that was killed must not keep the locks.
      if (connection.socket.destroyed) await state.releaseIfDead([client])
      return answer
    },
  ),
  gantryCancelRequest: call(
    [read.clientId],
    unit(([owner]) => state.locks.perform({ kind: 'cancel', owner })),
  ),
  gantryOwnerDied: call([read.clientId], async ([client]) => {
    const held = listLocks(state.locks.table, client)
    await state.release(client)
    return held.map(([lock, mode]) => [lockTitle(state.store.current(), lock), mode])
  }),
  gantryBlockers: call([read.clientId], ([client]) =>
    blocking(state.locks.table, client).map((blocked) => ({
      ...blocked,
      title: lockTitle(state.store.current(), blocked.lock),
    })),
  ),
})

const lockCalls = ({ locks, free, settle, releaseDead }: WconfdState) => ({
  tryUpdateLocks: call([read.ownerId, read.list(read.lockRequest)], async ([owner, request]) => {
    return (await locks.perform({ kind: 'update', owner, request, priority: null })).blockers
  }),
  updateLocksWaiting: call(
    [read.ownerId, read.integer, read.list(read.lockRequest)],
    async ([owner, priority, request]) => (await locks.perform({ kind: 'update', owner, request, priority })).blockers,
  ),
  freeLocks: call(
    [read.clientId],
    unit(([owner]) => locks.perform({ kind: 'free', owner })),
  ),
  gantryFreeAll: call(
    [read.clientId],
    unit(async ([client]) => {
      await free(client)
      await settle()
    }),
  ),
  freeLocksLevel: call(
    [read.clientId, read.lockLevel],
    unit(([owner, level]) => locks.perform({ kind: 'freeLevel', owner, level })),
  ),
  downGradeLocksLevel: call(
    [read.clientId, read.lockLevel],
    unit(([owner, level]) => locks.perform({ kind: 'downgrade', owner, level })),
  ),
  intersectLocks: call(
    [read.clientId, read.list(read.lockName)],
    unit(([owner, kept]) => locks.perform({ kind: 'intersect', owner, locks: kept })),
  ),
  opportunisticLockUnion: call([read.ownerId, read.list(read.lockAndMode)], async ([owner, wanted]) => {
    return (await locks.perform({ kind: 'takeFree', owner, locks: wanted, count: 0 })).acquired
  }),
  guardedOpportunisticLockUnion: call(
    [read.integer, read.ownerId, read.list(read.lockAndMode)],
    async ([count, owner, wanted]) => {
      return (await locks.perform({ kind: 'takeFree', owner, locks: wanted, count })).acquired
    },
  ),
  cleanupLocks: call(
    [],
    unit(() => releaseDead()),
  ),
})

const listCalls = ({ locks: { table } }: WconfdState) => ({
  hasPendingRequest: call([read.clientId], ([client]) => table.waiting.has(ownerKey(client))),
  listLocks: call([read.clientId], ([client]) => listLocks(table, client)),
  listAllLocks: call([], () => listAllLocks(table)),
  listAllLocksOwners: call([], () => listAllLocksOwners(table)),
  listLocksWaitingStatus: call([], () => [listAllLocksOwners(table), listWaiting(table)]),
})

const reservationCalls = ({ reservations: own, reserving }: WconfdState) => ({
  dropAllReservations: call(
    [read.clientId],
    unit(([client]) => (own.drop(client) ? reserving(() => undefined) : undefined)),
  ),
  computeDRBDMap: call([], () => own.drbdMap()),
  allocateDRBDMinor: call([read.text, read.list(read.text)], ([disk, nodes]) =>
    reserving(() => own.allocateMinors(disk, nodes)),
  ),
  releaseDRBDMinors: call(
    [read.text],
    unit(([disk]) => reserving(() => own.releaseMinors(disk))),
  ),
  reserveMAC: call(
    [read.ownerId, read.text],
    unit(([client, mac]) => reserving(() => own.reserveMac(client, mac))),
  ),
  generateMAC: call([read.ownerId, read.optional(read.text)], ([client, network]) =>
    reserving(() => own.generateMac(client, network)),
  ),
  generateDRBDSecret: call([read.ownerId], ([client]) => reserving(() => own.generateSecret(client))),
  reserveLV: call(
    [read.ownerId, read.text],
    unit(([client, volume]) => reserving(() => own.reserveVolume(client, volume))),
  ),
})

const addressCalls = ({ reservations: own, reserving, store }: WconfdState) => ({
  reserveIp: call(
    [read.ownerId, read.text, read.text, read.flag],
    unit(([client, network, ip, external]) => reserving(() => own.reserveIp(client, network, ip, external))),
  ),
  releaseIp: call(
    [read.ownerId, read.text, read.text],
    unit(([client, network, ip]) => reserving(() => own.releaseIp(client, network, ip))),
  ),
  generateIp: call([read.ownerId, read.text], ([client, network]) => reserving(() => own.generateIp(client, network))),
  commitTemporaryIps: call(
    [read.clientId],
    unit(([client]) => store.change([['commitTemporaryIps', own.ipsOf(client)]])),
  ),
  commitReleaseTemporaryIp: call(
    [read.text, read.text],
    unit(([network, ip]) => store.change([['commitTemporaryIps', [['release', ip, network]]]])),
  ),
  listReservedIps: call([read.clientId], ([client]) => own.ipsOf(client)),
})

/** Objects keep their JSON, so the text is put together instead of made anew. */
function sendConfig(connection: FramedConnection, config: ConfigData): typeof ANSWERED {
  connection.send(`{"success":true,"result":${encodeConfig(config)}}`)
  return ANSWERED
}

const selector: read.Reader<Selector> = (value) => {
  if (typeof value !== 'object' || value === null) throw new GenericError('RPC input: expected a selector')
  const fields = new Map<string, unknown>(Object.entries(value))
  const part = (name: string) => (fields.get(name) === undefined ? undefined : read.names(fields.get(name)))
  const nodes = { nodes: part('nodes'), groups: part('groups'), networks: part('networks') }
  return { instances: part('instances'), disks: part('disks'), ...nodes }
}
