// Calls the watcher when a node is back, so that its instances need not wait for the next run. A node that comes and goes every few
// seconds calls it no more than a few times in the span between two runs.
import type { Clock } from '../../lib/clock'
import type { Node } from '../../model/config'
import type { NodeUuid } from '../../model/ids'
import { WATCHER_EVERY_S, WATCHER_RETURNS_MAX } from '../../model/limits/watcher'
import type { NewEvent } from '../events/event-history'

interface Parts {
  readonly clock: Clock
  add(event: NewEvent): void
  /** Has the watcher run now. */
  call(why: string): void
}

export class NodeReturns {
  /** When each node has called the watcher lately. */
  private readonly calls = new Map<NodeUuid, readonly number[]>()

  constructor(private readonly parts: Parts) {}

  returned({ uuid, name }: Node): void {
    const now_ms = this.parts.clock.monotonic_ms()
    const isLate = (time_ms: number) => now_ms - time_ms < WATCHER_EVERY_S * 1000
    for (const [node, times] of this.calls) if (!times.some(isLate)) this.calls.delete(node)
    const lately = (this.calls.get(uuid) ?? []).filter(isLate)
    // The last place is for saying so.
    if (lately.length > WATCHER_RETURNS_MAX) return
    this.calls.set(uuid, [...lately, now_ms])
    if (lately.length < WATCHER_RETURNS_MAX) return this.parts.call(`node ${name} is back`)
    const why = `it was back ${WATCHER_RETURNS_MAX + 1} times in ${WATCHER_EVERY_S} s; its instances wait for the next run of the watcher`
    this.parts.add({ type: 'watcher', objects: [`node/${name}`], data: { change: 'flapping', node: name, why } })
  }
}
