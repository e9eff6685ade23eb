// Live data for queries. A node is asked once for all queries that want the same at that moment.
import { fillNdParams, hvParamsFiller } from '../../config/filled'
import { consoleRequest } from '../../config/rpc-dicts'
import type { Clock, Timer } from '../../lib/clock'
import { ConcurrencyLimit } from '../../lib/work/concurrency-limit'
import { mapInSlices } from '../../lib/work/slices'
import type { ConfigData, Instance, Node } from '../../model/config'
import { STORAGE_TYPES_NODE_STORAGE, STORAGE_TYPES_REPORTED } from '../../model/constants/disks'
import { CONSOLES_AT_ONCE, LISTS_ASK_AT_ONCE, LISTS_ASK_PATIENCE_S, LIVE_ANSWER_S } from '../../model/limits/live-data'
import { NODES_ASKED_AT_ONCE } from '../../model/limits/node-calls'
import { ROWS_AT_ONCE } from '../../model/limits/queries'
import type { LiveData, LiveResults } from '../../query/live-data'
import type { ArgsOf, CallName, ResultOf } from '../../rpc/node/calls'
import { NO_ANSWER, type NodeResult } from '../../rpc/node/client'
import type { StorageUnit } from '../../rpc/node/dicts'
import type { NodeCache } from './node-cache'
import type { Hear, NodeProber } from './node-prober'
import { Shared } from './shared'
import { directoryOf, factsOf, type StorageType } from '../../model/templates'

/**
 * Live data from the nodes. All nodes are asked at once, with one call to each node however many queries want its
 * answer. No node is waited for longer than the limit.
 */
export class NodeLiveData implements LiveData {
  private readonly shared = new Shared()
  /**
   * A list asks a thousand nodes. If it asked all at once, a caller that wants one instance would wait for all their
   * answers.
   */
  private readonly listPace: ConcurrencyLimit
  private readonly sharedByLists: Shared

  constructor(
    private readonly questions: NodeProber,
    private readonly clock: Clock,
    /** Gets each answer. Missing if nobody reads it. */
    private readonly known?: NodeCache,
  ) {
    this.listPace = new ConcurrencyLimit({ size: LISTS_ASK_AT_ONCE, patience_s: LISTS_ASK_PATIENCE_S }, clock)
    this.sharedByLists = new Shared(this.listPace)
  }

  nodeInfo(config: ConfigData, nodes: readonly Node[]) {
    const specs = hypervisorSpecs(config).slice(0, 1)
    return this.ask(nodes, 'node_info', config.serial_no, (node) => [storageUnits(config, node), specs], {
      hear: (node) => (info, asked_ms) => this.known?.learnNode(node.uuid, info, asked_ms),
    })
  }

  instanceInfo(config: ConfigData, nodes: readonly Node[]) {
    const specs = hypervisorSpecs(config)
    const args: ArgsOf<'all_instances_info'> = [specs.map(([name]) => name), Object.fromEntries(specs)]
    Object.freeze(args)
    return this.ask(nodes, 'all_instances_info', config.serial_no, () => args, {
      hear: (node) => (runtimes, asked_ms) => this.known?.learnRunning(node.uuid, runtimes, asked_ms),
    })
  }

  /** Not shared, because each query names its own instances. The request is not kept after it is sent. */
  consoles(config: ConfigData, instances: readonly Instance[]) {
    const byNode = new Map<Node, Instance[]>()
    for (const instance of instances) {
      const node = config.nodes[instance.primary_node]
      const known = node && byNode.get(node)
      if (known) known.push(instance)
      else if (node) byNode.set(node, [instance])
    }
    const hvParams = hvParamsFiller(config.cluster)
    const question = (node: Node) => {
      const own = byNode.get(node) ?? []
      const requests = own.map((one) => [one.name, consoleRequest(config, one, node, hvParams(one))] as const)
      return this.questions.ask(node, 'instance_console_info', [Object.fromEntries(requests)])
    }
    const nodes = [...byNode.keys()]
    const atOnce = Math.ceil((CONSOLES_AT_ONCE * nodes.length) / Math.max(1, instances.length))
    return this.answers(nodes, atOnce, (node) =>
      isList(nodes) ? this.listPace.run(() => question(node)) : question(node),
    )
  }

  exports(nodes: readonly Node[]) {
    return this.ask(nodes, 'export_list', 0, () => [])
  }

  operatingSystems(nodes: readonly Node[]) {
    return this.ask(nodes, 'os_diagnose', 0, () => [])
  }

  extStorage(nodes: readonly Node[]) {
    return this.ask(nodes, 'extstorage_diagnose', 0, () => [])
  }

  /** `version` distinguishes requests with different arguments, which follow from the configuration alone. */
  private ask<C extends CallName>(
    nodes: readonly Node[],
    call: C,
    version: number,
    argsOf: (node: Node) => ArgsOf<C>,
    { hear }: { hear?: (node: Node) => Hear<C> } = {},
  ): Promise<LiveResults<ResultOf<C>>> {
    const sharing = isList(nodes) ? this.sharedByLists : this.shared
    return this.answers(nodes, ROWS_AT_ONCE, (node) => {
      const question = () => this.questions.ask(node, call, argsOf(node), hear?.(node))
      return sharing.run(`${call} ${node.uuid} ${version}`, question)
    })
  }

  private async answers<T>(
    nodes: readonly Node[],
    atOnce: number,
    askOne: (node: Node) => Promise<NodeResult<T>>,
  ): Promise<LiveResults<T>> {
    // The call may start late, after slow ones.
    let limit: Timer | undefined
    const late = new Promise<typeof NO_ANSWER>((resolve) => {
      limit = this.clock.after(LIVE_ANSWER_S * 1000, () => resolve(NO_ANSWER))
    })
    const requested = await mapInSlices(nodes, atOnce, (node) => {
      const answer = Promise.race([askOne(node), late]).then((result: NodeResult<T>) => [node.uuid, result] as const)
      // Promise.all() reports the failure; this only avoids an unhandled rejection.
      answer.catch(() => undefined)
      return answer
    })
    return Promise.all(requested)
      .then((answers) => new Map(answers))
      .finally(() => limit?.cancel())
  }
}

const isList = (nodes: readonly Node[]): boolean => nodes.length > NODES_ASKED_AT_ONCE

/** `[name, cluster-wide parameters]` of every enabled hypervisor, the default one first. */
function hypervisorSpecs({ cluster }: ConfigData): [name: string, hvparams: Readonly<Record<string, unknown>>][] {
  return cluster.enabled_hypervisors.map((name) => [name, cluster.hvparams[name] ?? {}])
}

/** The storage of the first enabled template whose space nodes can report; with LVM also its spindles. */
export function storageUnits(config: ConfigData, node: Node): StorageUnit[] {
  const templates = config.cluster.enabled_disk_templates
  const counted = (types: readonly StorageType[]) => templates.find((one) => types.includes(factsOf(one).storage))
  const template = counted(STORAGE_TYPES_REPORTED) ?? counted(STORAGE_TYPES_NODE_STORAGE)
  if (template === undefined) return []
  const type = factsOf(template).storage
  const key = directoryOf(config.cluster, template) ?? config.cluster.volume_group_name ?? ''
  if (type !== 'lvm-vg') return [[type, key, []]]
  const exclusive = fillNdParams(config, node).exclusive_storage
  return [
    ['lvm-vg', key, [exclusive]],
    ['lvm-pv', key, [exclusive]],
  ]
}
