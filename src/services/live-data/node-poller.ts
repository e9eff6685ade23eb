// Looks at every node in turn, so that its last known data stays fresh. A node gets one look at a time, and all nodes
// together few per second. So in a cluster of a thousand nodes each node is looked at less often, and the load stays
// the same.
import { nodeAtAddress } from '../../config/lookup'
import { recordValues } from '../../config/records'
import type { Clock } from '../../lib/clock'
import { CountedLog } from '../../lib/counted-log'
import type { Log } from '../../lib/log'
import { errorText } from '../../lib/system-failure'
import type { ConfigData, Node } from '../../model/config'
import type { NodeUuid } from '../../model/ids'
import {
  NODE_LOOKS_PER_S,
  NODE_LOOKS_SHARE,
  NODE_LOOK_AGAIN_S,
  NODE_LOOK_FAILED_EVERY_S,
  NODE_LOOK_S,
  NODE_LOOK_SOON_S,
  NODE_SILENT_S,
  NODE_SILENT_SLOW_S,
} from '../../model/limits/live-data'
import type { LiveData } from '../../query/live-data'
import type { NodeResult } from '../../rpc/node/client'
import type { NodeCache, Question } from './node-cache'

interface Parts {
  readonly clock: Clock
  readonly live: Pick<LiveData, 'nodeInfo' | 'instanceInfo'>
  readonly known: NodeCache
  readonly log: Log
  config(): ConfigData
  /** A node answers again after silence, or after its daemon has ended meanwhile. */
  returned?(node: Node): void
  /** A node does not answer, so nobody knows any more what runs there; or it answers again. */
  turned?(node: Node, change: 'silent' | 'back', why?: string): void
  /** Every node has been looked at once. */
  lookedAtAll?(): void
  /** The node answers other questions than those of looks. */
  isSlow?(node: NodeUuid): boolean
}

interface Due {
  at_ms: number
  looking: boolean
  /** Whether a look has ended, well or not. */
  looked: boolean
  /** When the last look began. */
  begun_ms: number
  /** How long the last answer took. */
  took_ms: number
}

export class NodePoller {
  private readonly due = new Map<NodeUuid, Due>()
  private readonly stop = new AbortController()
  private wake = new AbortController()
  private nodes: ConfigData['nodes'] | undefined
  /** Nodes that did not answer the last look, or have closed connections since. */
  private readonly away = new Set<NodeUuid>()
  /** Nodes that do not answer for so long that nothing is known of them. */
  private readonly silent = new Set<NodeUuid>()

  /** Whether every node has been looked at once. */
  private lookedAtAll = false
  private readonly failed: CountedLog

  constructor(private readonly parts: Parts) {
    this.failed = new CountedLog({ ...parts, every_s: NODE_LOOK_FAILED_EVERY_S }, 'a look at a node failed')
  }

  start(): void {
    void this.run()
  }

  close(): void {
    this.stop.abort()
    this.wake.abort()
  }

  /** Something changed there: the node is looked at soon, but with a minimum interval. */
  soon(node: NodeUuid): void {
    const due = this.due.get(node)
    if (due === undefined) return
    const took_ms = this.away.has(node) ? 0 : due.took_ms
    const pause_ms = Math.max(NODE_LOOK_SOON_S * 1000, took_ms / NODE_LOOKS_SHARE)
    due.at_ms = Math.min(due.at_ms, Math.max(this.now(), due.begun_ms + pause_ms))
    this.wake.abort()
  }

  /** The daemon at this address has closed a connection, so it may have ended. */
  hungUp(address: string): void {
    const node = nodeAtAddress({ nodes: this.nodes ?? {} }, address)
    if (node === undefined) return
    this.away.add(node.uuid)
    this.soon(node.uuid)
  }

  private async run(): Promise<void> {
    while (!this.stop.signal.aborted) {
      const pause_ms = this.turn()
      if (pause_ms > 0) await this.sleep(pause_ms)
      else await this.parts.clock.sleep(1000 / NODE_LOOKS_PER_S, this.stop.signal).catch(() => undefined)
    }
  }

  /** Looks at the next node. If none is due, returns how long to wait. */
  private turn(): number {
    try {
      const next = this.next()
      const pause_ms = next === undefined ? NODE_LOOK_AGAIN_S * 1000 : next.due.at_ms - this.now()
      if (next !== undefined && pause_ms <= 0) void this.look(next.config, next.node, next.due)
      return pause_ms
    } catch (error) {
      this.failed.add(errorText(error), { err: error })
      return NODE_LOOK_AGAIN_S * 1000
    }
  }

