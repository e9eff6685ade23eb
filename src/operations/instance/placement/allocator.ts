// Chooses the allocator, and supplies the current cluster to the built-in one, `hail`.
import { ALLOC_DEFAULTS, type AllocOptions } from '../../../allocation/model/options'
import { type ClusterModel, buildModel } from '../../../allocation/model/cluster-model'
import { clusterDataOf } from '../../../allocation/sources/from-config'
import { type AllocatorKind, type Allocators, DEFAULT_SHORTCUT } from '../../../model/allocators'
import type { Cluster, ConfigData } from '../../../model/config'
import { ECODE, OpExecError, OpPrereqError, ResultValidationError } from '../../../model/errors'
import type { UnitContext } from '../../unit-context'
import { liveNodes } from './live-nodes'
import { type DiskTemplate, countedTemplate } from '../../../model/templates'

/** The allocators to use; undefined if a node was given. Ganeti's refusals if both or neither are given. */
export async function allocatorsFor(
  ctx: UnitContext,
  kind: AllocatorKind,
  config: ConfigData,
  iallocator?: string,
  node?: string,
): Promise<Allocators | undefined> {
  if (node !== undefined && iallocator !== undefined) throw refusal('Do not specify both, iallocator and node')
  if (node !== undefined) return undefined
  return givenOrDefaults(ctx, kind, config, iallocator, NEITHER)
}

/** The same for questions that cannot name a node. */
export const allocatorsOfGroups = (ctx: UnitContext, config: ConfigData, iallocator?: string): Promise<Allocators> =>
  givenOrDefaults(
    ctx,
    'change-group',
    config,
    iallocator,
    'No iallocator was specified, neither in the opcode nor as a cluster-wide default',
  )

const NEITHER =
  'No iallocator or node given and no cluster-wide default iallocator found; please specify either an iallocator or a node, or set a cluster-wide default iallocator'

/** The job first shows the first allocator, and in the end the one that found a result. */
export async function givenOrDefaults(
  ctx: UnitContext,
  kind: AllocatorKind,
  { cluster }: ConfigData,
  iallocator: string | undefined,
  missing: string,
): Promise<Allocators> {
  if (iallocator !== undefined && iallocator !== DEFAULT_SHORTCUT) return [iallocator]
  const { default_iallocator: general } = cluster
  const [first, ...others] = (await ctx.config.defaultAllocators())[kind] ?? (general === '' ? [] : [general])
  if (first === undefined) throw refusal(missing)
  ctx.note({ iallocator: first })
  return [first, ...others]
}

/** The result of the first allocator that finds one. If none does, throws the last one's error. */
export async function firstThatFinds<T>(
  ctx: UnitContext,
  [first, ...others]: Allocators,
  ask: (allocator: string) => Promise<T>,
): Promise<T> {
  const [next, ...rest] = others
  if (next === undefined) return ask(first)
  try {
    return await ask(first)
  } catch (error) {
    if (!(error instanceof Error && FOUND_NOTHING.some((kind) => error instanceof kind))) throw error
    ctx.log.warning(`Allocator '${first}' found nothing: ${error.message}; asking '${next}'`)
    ctx.note({ iallocator: next })
    return firstThatFinds(ctx, [next, ...rest], ask)
  }
}

/** Errors of an allocator with a bad answer or none: then the next one is asked. */
const FOUND_NOTHING = [OpPrereqError, OpExecError, ResultValidationError]

const refusal = (text: string) => new OpPrereqError(text, ECODE.INVAL)

export interface Picture {
  readonly config: ConfigData
  readonly model: ClusterModel
  /** The template whose storage is counted. */
  readonly counted: DiskTemplate
  readonly options: AllocOptions
}

/** `templates`: those of the instances in question. */
export async function clusterNow(ctx: UnitContext, templates: readonly string[]): Promise<Picture> {
  const config = await ctx.config.read({ nodes: 'all', instances: 'all', groups: 'all' })
  const counted = countedTemplate(config.cluster, templates)
  const data = await clusterDataOf(config, await liveNodes(ctx.nodes, config, counted), counted)
  return { config, counted, model: buildModel(data), options: optionsOf(config.cluster) }
}

/** The cluster's options for its allocator. A parameter without a value switches an option on. */
export function optionsOf({ default_iallocator_params: input }: Cluster): AllocOptions {
  const on = (name: string) => Object.hasOwn(input, name)
  return {
    ...ALLOC_DEFAULTS,
    ignoreSoftErrors: on('ignore-soft-errors'),
    capacity: !on('no-capacity-checks'),
  }
}
