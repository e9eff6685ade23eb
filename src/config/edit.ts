// The basic steps of every change: reading an object by uuid, and making a snapshot with one object added, replaced or
// removed.
import type { Cluster, ConfigContainers, ConfigData, ObjectKind, ObjectKinds, Stamped } from '../model/config'
import type { Random } from '../lib/random'
import { ConfigurationError } from '../model/errors'
import { recordSet, type Dictionary } from './records'
import { canonical, canonicalCluster, NOUN } from './schema'

/** Outside inputs of a change: the time for stamps of objects, and random values. */
export interface ChangeContext {
  readonly now_s: number
  readonly random: Random
}

export interface Changed<R> {
  readonly config: ConfigData
  readonly result: R
}

export const done = (config: ConfigData): Changed<null> => ({ config, result: null })

/** The object, or ConfigurationError. */
export function get<K extends ObjectKind>(config: ConfigData, kind: K, uuid: string): ObjectKinds[K] {
  const containers: ConfigContainers = config
  const object: ObjectKinds[K] | undefined = containers[kind][uuid]
  if (object === undefined)
    throw new ConfigurationError(`There is no ${NOUN[kind]} with uuid ${uuid} in the configuration`)
  return object
}

export function put<K extends ObjectKind>(config: ConfigData, kind: K, object: ObjectKinds[K]): ConfigData {
  return place(config, kind, object.uuid, canonical(kind, object))
}

export const drop = (config: ConfigData, kind: ObjectKind, uuid: string): ConfigData =>
  place(config, kind, uuid, undefined)

/** Like `put`, but does not check the fields: for objects that passed the check before. */
export function place<K extends ObjectKind>(
  config: ConfigData,
  kind: K,
  uuid: string,
  object: ObjectKinds[K] | undefined,
): ConfigData {
  const containers: ConfigContainers = config
  const container: Dictionary<ObjectKinds[K]> = containers[kind]
  return { ...config, [kind]: recordSet(container, uuid, object) }
}

export const putCluster = (config: ConfigData, cluster: Cluster): ConfigData => ({
  ...config,
  cluster: canonicalCluster(cluster),
})

/** Stamps the object as changed now. */
export const touched = <T extends Stamped>(object: T, context: ChangeContext): T => ({
  ...object,
  serial_no: object.serial_no + 1,
  mtime: context.now_s,
})

/** Stamps the object as created now. */
export const fresh = <T extends Stamped>(object: T, context: ChangeContext): T => ({
  ...object,
  serial_no: 1,
  ctime: context.now_s,
  mtime: context.now_s,
})

/** To be called when the set of nodes or instances changes: the cluster counts such changes. */
export const touchCluster = (config: ConfigData, context: ChangeContext): ConfigData => ({
  ...config,
  cluster: touched(config.cluster, context),
})

/** Sets some fields of the object; null removes an optional one. */
export function patched<T extends object>(object: T, fields: Readonly<Record<string, unknown>>): T {
  for (const key of ['uuid', 'serial_no', 'ctime', 'mtime'])
    if (key in fields) throw new ConfigurationError(`The field "${key}" cannot be set by a change`)
  return { ...object, ...fields }
}

/** Checks a whole object that a caller read, changed and sends back: refused if somebody changed it in between. */
export function checkSerial(kind: ObjectKind | 'cluster', sent: Stamped, stored: Stamped): void {
  if (sent.serial_no === stored.serial_no) return
  const noun = kind === 'cluster' ? kind : NOUN[kind]
  throw new ConfigurationError(
    `The ${noun} was changed by somebody else: its serial number is ${stored.serial_no}, the update is for ${sent.serial_no}; read it again`,
  )
}
