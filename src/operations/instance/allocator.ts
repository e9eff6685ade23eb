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
  return wanted
}

export interface Picture {
  readonly config: ConfigData
  readonly model: ClusterModel
  readonly options: AllocOptions
}

/** `template`: whose storage is counted. */
export async function clusterNow(ctx: UnitContext, template: DiskTemplate): Promise<Picture> {
  const config = await ctx.config.read({ nodes: 'all', instances: 'all', groups: 'all' })
  const data = clusterDataOf(config, await liveNodes(ctx, config, template))
  return { config, model: buildModel(data), options: optionsOf(config.cluster) }
}

/** What the cluster tells its allocator: a parameter without a value is an option that is switched on. */
function optionsOf({ default_iallocator_params: given }: Cluster): AllocOptions {
  const on = (name: string) => Object.hasOwn(given, name)
  return {
    ...ALLOC_DEFAULTS,
    ignoreSoftErrors: on('ignore-soft-errors'),
    capacity: !on('no-capacity-checks'),
  }
}
