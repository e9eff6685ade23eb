// The difference between two states of the documents, for the journal and for followers.
import type { Cluster, ConfigData, Documents, GantryData, ObjectKind, ObjectKinds } from '../model/config'
import { place } from './edit'
import { objectJson } from './encode'
import { withGantryValue } from './gantry'
import { changedKeys, type Dictionary } from './records'
import { canonicalCluster } from './schema'

type Objects = { readonly [K in ObjectKind]?: Readonly<Record<string, ObjectKinds[K] | null>> }

/** The first part of a client id: the number of a job, or another client's name for itself. */
export type Asker = number | string

/** A client's change that a step contains: the client as text, the change's id, and its results. */
export type Receipt = readonly [owner: string, id: string, results: readonly unknown[]]

/** Whole objects by uuid, null for removed ones. For the cluster only changed fields, null for removed ones. */
export interface Delta extends Objects {
  /** Serial numbers of the configuration before and after. */
  readonly from: number
  readonly to: number
  readonly mtime: number
  readonly version?: number
  readonly cluster?: Readonly<Record<string, unknown>>
  /** The clients that asked for the change, if known. Followers get them; the journal does not. */
  readonly askers?: readonly Asker[]
  /** In the journal only: after a crash, clients that got no answer ask for it again. */
  readonly receipts?: readonly Receipt[]
  readonly gantry?: {
    readonly serial_no: number
    /** By section and key; null for removed values. */
    readonly sections: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  }
}

const KINDS: readonly ObjectKind[] = ['nodes', 'nodegroups', 'instances', 'networks', 'disks', 'filters']

/** Costs only as much as has changed, if `after` was made from `before`. */
export function diff(before: Documents, after: Documents): Delta {
  const [from, to] = [before.config, after.config]
  const cluster = from.cluster === to.cluster ? {} : changedFields(from.cluster, to.cluster)
  const sections = before.gantry === after.gantry ? {} : changedSections(before.gantry, after.gantry)
  return {
    from: from.serial_no,
    to: to.serial_no,
    mtime: to.mtime,
    ...(from.version !== to.version && { version: to.version }),
    ...(Object.keys(cluster).length > 0 && { cluster }),
    ...Object.fromEntries(
      KINDS.map((kind) => [kind, changedEntries<object>(from[kind], to[kind])] as const).filter(
        ([, entries]) => Object.keys(entries).length > 0,
      ),
    ),
    // Values that were set and removed again change only the count, and those of another history not even that.
    ...((before.gantry.serial_no !== after.gantry.serial_no || Object.keys(sections).length > 0) && {
      gantry: { serial_no: after.gantry.serial_no, sections },
    }),
  }
}

export const applyDelta = (documents: Documents, delta: Delta): Documents => ({
  config: applyToConfig(documents.config, delta),
  gantry: applyToGantry(documents.gantry, delta),
})

export function applyToConfig(config: ConfigData, delta: Delta): ConfigData {
  let next = config
  for (const kind of KINDS) next = applyKind(next, kind, delta)
  return {
    ...next,
    version: delta.version ?? next.version,
    cluster: delta.cluster ? mergeCluster(next.cluster, delta.cluster) : next.cluster,
    mtime: delta.mtime,
    serial_no: delta.to,
  }
}

export function applyToGantry(gantry: GantryData, delta: Delta): GantryData {
  if (!delta.gantry) return gantry
  let next = gantry
  for (const [section, entries] of Object.entries(delta.gantry.sections))
    for (const [key, value] of Object.entries(entries)) next = withGantryValue(next, section, key, value)
  return { ...next, serial_no: delta.gantry.serial_no }
}

/** The JSON text, put together from the objects' texts, which the next checkpoint uses again. */
export function encodeDelta(delta: Delta): string {
  const { from, to, mtime, version, cluster, gantry, receipts } = delta
  const parts = [JSON.stringify({ from, to, mtime, version, cluster, gantry, receipts }).slice(0, -1)]
  for (const kind of KINDS) {
    const objects: Readonly<Record<string, object | null>> = delta[kind] ?? {}
    const texts = Object.entries(objects).map(([uuid, object]) => `"${uuid}":${object ? objectJson(object) : 'null'}`)
    if (texts.length > 0) parts.push(`"${kind}":{${texts.join(',')}}`)
  }
  return `${parts.join(',')}}`
}

function applyKind<K extends ObjectKind>(config: ConfigData, kind: K, delta: Delta): ConfigData {
  const objects: Readonly<Record<string, ObjectKinds[K] | null>> | undefined = (delta as Objects)[kind]
  let next = config
  for (const [uuid, object] of Object.entries(objects ?? {})) next = place(next, kind, uuid, object ?? undefined)
  return next
}

function mergeCluster(cluster: Cluster, fields: Readonly<Record<string, unknown>>): Cluster {
  const merged = { ...cluster, ...fields }
  const sameKeys = Object.entries(fields).every(([key, value]) => value !== null && key in cluster)
  return sameKeys ? merged : canonicalCluster(merged)
}

function changedFields(before: Cluster, after: Cluster): Record<string, unknown> {
  const old = new Map<string, unknown>(Object.entries(before))
  const changed: [string, unknown][] = Object.entries(after).filter(([key, value]) => !same(old.get(key), value))
  const gone = [...old.keys()].filter((key) => !Object.hasOwn(after, key))
  return Object.fromEntries([...changed, ...gone.map((key): [string, unknown] => [key, null])])
}

function changedEntries<T>(before: Dictionary<T>, after: Dictionary<T>): Record<string, T | null> {
  if (before === after) return {}
  const result: Record<string, T | null> = {}
  for (const key of changedKeys(before, after)) {
    const value = after[key]
    if (!same(before[key], value)) result[key] = value ?? null
  }
  return result
}

function changedSections(before: GantryData, after: GantryData): Record<string, Record<string, unknown>> {
  const names = new Set([...Object.keys(before.sections), ...Object.keys(after.sections)])
  const changed = [...names].map(
    (name) => [name, changedEntries(before.sections[name] ?? {}, after.sections[name] ?? {})] as const,
  )
  return Object.fromEntries(changed.filter(([, entries]) => Object.keys(entries).length > 0))
}

function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  return objectJson(a) === objectJson(b)
}
