// The difference between two configurations for people: objects by name, with the changed fields before and after.
import type { Delta } from '../../config/delta'
import { type JsonObject, isObject } from '../../lib/shapes/shape'
import type { ConfigData } from '../../model/config'
import type { PlannedChange } from '../../rpc/luxi/plan'

const KINDS = [
  ['nodes', 'node'],
  ['nodegroups', 'group'],
  ['instances', 'instance'],
  ['disks', 'disk'],
  ['networks', 'network'],
  ['filters', 'filter'],
] as const

export function plannedChanges(before: ConfigData, delta: Delta): PlannedChange[] {
  const changes: PlannedChange[] = KINDS.flatMap(([container, kind]) =>
    Object.entries<object | null>(delta[container] ?? {}).map(([uuid, after]) =>
      changeOf(kind, uuid, before[container][uuid] ?? null, after),
    ),
  )
  if (delta.cluster !== undefined) {
    const { uuid, cluster_name: name } = before.cluster
    const old = Object.fromEntries(Object.entries(before.cluster).filter(([field]) => field in (delta.cluster ?? {})))
    const change = { kind: 'cluster', uuid, name, change: 'changed' } as const
    changes.push({ ...change, before: displayed(old), after: displayed(delta.cluster) })
  }
  return changes
}

function changeOf(
  kind: PlannedChange['kind'],
  uuid: string,
  before: object | null,
  after: object | null,
): PlannedChange {
  const [old, now] = [asJson(before), asJson(after)]
  const name = String(now?.['name'] ?? old?.['name'] ?? uuid)
  const object = { kind, uuid, name }
  if (old === null) return { ...object, change: 'added', before: null, after: now === null ? null : displayed(now) }
  if (now === null) return { ...object, change: 'removed', before: displayed(old), after: null }
  const fields = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    (field) => JSON.stringify(old[field]) !== JSON.stringify(now[field]),
  )
  const only = (from: JsonObject) => displayed(Object.fromEntries(fields.map((field) => [field, from[field] ?? null])))
  return { ...object, change: 'changed', before: only(old), after: only(now) }
}

const asJson = (value: object | null): JsonObject | null => (isObject(value) ? value : null)

/** Planning does not require the right to see private parameters. */
const displayed = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !/private|secret/.test(name)))
