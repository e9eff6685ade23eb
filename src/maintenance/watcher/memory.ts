// What the watcher remembers of a node group from one run to the next: tries to start or to clean up instances, and the boot ids of
// nodes. The file is Ganeti's: `watcher.<uuid>.data`.
import { isObject } from '../../lib/shapes/shape'
import { WATCHER_FORGETS_S } from '../../model/limits/watcher'

/** The tries for one instance, as the file has them. */
export interface Tries {
  readonly restart_count?: number
  /** Seconds since the epoch. */
  readonly restart_when?: number
  readonly cleanup_count?: number
  readonly cleanup_when?: number
}

export interface Memory {
  readonly instance: Readonly<Record<string, Tries>>
  readonly node: Readonly<Record<string, { readonly bootid?: string }>>
}

export const NOTHING_REMEMBERED: Memory = { instance: {}, node: {} }

/** A file that cannot be read counts as none: then all tries begin anew, and all nodes count as booted just now. */
export function parseMemory(text: string): Memory {
  try {
    const data: unknown = JSON.parse(text)
    if (!isObject(data)) return NOTHING_REMEMBERED
    return { instance: entries(data['instance'], triesOf), node: entries(data['node'], nodeOf) }
  } catch {
    return NOTHING_REMEMBERED
  }
}

export const memoryText = (memory: Memory): string => JSON.stringify(memory)

function entries<T>(value: unknown, read: (entry: Readonly<Record<string, unknown>>) => T): Record<string, T> {
  if (!isObject(value)) return {}
  return Object.fromEntries(Object.entries(value).flatMap(([name, one]) => (isObject(one) ? [[name, read(one)]] : [])))
}

function triesOf(entry: Readonly<Record<string, unknown>>): Tries {
  const names = ['restart_count', 'restart_when', 'cleanup_count', 'cleanup_when']
  return Object.fromEntries(names.flatMap((name) => (typeof entry[name] === 'number' ? [[name, entry[name]]] : [])))
}

const nodeOf = ({ bootid }: Readonly<Record<string, unknown>>): { bootid?: string } =>
  typeof bootid === 'string' ? { bootid } : {}

/** Without instances that are gone, and without tries that are too old to count. */
export function forgetOld(memory: Memory, there: (name: string) => boolean, now_s: number): Memory {
  const isOld = ({ restart_when = 0, cleanup_when = 0 }: Tries) =>
    Math.max(restart_when, cleanup_when) < now_s - WATCHER_FORGETS_S
  const kept = Object.entries(memory.instance).filter(([name, tries]) => there(name) && !isOld(tries))
  return { ...memory, instance: Object.fromEntries(kept) }
}
