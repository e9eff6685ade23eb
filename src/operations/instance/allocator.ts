// Which allocator is asked, and the cluster as the built-in one, `hail`, sees it now.
import { ALLOC_DEFAULTS, type AllocOptions } from '../../allocation/allocate'
import { type ClusterModel, buildModel } from '../../allocation/cluster-model'
import { clusterDataOf } from '../../allocation/from-config'
import type { Cluster, ConfigData, DiskTemplate } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import type { UnitContext } from '../unit-context'
import { liveNodes } from './live-nodes'

/** Stands for the cluster's default allocator. */
const DEFAULT_SHORTCUT = '.'

/** The allocator to use, undefined when a node was given; Ganeti's refusals when it is both or neither. */
export function allocatorFor(
  ctx: UnitContext,
  config: ConfigData,
  iallocator?: string,
  node?: string,
): string | undefined {
  if (node !== undefined && iallocator !== undefined) throw refusal('Do not specify both, iallocator and node')
  if (node !== undefined) return undefined
  return givenOrDefault(ctx, config, iallocator, NEITHER)
}

/** The same where there can be no node. */
export const allocatorOfGroups = (ctx: UnitContext, config: ConfigData, iallocator?: string): string =>
  givenOrDefault(
    ctx,
    config,
    iallocator,
    'No iallocator was specified, neither in the opcode nor as a cluster-wide default',
  )

const NEITHER =
  'No iallocator or node given and no cluster-wide default iallocator found; please specify either an iallocator or a node, or set a cluster-wide default iallocator'

/** The job shows which one it is. */
export function givenOrDefault(
  ctx: UnitContext,
  { cluster }: ConfigData,
  iallocator: string | undefined,
  missing: string,
): string {
  if (iallocator !== undefined && iallocator !== DEFAULT_SHORTCUT) return iallocator
  if (cluster.default_iallocator === '') throw refusal(missing)
  ctx.note({ iallocator: cluster.default_iallocator })
  return cluster.default_iallocator
}

const refusal = (text: string) => new OpPrereqError(text, ECODE.INVAL)

export interface Picture {
  readonly config: ConfigData
  readonly model: ClusterModel
  readonly options: AllocOptions
}

/** `template`: whose storage is counted. */
export async function clusterNow(ctx: UnitContext, template: DiskTemplate): Promise<Picture> {
  const config = await ctx.config.read({ nodes: 'all', instances: 'all', groups: 'all' })
  const data = await clusterDataOf(config, await liveNodes(ctx.nodes, config, template))
  return { config, model: buildModel(data), options: optionsOf(config.cluster) }
}

/** What the cluster tells its allocator: a parameter without a value is an option that is switched on. */
export function optionsOf({ default_iallocator_params: given }: Cluster): AllocOptions {
  const on = (name: string) => Object.hasOwn(given, name)
  return {
    ...ALLOC_DEFAULTS,
    ignoreSoftErrors: on('ignore-soft-errors'),
    capacity: !on('no-capacity-checks'),
  }
}
