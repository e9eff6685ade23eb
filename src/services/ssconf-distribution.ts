// The ssconf files on every node. Only nodes that lack a value are sent anything, and only the values they lack; a node that does
// not answer is tried again. Changes never wait for it.
import type { ConfigStore, Delta } from '../config/store'
import { ssconfLines } from '../config/ssconf'
import { recordValues } from '../config/records'
import type { Clock, Timer } from '../lib/clock'
import type { Log } from '../lib/log'
import type { ConfigData } from '../model/config'
import type { NodeUuid } from '../model/ids'
import { SSCONF_RETRY_S } from '../model/limits'
import type { NodeClient, NodeTarget } from '../rpc/node/client'

type Values = Record<string, string[]>

export interface DistributionOptions {
  nodes: NodeClient
  clock: Clock
  log: Log
  store: Pick<ConfigStore, 'current'>
}

export class SsconfDistribution {
  /** What each node is known to have. */
  private readonly sent = new Map<NodeUuid, Values>()
  private readonly instanceNames: Map<string, string>
  private readonly failing = new Set<NodeUuid>()
  private running: Promise<void> | undefined
  private again = false
  private timer: Timer | undefined
  private closed = false

  constructor(private readonly options: DistributionOptions) {
    const instances = recordValues(options.store.current().instances)
    this.instanceNames = new Map(instances.map(({ uuid, name }) => [uuid, name]))
  }

  /** Most changes, like an instance's state, touch nothing that ssconf shows, and cost nothing here. */
  changed(delta: Delta, config: ConfigData): void {
    let affected = [delta.nodes, delta.nodegroups, delta.networks, delta.cluster].some((part) => part !== undefined)
    for (const uuid of Object.keys(delta.instances ?? {})) {
      const name = config.instances[uuid]?.name
      if (name === this.instanceNames.get(uuid)) continue
      affected = true
      if (name === undefined) this.instanceNames.delete(uuid)
      else this.instanceNames.set(uuid, name)
    }
    if (affected) void this.request()
  }

  /** Brings all nodes up to date; resolves when each has answered or failed. Requests during a round make one more round. */
  request(): Promise<void> {
    if (this.closed) return Promise.resolve()
    this.again = true
    this.running ??= this.rounds().finally(() => (this.running = undefined))
    return this.running
  }

  /** Every node gets every value again. */
  forget(): void {
    this.sent.clear()
  }

  async close(): Promise<void> {
    this.closed = true
    this.again = false
    this.timer?.cancel()
    await this.running
  }

  private async rounds(): Promise<void> {
    // Changes that come together make one round.
    await Promise.resolve()
    while (this.again) {
      this.again = false
      await this.round().catch((error: unknown) => this.options.log.error({ err: error }, 'ssconf was not distributed'))
    }
  }

  private async round(): Promise<void> {
    const config = this.options.store.current()
    const values = ssconfLines(config)
    const lacking = new Map<NodeUuid, Values>()
    const targets: NodeTarget[] = []
    for (const node of recordValues(config.nodes)) {
      const missing = differences(this.sent.get(node.uuid) ?? {}, values)
      if (node.offline || Object.keys(missing).length === 0) continue
      lacking.set(node.uuid, missing)
      targets.push(node)
    }
    const results = await this.options.nodes.all(targets, 'write_ssconf_files', ({ uuid }) => [lacking.get(uuid) ?? {}])
    for (const { uuid, name } of targets) {
      const result = results.get(uuid)
      if (result?.ok) this.succeeded(uuid, values)
      else this.failed(uuid, name, result?.error ?? 'no answer')
    }
    this.timer?.cancel()
    const retry = this.failing.size > 0 && !this.closed
    if (retry)
      this.timer = this.options.clock.after(SSCONF_RETRY_S * 1000, () => void this.request(), { background: true })
  }

  private succeeded(uuid: NodeUuid, values: Values): void {
    this.sent.set(uuid, values)
    this.failing.delete(uuid)
  }

  private failed(uuid: NodeUuid, name: string, error: string): void {
    // What arrived of a call that failed is not known.
    this.sent.delete(uuid)
    if (!this.failing.has(uuid)) this.options.log.warn({ node: name, error }, 'node did not take the ssconf files')
    this.failing.add(uuid)
  }
}

function differences(before: Values, after: Values): Values {
  const same = (a: readonly string[] | undefined, b: readonly string[]) =>
    a !== undefined && a.length === b.length && a.every((line, index) => line === b[index])
  return Object.fromEntries(Object.entries(after).filter(([key, lines]) => !same(before[key], lines)))
}
