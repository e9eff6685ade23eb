// The watcher's memory of a node group between runs: attempts to start or clean up instances, and the boot ids of
// nodes. Ganeti's file: `watcher.<uuid>.data`.
import { isObject } from '../../lib/shapes/shape'
import { WATCHER_FORGETS_S } from '../../model/limits/watcher'

/** The attempts for one instance, as in the file. */
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

/** An unreadable file counts as missing: all attempts begin again, and all nodes count as just booted. */
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

/** Drops removed instances, and attempts that are too old. */
export function forgetOld(memory: Memory, there: (name: string) => boolean, now_s: number): Memory {
  const isOld = ({ restart_when = 0, cleanup_when = 0 }: Tries) =>
    Math.max(restart_when, cleanup_when) < now_s - WATCHER_FORGETS_S
  const kept = Object.entries(memory.instance).filter(([name, tries]) => there(name) && !isOld(tries))
  return { ...memory, instance: Object.fromEntries(kept) }
}
