import { fillNdParams } from '../config/filled'
import { instanceDict } from '../config/rpc-dicts'
import type { Clock } from '../lib/clock'
import { Pace } from '../lib/pace'
import { mapInSlices } from '../lib/slices'
import type { ConfigData, Instance, Node } from '../model/config'
import {
  STORAGE_TYPES_NODE_STORAGE,
  STORAGE_TYPES_REPORTED,
  STORAGE_TYPE_OF_TEMPLATE,
  type StorageType,
} from '../model/constants/disks'
import {
  CONSOLES_AT_ONCE,
  LISTS_ASK_AT_ONCE,
  LISTS_ASK_PATIENCE_S,
  LIVE_ANSWER_S,
  NODES_ASKED_AT_ONCE,
} from '../model/limits'
import type { LiveData, LiveResults } from '../query/live-data'
import type { ArgsOf, CallName, ResultOf } from '../rpc/node/calls'
import { NO_ANSWER, type NodeResult } from '../rpc/node/client'
import type { ConsoleRequest, StorageUnit } from '../rpc/node/dicts'
import type { LastKnown } from './last-known'
import type { Hear, NodeQuestions } from './node-questions'
import { Shared } from './shared'

/**
 * Live data from the nodes: all are asked at once, with one call to a node however many queries want its answer, and none is waited
 * for longer than the limit.
 */
export class NodeLiveData implements LiveData {
  private readonly shared = new Shared()
  /** A list asks a thousand nodes: all at once, whoever looks at one instance would wait for all their answers. */
  private readonly sharedByLists: Shared

  constructor(
    private readonly questions: NodeQuestions,
    private readonly clock: Clock,
    /** Learns what is heard; absent where nobody asks for it. */
    private readonly known?: LastKnown,
  ) {
    this.sharedByLists = new Shared(new Pace({ size: LISTS_ASK_AT_ONCE, patience_s: LISTS_ASK_PATIENCE_S }, clock))
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

  /** Not shared: each query names its own instances. What a node is told lives no longer than it takes to send it. */
  async consoles(config: ConfigData, instances: readonly Instance[]) {
    const byNode = new Map<Node, Instance[]>()
    for (const instance of instances) {
      const node = config.nodes[instance.primary_node]
      const known = node && byNode.get(node)
      if (known) known.push(instance)
      else if (node) byNode.set(node, [instance])
    }
    const atOnce = Math.ceil((CONSOLES_AT_ONCE * byNode.size) / Math.max(1, instances.length))
    const asked = await mapInSlices([...byNode], atOnce, ([node, own]) =>
      this.questions.all([node], 'instance_console_info', [consoleRequests(config, own, node)]),
    )
    return new Map((await Promise.all(asked)).flatMap((answers) => [...answers]))
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

  /** `version` tells requests with other arguments apart: they follow from the configuration alone. */
  private async ask<C extends CallName>(
    nodes: readonly Node[],
    call: C,
    version: number,
    argsOf: (node: Node) => ArgsOf<C>,
    { hear }: { hear?: (node: Node) => Hear<C> } = {},
  ): Promise<LiveResults<ResultOf<C>>> {
    const limit = new AbortController()
    // An answer that is shared may begin only after another one that is slow.
    const late = this.clock.sleep(LIVE_ANSWER_S * 1000, limit.signal).then(
      () => NO_ANSWER,
      () => NO_ANSWER,
    )
    const sharing = nodes.length > NODES_ASKED_AT_ONCE ? this.sharedByLists : this.shared
    const asked = await mapInSlices(nodes, NODES_ASKED_AT_ONCE, (node) => {
      const question = () => this.questions.ask(node, call, argsOf(node), hear?.(node))
      const shared = sharing.run(`${call} ${node.uuid} ${version}`, question)
      const answer = Promise.race([shared, late]).then(
        (result: NodeResult<ResultOf<C>>) => [node.uuid, result] as const,
      )
      // Whoever waits for all hears of it.
      answer.catch(() => undefined)
      return answer
    })
    return Promise.all(asked)
      .then((answers) => new Map(answers))
      .finally(() => limit.abort())
  }
}

/** `[name, cluster-wide parameters]` of every enabled hypervisor, the default one first. */
function hypervisorSpecs({ cluster }: ConfigData): [name: string, hvparams: Readonly<Record<string, unknown>>][] {
  return cluster.enabled_hypervisors.map((name) => [name, cluster.hvparams[name] ?? {}])
}

/** The storage of the first enabled template whose space nodes can tell; with LVM its spindles too. */
export function storageUnits(config: ConfigData, node: Node): StorageUnit[] {
  const types = config.cluster.enabled_disk_templates.map((template) => STORAGE_TYPE_OF_TEMPLATE[template])
  const type =
    types.find((candidate) => STORAGE_TYPES_REPORTED.includes(candidate)) ??
    types.find((candidate) => STORAGE_TYPES_NODE_STORAGE.includes(candidate))
  if (type === undefined) return []
  const key = storageKey(config, type)
  if (type !== 'lvm-vg') return [[type, key, []]]
  const exclusive = fillNdParams(config, node).exclusive_storage
  return [
    ['lvm-vg', key, [exclusive]],
    ['lvm-pv', key, [exclusive]],
  ]
}

function storageKey({ cluster }: ConfigData, type: StorageType): string {
  if (type === 'file') return cluster.file_storage_dir
  if (type === 'sharedfile') return cluster.shared_file_storage_dir
  return type === 'gluster' ? cluster.gluster_storage_dir : (cluster.volume_group_name ?? '')
}

const consoleRequests = (config: ConfigData, instances: readonly Instance[], node: Node) =>
  Object.fromEntries(instances.map((instance) => [instance.name, consoleRequest(config, instance, node)]))

function consoleRequest(config: ConfigData, instance: Instance, node: Node): ConsoleRequest {
  const dict = instanceDict(config, instance)
  return {
    instance: dict,
    node: { ...node },
    group: { ...config.nodegroups[node.group] },
    hvParams: dict.hvparams,
    beParams: { ...dict.beparams },
  }
}
