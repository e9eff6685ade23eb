// When the cluster has changed last, for answers that are not asked for again by themselves: they say that they are of before.
import { useSyncExternalStore } from 'react'
import type { ClusterEvent } from './event-stream'

/** Events of other types, such as those of jobs, change nothing by themselves. */
const TYPES: ReadonlySet<string> = new Set(['config', 'instance', 'node', 'master'])
const KINDS: ReadonlySet<string> = new Set(['cluster', 'group', 'node', 'instance', 'disk'])

let last_ms = -Infinity
const watchers = new Set<() => void>()

export const lastChange = {
  /** At a time of this machine. */
  note(now_ms: number): void {
    last_ms = now_ms
    for (const watcher of watchers) watcher()
  },
  isSince: (time_ms: number): boolean => last_ms >= time_ms,
  subscribe(watcher: () => void) {
    watchers.add(watcher)
    return () => void watchers.delete(watcher)
  },
}

export const isChange = ({ type, objects }: ClusterEvent): boolean =>
  TYPES.has(type) && objects.some((object) => KINDS.has(object.split('/')[0] ?? ''))

const askedAt = new WeakMap<object, number>()

/** Remembers when an answer was asked for: what changes while it is on its way may be missing in it. */
export async function timed<T>(ask: () => Promise<T>): Promise<T> {
  const now_ms = Date.now()
  const answer = await ask()
  if (typeof answer === 'object' && answer !== null) askedAt.set(answer, now_ms)
  return answer
}

/** Undefined for an answer that was not timed. */
export const timeOf = (answer: object | undefined): number | undefined =>
  answer === undefined ? undefined : askedAt.get(answer)

/** Whether the cluster has changed since an answer was asked for. */
export function useIsOld(answer: object | undefined): boolean {
  const time_ms = timeOf(answer) ?? Infinity
  return useSyncExternalStore(lastChange.subscribe, () => lastChange.isSince(time_ms))
}
