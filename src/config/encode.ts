// The text of config.data and gantry.data: compact JSON, keys in Ganeti's order. Each object's JSON is made only once.
import type { ConfigData, Container, GantryData, ObjectKind } from '../model/config'
import { slices } from '../lib/work/slices'
import { CHECKPOINT_OBJECTS_AT_ONCE } from '../model/limits/config'
import { compareText } from '../model/nice-sort'
import { recordValues } from './records'

export const encodeConfig = (config: ConfigData): string => [...configPieces(config)].join('')

const CONTAINERS: readonly ObjectKind[] = ['nodes', 'nodegroups', 'instances', 'networks', 'disks', 'filters']

/** The text in pieces of bounded work, so that writing a big configuration does not hold up the event loop. */
export function* configPieces(config: ConfigData): Generator<string> {
  // Read all containers before the first piece: while the caller waits between two pieces, the snapshot may become an
  // old one.
  const containers = CONTAINERS.map((kind) => ({ kind, objects: valuesOf(config[kind]) }))
  yield `{"version":${config.version},"cluster":${objectJson(config.cluster)}`
  for (const { kind, objects } of containers) {
    yield `,"${kind}":{`
    for (let start = 0; start < objects.length; start += CHECKPOINT_OBJECTS_AT_ONCE)
      yield (
        (start === 0 ? '' : ',') +
        objects
          .slice(start, start + CHECKPOINT_OBJECTS_AT_ONCE)
          .map((object) => `"${object.uuid}":${objectJson(object)}`)
          .join(',')
      )
    yield '}'
  }
  yield `,"ctime":${config.ctime},"mtime":${config.mtime},"serial_no":${config.serial_no}}`
}

/** For a follower: the configuration without its objects, then the objects in slices, each `[kind, object]`. */
export function snapshotPieces(config: ConfigData): { head: string; objects: Iterable<string> } {
  const none = Object.fromEntries(CONTAINERS.map((kind) => [kind, {}]))
  const all = CONTAINERS.flatMap((kind) => valuesOf(config[kind]).map((object) => [kind, object] as const))
  return { head: JSON.stringify({ ...config, ...none }), objects: objectSlices(all) }
}

function* objectSlices(all: readonly (readonly [ObjectKind, object])[]): Generator<string> {
  for (const slice of slices(all, CHECKPOINT_OBJECTS_AT_ONCE))
    yield `[${slice.map(([kind, object]) => `["${kind}",${objectJson(object)}]`).join(',')}]`
}

const valuesOf = (container: Container<{ readonly uuid: string }>): { readonly uuid: string }[] =>
  recordValues(container)

/** Objects never change, so we keep their text as long as they live. */
const texts = new WeakMap<object, string>()

export function objectJson(object: object): string {
  const known = texts.get(object)
  if (known !== undefined) return known
  const text = JSON.stringify(object)
  texts.set(object, text)
  return text
}

export function encodeGantry(data: GantryData): string {
  const sorted = <T>(all: Readonly<Record<string, T>>): [string, T][] =>
    Object.entries(all).sort(([a], [b]) => compareText(a, b))
  const section = (entries: Readonly<Record<string, unknown>>): Record<string, unknown> =>
    Object.fromEntries(sorted(entries))
  const sections = sorted(data.sections).map(([name, entries]) => [name, section(entries)])
  return JSON.stringify({ version: data.version, serial_no: data.serial_no, sections: Object.fromEntries(sections) })
}
