// The ssconf files on every node. A node gets only the values that it lacks, one call at a time. A silent node holds up
// no other, and is tried again. Changes of the configuration never wait for this.
import type { ConfigStore, Delta } from '../config/store'
import { ssconfLines } from '../config/ssconf'
import { recordValues } from '../config/records'
import { eachBounded } from '../lib/work/bounded'
import type { Clock, Timer } from '../lib/clock'
import type { Log } from '../lib/log'
import type { ConfigData } from '../model/config'
import type { NodeUuid } from '../model/ids'
import { SSCONF_NODES_AT_ONCE, SSCONF_RETRY_S } from '../model/limits/replication'
import type { ArgsOf } from '../rpc/node/calls'
import type { NodeClient, NodeTarget } from '../rpc/node/client'

type Values = Readonly<Record<string, readonly string[]>>

export interface DistributionOptions {
  nodes: NodeClient
  clock: Clock
  log: Log
  store: Pick<ConfigStore, 'current'>
}

export class SsconfDistribution {
  private readonly copies = new Map<NodeUuid, NodeSsconf>()
  private readonly differences = new Differences()
  private readonly instanceNames: Map<string, string>
  private planned: Promise<void> | undefined

  constructor(private readonly options: DistributionOptions) {
    const instances = recordValues(options.store.current().instances)
    this.instanceNames = new Map(instances.map(({ uuid, name }) => [uuid, name]))
  }

  /** Most changes, such as an instance's state, do not affect ssconf, and cost nothing here. */
  changed(delta: Delta, config: ConfigData): void {
    let affected = [delta.nodes, delta.nodegroups, delta.networks].some((part) => part !== undefined)
    affected ||= Object.keys(delta.cluster ?? {}).some((field) => !UNTOLD.has(field))
    for (const uuid of Object.keys(delta.instances ?? {})) {
      const name = config.instances[uuid]?.name
      if (name === this.instanceNames.get(uuid)) continue
      affected = true
      if (name === undefined) this.instanceNames.delete(uuid)
      else this.instanceNames.set(uuid, name)
    }
    if (affected) void this.request()
  }

  /** Resolves when each node has the current values, or has failed to take them. Concurrent requests are combined. */
  request(): Promise<void> {
    this.planned ??= Promise.resolve().then(() => {
      this.planned = undefined
      return this.distribute()
    })
    return this.planned
  }

  /** Sends every value to every node again. */
  forget(): void {
    for (const copy of this.copies.values()) copy.forget()
  }

  close(): void {
    for (const copy of this.copies.values()) copy.close()
  }

  private async distribute(): Promise<void> {
    const config = this.options.store.current()
    const values = ssconfLines(config)
    const reachable = recordValues(config.nodes).filter(({ offline }) => !offline)
    const uuids = new Set(reachable.map(({ uuid }) => uuid))
    for (const [uuid, copy] of this.copies) {
      if (uuids.has(uuid)) continue
      copy.close()
      this.copies.delete(uuid)
    }
    await eachBounded(reachable, SSCONF_NODES_AT_ONCE, (node) => this.copyOf(node).bring(node, values))
  }

  private copyOf({ uuid }: NodeTarget): NodeSsconf {
    const known = this.copies.get(uuid) ?? new NodeSsconf({ ...this.options, differences: this.differences })
    this.copies.set(uuid, known)
    return known
  }
}

/** Fields of the cluster that jobs change all the time, and that no ssconf file has. */
const UNTOLD: ReadonlySet<string> = new Set(['serial_no', 'mtime', 'highest_used_port', 'tcpudp_port_pool'])

class NodeSsconf {
  /** The values that the node has, as far as we know. */
  private sent = NOTHING
  private wanted: { target: NodeTarget; values: Values } | undefined
  private running: Promise<void> | undefined
  private failing = false
  private timer: Timer | undefined
  private closed = false

  constructor(
    private readonly options: Pick<DistributionOptions, 'nodes' | 'clock' | 'log'> & { differences: Differences },
  ) {}

  bring(target: NodeTarget, values: Values): Promise<void> {
    this.wanted = { target, values }
    return this.run()
  }

  forget(): void {
    this.sent = NOTHING
  }

  close(): void {
    this.closed = true
    this.timer?.cancel()
  }

  private run(): Promise<void> {
    this.timer?.cancel()
    this.running ??= this.send().finally(() => (this.running = undefined))
    return this.running
  }

  private async send(): Promise<void> {
    while (this.wanted && !this.closed) {
      const { target, values } = this.wanted
      const missing = this.options.differences.between(this.sent, values)
      if (Object.keys(missing[0]).length === 0) return
      try {
        await this.options.nodes.one(target, 'write_ssconf_files', missing)
        this.sent = values
        this.failing = false
      } catch (error) {
        return this.failed(target, error)
      }
    }
  }

  private failed({ name }: NodeTarget, error: unknown): void {
    // After a failed call we do not know which values arrived.
    this.sent = NOTHING
    const { clock, log } = this.options
    if (!this.failing) log.warn({ node: name, err: error }, 'node did not take the ssconf files; it is tried again')
    this.failing = true
    if (!this.closed) this.timer = clock.after(SSCONF_RETRY_S * 1000, () => void this.run(), { background: true })
  }
}

const NOTHING: Values = {}

/** Most nodes have and lack the same values, so the difference is computed and encoded once for all of them. */
class Differences {
  private readonly known = new Map<Values, ArgsOf<'write_ssconf_files'>>()
  private after: Values | undefined

  between(before: Values, after: Values): ArgsOf<'write_ssconf_files'> {
    if (this.after !== after) this.known.clear()
    this.after = after
    const known = this.known.get(before)
    if (known !== undefined) return known
    const missing: ArgsOf<'write_ssconf_files'> = [differences(before, after)]
    Object.freeze(missing)
    this.known.set(before, missing)
    return missing
  }
}

function differences(before: Values, after: Values): Values {
  const same = (a: readonly string[] | undefined, b: readonly string[]) =>
    a !== undefined && a.length === b.length && a.every((line, index) => line === b[index])
  return Object.fromEntries(Object.entries(after).filter(([key, lines]) => !same(before[key], lines)))
}