  /** Until it is time, or a node is due sooner. */
  private async sleep(pause_ms: number): Promise<void> {
    if (this.wake.signal.aborted) this.wake = new AbortController()
    await this.parts.clock.sleep(pause_ms, this.wake.signal).catch(() => undefined)
  }

  /** The node that has waited longest. */
  private next(): { config: ConfigData; node: Node; due: Due } | undefined {
    const config = this.parts.config()
    this.forgetNodes(config)
    let first: { config: ConfigData; node: Node; due: Due } | undefined
    for (const node of recordValues(config.nodes)) {
      if (node.offline || !node.vm_capable) continue
      const due = this.dueOf(node.uuid)
      if (!due.looking && due.at_ms < (first?.due.at_ms ?? Infinity)) first = { config, node, due }
    }
    return first
  }

  private forgetNodes({ nodes }: ConfigData): void {
    if (nodes === this.nodes) return
    this.nodes = nodes
    for (const node of this.due.keys()) if (nodes[node] === undefined) this.due.delete(node)
    for (const set of [this.away, this.silent]) for (const node of set) if (nodes[node] === undefined) set.delete(node)
    this.parts.known.keepOnly((node) => nodes[node] !== undefined)
  }

  private dueOf(node: NodeUuid): Due {
    let due = this.due.get(node)
    if (due === undefined)
      this.due.set(node, (due = { at_ms: this.now(), looking: false, looked: false, begun_ms: 0, took_ms: 0 }))
    return due
  }

  private async look(config: ConfigData, node: Node, due: Due): Promise<void> {
    due.looking = true
    due.begun_ms = this.now()
    // The next look is not due until this one ends, unless somebody wants it sooner.
    due.at_ms = Infinity
    let pause_s = NODE_LOOK_AGAIN_S
    try {
      const reported = await this.ask(config, node)
      if (!reported) this.away.add(node.uuid)
      else if (this.away.delete(node.uuid)) this.parts.returned?.(node)
      due.took_ms = this.now() - due.begun_ms
      if (reported)
        pause_s = Math.max(NODE_LOOK_S, this.due.size / NODE_LOOKS_PER_S, due.took_ms / 1000 / NODE_LOOKS_SHARE)
    } catch (error) {
      this.failed.add(`${node.name}: ${errorText(error)}`, { err: error })
    } finally {
      due.looking = false
      due.looked = true
      this.tellAll()
      due.at_ms = Math.min(due.at_ms, due.begun_ms + pause_s * 1000)
      this.wake.abort()
    }
  }

  private tellAll(): void {
    if (this.lookedAtAll || [...this.due.values()].some(({ looked }) => !looked)) return
    this.lookedAtAll = true
    this.parts.lookedAtAll?.()
  }

  /** Whether the node answered everything. A node that does not tell what runs on it is not asked for more. */
  private async ask(config: ConfigData, node: Node): Promise<boolean> {
    const { live } = this.parts
    const running = (await live.instanceInfo(config, [node])).get(node.uuid)
    const isRunningTold = this.answered(node, running, ['running', 'node'])
    this.tellTurn(node, running)
    if (!isRunningTold) return false
    return this.answered(node, (await live.nodeInfo(config, [node])).get(node.uuid), ['node'])
  }

  private answered(node: Node, result: NodeResult<unknown> | undefined, questions: readonly Question[]): boolean {
    if (result?.ok === true) return true
    const { known, isSlow } = this.parts
    if (result !== undefined) this.failed.add(`${node.name}: ${result.error}`, {})
    const patience_s = isSlow?.(node.uuid) === true ? NODE_SILENT_SLOW_S : NODE_SILENT_S
    for (const question of questions) known.miss(node.uuid, question, patience_s)
    return false
  }

  /** Tells of it once. */
  private tellTurn(node: Node, result: NodeResult<unknown> | undefined): void {
    const { known, turned } = this.parts
    const isSilent = known.isSilent(node.uuid)
    if (isSilent === this.silent.has(node.uuid)) return
    if (isSilent) this.silent.add(node.uuid)
    else this.silent.delete(node.uuid)
    turned?.(node, isSilent ? 'silent' : 'back', result?.ok === false ? result.error : undefined)
  }

  private now = (): number => this.parts.clock.monotonic_ms()
}
