// The config layer: pure changes to the configuration snapshot, and (store.ts only) the disk that keeps it. Knows no
// daemon. This file: an immutable dictionary that reads like a plain object. A new version of it costs the same at any
// size. All versions share one Map, which has the content of the version that was used last. Every other version knows
// one step (a key and its value) towards that version. Reading an older version reverses the steps; a version many
// steps away gets its own copy.
import { SNAPSHOT_STEPS_MAX } from '../model/limits/config'
import { compareText } from '../model/nice-sort'

export type Dictionary<T> = Readonly<Record<string, T>>

/** The dictionary with `key` set; undefined removes it. */
export function recordSet<T>(record: Dictionary<T>, key: string, value: T | undefined): Dictionary<T> {
  const version = versionOf(record)
  const shared = version.take()
  const old = shared.map.get(key)
  if (old === value) return record
  const next = new Version<T>(shared)
  version.state = { next, key, value: old }
  shared.set(key, value)
  return next.view()
}

/** A dictionary with the content of any plain one. */
export function recordFrom<T>(entries: Iterable<readonly [string, T]>): Dictionary<T> {
  return new Version<T>(new Shared<T>(new Map(entries))).view()
}

/** Object.values in the order of the keys, but faster than through the view: for hot paths. */
export function recordValues<T>(record: Dictionary<T>): T[] {
  const shared = versionOf(record).take()
  return shared.keys().map((key) => shared.map.get(key) as T)
}

/** Only own entries: `constructor` does not find the language's. */
export const recordGet = <T>(record: Dictionary<T>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

export const recordSize = <T>(record: Dictionary<T>): number => versionOf(record).take().map.size

/** The key of the object with this `name`, from an index. */
export function keyByName<T>(record: Dictionary<T>, name: string): string | undefined {
  return versionOf(record).take().names().get(name)
}

/**
 * The keys with different values, found by walking the steps between two versions; undefined if these have no common
 * history.
 */
export function changedKeys<T>(before: Dictionary<T>, after: Dictionary<T>): Set<string> | undefined {
  const [from, to] = [versionOf(before), versionOf(after)]
  return stepsBetween(from, to) ?? stepsBetween(to, from)
}

function stepsBetween<T>(from: Version<T>, to: Version<T>): Set<string> | undefined {
  const keys = new Set<string>()
  for (let version = from; version !== to;) {
    if (version.state instanceof Shared) return undefined
    keys.add(version.state.key)
    version = version.state.next
  }
  return keys
}

interface Step<T> {
  readonly next: Version<T>
  readonly key: string
  /** This version's value for the key, in which it differs from `next`. */
  readonly value: T | undefined
}

class Version<T> {
  constructor(public state: Shared<T> | Step<T>) {}

  /** Makes the shared Map this version's, and returns it. */
  take(): Shared<T> {
    if (this.state instanceof Shared) return this.state
    const path: { version: Version<T>; step: Step<T> }[] = []
    let owner: Version<T> = this
    while (!(owner.state instanceof Shared)) {
      path.push({ version: owner, step: owner.state })
      owner = owner.state.next
    }
    const shared = owner.state
    if (path.length > SNAPSHOT_STEPS_MAX) return this.copy(shared, path)
    for (const { version, step } of path.reverse()) {
      step.next.state = { next: version, key: step.key, value: shared.map.get(step.key) }
      shared.set(step.key, step.value)
    }
    this.state = shared
    return shared
  }

  private copy(shared: Shared<T>, path: readonly { step: Step<T> }[]): Shared<T> {
    const copy = new Shared<T>(new Map(shared.map))
    for (const { step } of [...path].reverse()) copy.set(step.key, step.value)
    this.state = copy
    return copy
  }

  view(): Dictionary<T> {
    const view = new Proxy<Record<string, T>>({}, new View(this))
    versions.set(view, this)
    return view
  }
}

class Shared<T> {
  private sorted: string[] | undefined
  private byName: Map<string, string> | undefined

  constructor(readonly map: Map<string, T>) {}

  set(key: string, value: T | undefined): void {
    const old = this.map.get(key)
    if (this.byName) this.rename(this.byName, key, nameOf(old), nameOf(value))
    if (value === undefined) this.map.delete(key)
    else this.map.set(key, value)
    if (!this.sorted || (old === undefined) === (value === undefined)) return
    const index = position(this.sorted, key)
    if (value === undefined) this.sorted.splice(index, 1)
    else this.sorted.splice(index, 0, key)
  }

  keys(): readonly string[] {
    return (this.sorted ??= [...this.map.keys()].sort(compareText))
  }

  names(): ReadonlyMap<string, string> {
    if (this.byName) return this.byName
    this.byName = new Map()
    for (const [key, value] of this.map) this.rename(this.byName, key, undefined, nameOf(value))
    return this.byName
  }

  private rename(byName: Map<string, string>, key: string, old: string | undefined, name: string | undefined): void {
    if (old === name) return
    if (old !== undefined && byName.get(old) === key) byName.delete(old)
    if (name !== undefined) byName.set(name, key)
  }
}

/** Behaves like a frozen plain object whose keys are sorted. */
class View<T> implements ProxyHandler<Record<string, T>> {
  constructor(private readonly version: Version<T>) {}

  get(_target: object, key: string | symbol): T | undefined {
    return typeof key === 'string' ? this.version.take().map.get(key) : undefined
  }
  has(_target: object, key: string | symbol): boolean {
    return typeof key === 'string' && this.version.take().map.has(key)
  }
  ownKeys(): string[] {
    return [...this.version.take().keys()]
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

function versionOf<T>(record: Dictionary<T>): Version<T> {
  const known = versions.get(record) as Version<T> | undefined
  if (known) return known
  // A plain object, as tests and slices make them, is converted once.
  const version = new Version<T>(new Shared<T>(new Map(Object.entries(record))))
  versions.set(record, version)
  return version
}

function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('name' in value)) return undefined
  return typeof value.name === 'string' ? value.name : undefined
}

/** The key's position in a sorted list, or its place if it is missing. */
function position(sorted: readonly string[], key: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareText(sorted[middle] ?? '', key) < 0) low = middle + 1
    else high = middle
  }
  return low
}
