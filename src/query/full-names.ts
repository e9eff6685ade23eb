// Turns short names that people type into full names: `instance/web1` becomes `instance/web1.example.com`. Jobs keep the names as they were
// typed. Each snapshot has one index of its names, because a list shows many jobs, also of objects that are gone.
import { keyByName, recordGet, recordValues } from '../config/records'
import type { ConfigData, Container } from '../model/config'

interface Named {
  readonly name: string
}

/** Returns the object with its full name if only one object fits. Only some kinds have short names. */
export function fullObject(config: ConfigData, object: string): string {
  const slash = object.indexOf('/')
  const [kind, name] = [object.slice(0, slash), object.slice(slash + 1)]
  if (kind !== 'instance' && kind !== 'node') return object
  const container: Container<Named> = kind === 'instance' ? config.instances : config.nodes
  // Most names are already full, and need no index.
  if (keyByName(container, name) !== undefined) return object
  const full = recordGet(container, name)?.name ?? namesOf(container).get(name.toLowerCase())
  return typeof full === 'string' ? `${kind}/${full}` : object
}

/** Maps each short name, in small letters, to the full name, or to null if several fit. */
type FullNames = ReadonlyMap<string, string | null>

const known = new WeakMap<object, FullNames>()

function namesOf(container: Container<Named>): FullNames {
  const before = known.get(container)
  if (before !== undefined) return before
  const names = new Map<string, string | null>()
  const objects = recordValues(container)
  for (const { name } of objects) for (const short of shortNames(name)) note(names, short, name)
  // A full name always means its own object, even if longer names begin with it.
  const whole = new Map<string, string | null>()
  for (const { name } of objects) note(whole, name.toLowerCase(), name)
  for (const [name, full] of whole) names.set(name, full)
  known.set(container, names)
  return names
}

const note = (names: Map<string, string | null>, key: string, full: string): void =>
  void names.set(key, names.has(key) ? null : full)

function shortNames(name: string): string[] {
  const parts = name.toLowerCase().split('.')
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('.'))
}
