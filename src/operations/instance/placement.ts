// Choosing a node for an instance: the built-in allocator `hail` over the nodes' live data.
import { firstFit, type CandidateNode, type Demand } from '../../allocation/first-fit'
import { fillBeParams, fillHvParams } from '../../config/filled'
import type { ConfigData, DiskTemplate, Hypervisor, Instance, Node } from '../../model/config'
import { BUILTIN_IALLOCATOR } from '../../model/constants/words'
import { ECODE, OpPrereqError } from '../../model/errors'
import type { NodeInfo, StorageUnit } from '../../rpc/node/dicts'
import type { UnitContext } from '../unit-context'

/** Stands for the cluster's default allocator. */
const DEFAULT_SHORTCUT = '.'

/** The allocator to use, undefined when a node was given; Ganeti's refusals when it is both or neither. */
export function allocatorFor(config: ConfigData, iallocator?: string, node?: string): string | undefined {
  if (node !== undefined && iallocator !== undefined)
    throw new OpPrereqError('Do not specify both, iallocator and node', ECODE.INVAL)
  if (node !== undefined) return undefined
  const wanted =
    iallocator === undefined || iallocator === DEFAULT_SHORTCUT ? config.cluster.default_iallocator : iallocator
  if (wanted === '')
    throw new OpPrereqError(
      'No iallocator or node given and no cluster-wide default iallocator found; please specify either an iallocator or a node, or set a cluster-wide default iallocator',
      ECODE.INVAL,
    )
  if (wanted !== BUILTIN_IALLOCATOR)
    throw new OpPrereqError(
      `Can't find iallocator script '${wanted}'; this version has the built-in '${BUILTIN_IALLOCATOR}' only`,
      ECODE.INVAL,
    )
  return wanted
}

export interface PlacementRequest {
  readonly name: string
  readonly hypervisor: Hypervisor
  readonly template: DiskTemplate
  readonly demand: Demand
  /** Only nodes whose locks are held. */
  readonly among: readonly string[] | 'all'
  /** MiB, by node uuid: promised to instances that have been placed just before. */
  readonly promised_mib?: ReadonlyMap<string, number>
}

/** The node, or why there is none. */
export async function place(ctx: UnitContext, request: PlacementRequest): Promise<Node | string> {
  const config = await ctx.config.read({ nodes: 'all', instances: 'all', groups: 'all' })
  const nodes = Object.values(config.nodes).filter(
    (node) => request.among === 'all' || request.among.includes(node.uuid),
  )
  const live = await liveOf(ctx, config, nodes, request)
  const candidates = nodes.map((node) => candidateOf(config, node, live, request.promised_mib?.get(node.uuid)))
  const groups = Object.values(config.nodegroups).map((group) => ({
    uuid: group.uuid,
    name: group.name,
    policy: group.alloc_policy,
  }))
  const placement = firstFit(candidates, groups, request.demand)
  return placement.ok ? (config.nodes[placement.node.uuid] ?? 'the node is gone') : placement.why
}

export async function chooseNode(ctx: UnitContext, allocator: string, request: PlacementRequest): Promise<Node> {
  const node = await place(ctx, request)
  if (typeof node === 'string')
    throw new OpPrereqError(`Can't compute nodes using iallocator '${allocator}': ${node}`, ECODE.NORES)
  ctx.log.info(`Selected nodes for instance ${request.name} via iallocator ${allocator}: ${node.name}`)
  return node
}

async function liveOf(
  ctx: UnitContext,
  config: ConfigData,
  nodes: readonly Node[],
  { hypervisor, template }: PlacementRequest,
): Promise<ReadonlyMap<string, NodeInfo>> {
  const { cluster } = config
  const hvparams = fillHvParams(cluster, { hypervisor, os: '', hvparams: {} })
  const storage: StorageUnit[] = template === 'file' ? [['file', cluster.file_storage_dir, []]] : []
  const asked = nodes.filter((node) => !node.offline && node.vm_capable)
  const results = await ctx.nodes.many(asked, 'node_info', [storage, [[hypervisor, hvparams]]])
  return new Map([...results].flatMap(([uuid, result]) => (result.ok ? [[uuid, result.payload] as const] : [])))
}

function candidateOf(
  config: ConfigData,
  node: Node,
  live: ReadonlyMap<string, NodeInfo>,
  promised_mib = 0,
): CandidateNode {
  const info = live.get(node.uuid)
  const [, [storage], [hypervisor]] = info ?? [undefined, [], []]
  const own = Object.values(config.instances).filter((instance) => instance.primary_node === node.uuid)
  const be = (instance: Instance) => fillBeParams(config.cluster, instance.beparams)
  return {
    uuid: node.uuid,
    name: node.name,
    group: node.group,
    offline: node.offline,
    drained: node.drained,
    vmCapable: node.vm_capable,
    ...(hypervisor && {
      live: {
        memoryFree_mib: hypervisor.memory_free,
        ...(storage && { diskFree_mib: storage.storage_free }),
      },
    }),
    promised_mib: own
      .filter((instance) => instance.forthcoming)
      .reduce((sum, instance) => sum + be(instance).minmem, promised_mib),
  }
}
