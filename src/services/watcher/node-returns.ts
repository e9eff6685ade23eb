// Calls the watcher when a node is back, so that its instances need not wait for the next run. A node that comes and
// goes every few seconds can call it only a few times between two regular runs.
import type { Clock } from '../../lib/clock'
import type { Node } from '../../model/config'
import type { NodeUuid } from '../../model/ids'
import { WATCHER_EVERY_S, WATCHER_RETURNS_MAX } from '../../model/limits/watcher'
import type { NewEvent } from '../events/event-history'

interface Parts {
  readonly clock: Clock
  add(event: NewEvent): void
  /** Runs the watcher now. */
  call(why: string): void
}

export class NodeReturns {
  /** The times of each node's recent calls. */
  private readonly calls = new Map<NodeUuid, readonly number[]>()

  constructor(private readonly parts: Parts) {}

  returned({ uuid, name }: Node): void {
    const now_ms = this.parts.clock.monotonic_ms()
    const isLate = (time_ms: number) => now_ms - time_ms < WATCHER_EVERY_S * 1000
    for (const [node, times] of this.calls) if (!times.some(isLate)) this.calls.delete(node)
    const lately = (this.calls.get(uuid) ?? []).filter(isLate)
    // The last entry only serves to report this once.
    if (lately.length > WATCHER_RETURNS_MAX) return
    this.calls.set(uuid, [...lately, now_ms])
    if (lately.length < WATCHER_RETURNS_MAX) return this.parts.call(`node ${name} is back`)
    const why = `it was back ${WATCHER_RETURNS_MAX + 1} times in ${WATCHER_EVERY_S} s; its instances wait for the next run of the watcher`
    this.parts.add({ type: 'watcher', objects: [`node/${name}`], data: { change: 'flapping', node: name, why } })
  }
}
