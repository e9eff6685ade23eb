// The config layer: pure changes to the configuration snapshot, and (store.ts only) the disk that keeps it. Knows no
// daemon. This file: an immutable dictionary that reads like a plain object. Each version of it is a tree that shares most
// nodes with the version it was made of, and so are its indexes. So all versions can be read at any time, and neither
// reading nor changing one costs more in a large cluster, but for the logarithm.
import {
  type SortedTree,
  treeDifference,
  treeEntriesFrom,
  treeFrom,
  treeGet,
  treeKeys,
  treeSet,
  treeSize,
  treeValues,
} from '../lib/sorted-tree'

export type Dictionary<T> = Readonly<Record<string, T>>

/**
 * The texts by which objects are found, such as the nodes of a disk. They follow from the object alone. A dictionary makes
 * an index when it is first asked for, and later versions keep it.
 */
export interface Index<T> {
  readonly textsOf: (object: T) => readonly string[]
}

/** The dictionary with `key` set; undefined removes it. */
export function recordSet<T>(record: Dictionary<T>, key: string, value: T | undefined): Dictionary<T> {
  const version = versionOf(record)
  const next = version.with(key, value)
  return next === version ? record : viewOf(next)
}

/** A dictionary with the content of any plain one. */
export const recordFrom = <T>(entries: Iterable<readonly [string, T]>): Dictionary<T> =>
  viewOf(new Version(treeFrom(entries)))

/** Object.values in the order of the keys, but faster than through the view: for hot paths. */
export const recordValues = <T>(record: Dictionary<T>): T[] => treeValues(versionOf(record).tree)

/** Only own entries: `constructor` does not find the language's. */
export const recordGet = <T>(record: Dictionary<T>, key: string): T | undefined => treeGet(versionOf(record).tree, key)

export const recordSize = <T>(record: Dictionary<T>): number => treeSize(versionOf(record).tree)

/** The key of the object with this `name`. */
export const keyByName = <T>(record: Dictionary<T>, name: string): string | undefined =>
  first(versionOf(record).find(byName, name + END))

/** The objects that the index knows by this text, in the order of their keys. */
export const recordFind = <T>(record: Dictionary<T>, index: Index<T>, text: string): T[] => [
  ...found(record, index, text + END),
]

export const recordHas = <T>(record: Dictionary<T>, index: Index<T>, text: string): boolean =>
  first(versionOf(record).find(index, text + END)) !== undefined

/** The objects with a text that begins with this one, in the order of these texts. Costs only as much as is read. */
export const recordFindPrefix = <T>(record: Dictionary<T>, index: Index<T>, prefix: string): Generator<T> =>
  found(record, index, prefix)

/** The keys with different values. Costs as much as one version was changed to get the other. */
export function changedKeys<T>(before: Dictionary<T>, after: Dictionary<T>): Set<string> {
  const keys = new Set<string>()
  treeDifference(versionOf(before).tree, versionOf(after).tree, (key) => keys.add(key))
  return keys
}

/** Finds objects by their names. */
export const byName: Index<unknown> = {
  textsOf: (object) =>
    typeof object === 'object' && object !== null && 'name' in object && typeof object.name === 'string'
      ? [object.name]
      : [],
}

function* found<T>(record: Dictionary<T>, index: Index<T>, prefix: string): Generator<T> {
  const version = versionOf(record)
  for (const key of version.find(index, prefix)) {
    const object = treeGet(version.tree, key)
    if (object !== undefined) yield object
  }
}

/** In an index, stands between a text and the key of an object that has it. Sorts before all that names are made of. */
const END = '\0'

/** The key of the object, by a text of the object and this key. */
type Entries = SortedTree<string>

class Version<T> {
  constructor(
    readonly tree: SortedTree<T>,
    private readonly indexes = new Map<Index<T>, Entries>(),
  ) {}

  with(key: string, value: T | undefined): Version<T> {
    const old = treeGet(this.tree, key)
    if (old === value) return this
    const indexes = new Map(this.indexes)
    for (const [index, entries] of indexes)
      indexes.set(index, moved(entries, key, textsOf(index, old), textsOf(index, value)))
    return new Version(treeSet(this.tree, key, value), indexes)
  }

  /** Keys of objects with texts that begin so. */
  *find(index: Index<T>, prefix: string): Generator<string> {
    for (const [text, key] of treeEntriesFrom(this.entriesOf(index), prefix)) {
      if (!text.startsWith(prefix)) return
      yield key
    }
  }

  private entriesOf(index: Index<T>): Entries {
    const known = this.indexes.get(index)
    if (known !== undefined) return known
    const keys = treeKeys(this.tree)
    const entries = treeValues(this.tree).flatMap((object, at) => {
      const key = keys[at] ?? ''
      return index.textsOf(object).map((text) => [text + END + key, key] as const)
    })
    const made = treeFrom(entries)
    this.indexes.set(index, made)
    return made
  }
}

const textsOf = <T>(index: Index<T>, object: T | undefined): readonly string[] =>
  object === undefined ? [] : index.textsOf(object)

function moved(entries: Entries, key: string, old: readonly string[], now: readonly string[]): Entries {
  let made = entries
  for (const text of old) if (!now.includes(text)) made = treeSet(made, text + END + key, undefined)
  for (const text of now) if (!old.includes(text)) made = treeSet(made, text + END + key, key)
  return made
}

function first(keys: Iterable<string>): string | undefined {
  for (const key of keys) return key
  return undefined
}

/** Behaves like a frozen plain object whose keys are sorted. */
class View<T> implements ProxyHandler<Record<string, T>> {
  constructor(private readonly version: Version<T>) {}

  get(_target: object, key: string | symbol): T | undefined {
    return typeof key === 'string' ? treeGet(this.version.tree, key) : undefined
  }
  has(_target: object, key: string | symbol): boolean {
    return this.get(_target, key) !== undefined
  }
  ownKeys(): string[] {
    return treeKeys(this.version.tree)
  }
  getOwnPropertyDescriptor(_target: object, key: string | symbol): PropertyDescriptor | undefined {
    const value = this.get(_target, key)
    return value === undefined ? undefined : { value, enumerable: true, configurable: true, writable: false }
  }
  set(): boolean {
    return false
  }
  deleteProperty(): boolean {
    return false
  }
  defineProperty(): boolean {
    return false
  }
}

const versions = new WeakMap<object, Version<unknown>>()

function viewOf<T>(version: Version<T>): Dictionary<T> {
  const view = new Proxy<Record<string, T>>({}, new View(version))
  versions.set(view, version as Version<unknown>)
  return view
}

function versionOf<T>(record: Dictionary<T>): Version<T> {
  const known = versions.get(record) as Version<T> | undefined
  if (known) return known
  // A plain object, as tests and slices make them, is converted once.
  const version = new Version<T>(treeFrom(Object.entries(record)))
  versions.set(record, version as Version<unknown>)
  return version
}
