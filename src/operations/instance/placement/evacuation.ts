// Asks the allocator, built in or a script, for new places of instances that must leave their nodes or their group.
import type { AllocOptions } from '../../../allocation/model/options'
import type { ClusterModel } from '../../../allocation/model/cluster-model'
import { changeGroup, evacuate, type Explained } from '../../../allocation/evacuation/evacuate'
import { whyNone, whyNoneIn } from '../../../allocation/model/explain-text'
import type { EvacMode, Evacuation, Failed } from '../../../allocation/model/requests'
import { diskSpace, templateOf } from '../../../allocation/sources/from-config'
import { instanceDisks, secondaryNodes } from '../../../config/lookup'
import type { Instance, Node } from '../../../model/config'
import { BUILTIN_IALLOCATOR } from '../../../model/constants/words'
import { ECODE, OpExecError, OpPrereqError, ResultValidationError } from '../../../model/errors'
import { niceSort } from '../../../model/nice-sort'
import type { WireOpCode } from '../../../rpc/luxi/calls'
import type { UnitContext } from '../../unit-context'
import { findNode } from '../../find'
import { askScript } from '../../iallocator/ask'
import { evacuationOf, nodesOf } from '../../iallocator/results'
import { type Picture, clusterNow } from './allocator'
import { isMirroredInside, NO_DISKS, DEFAULT_MIRROR } from '../../../model/templates'

/** Moves instances in this role off their nodes: each one's new place, and the opcodes that move it there. */
export async function planEvacuation(
  ctx: UnitContext,
  allocator: string,
  instances: readonly Instance[],
  mode: Exclude<EvacMode, 'all'>,
  ignoreSoftErrors: boolean,
): Promise<Evacuation> {
  if (allocator !== BUILTIN_IALLOCATOR) return evacuationByScript(ctx, allocator, instances, mode, ignoreSoftErrors)
  const { model, options } = await modelOf(ctx, instances)
  return evacuate(model, placesOf(model, instances), mode, explained(options, ignoreSoftErrors))
}

/** Empties one node completely: first running instances fail over, then all mirrors leave. */
export async function planEmptying(
  ctx: UnitContext,
  allocator: string,
  primaries: readonly Instance[],
  secondaries: readonly Instance[],
  ignoreSoftErrors: boolean,
): Promise<Evacuation> {
  if (allocator !== BUILTIN_IALLOCATOR)
    return evacuationByScript(ctx, allocator, [...primaries, ...secondaries], 'all', ignoreSoftErrors)
  const { model, options } = await modelOf(ctx, [...primaries, ...secondaries])
  const lenient = explained(options, ignoreSoftErrors)
  const first = evacuate(model, placesOf(model, primaries), 'primary-only', lenient)
  const gone = new Set(first.moved.map(({ instance }) => instance))
  const isMirrored = (at: number) => isMirroredInside(model.instances[at]?.data.template)
  const halves = placesOf(
    model,
    primaries.filter(({ name }) => gone.has(name)),
  ).filter(isMirrored)
  const second = evacuate(model, [...halves, ...placesOf(model, secondaries)], 'secondary-only', lenient)
  return joined(first, second)
}

/** Plans moves to the best of the given groups (uuids), or of all other groups if none is given. */
export async function planGroupChange(
  ctx: UnitContext,
  allocator: string,
  instances: readonly Instance[],
  targetGroups: readonly string[],
): Promise<Evacuation> {
  if (allocator !== BUILTIN_IALLOCATOR) {
    const names = instances.map(({ name }) => name)
    const request = { type: 'change-group', instances: names, target_groups: targetGroups }
    return evacuationOf((await askScript(ctx, allocator, { what: 'other groups', request })).result)
  }
  const { model, options } = await modelOf(ctx, instances)
  const groups = model.data.groups.flatMap(({ uuid }, at) => (targetGroups.includes(uuid) ? [at] : []))
  const plan = changeGroup(model, placesOf(model, instances), groups, explained(options))
  const names = groups.flatMap((at) => model.data.groups[at]?.name ?? [])
  const failed = plan.failed.map(({ instance, why, candidates = [] }) => ({
    instance,
    why: (candidates.length > 0 ? whyNoneIn(names, candidates) : undefined) ?? why,
  }))
  return { ...plan, failed }
}

/** Another primary for an instance whose disks all nodes reach. */
export async function chooseTarget(ctx: UnitContext, allocator: string, instance: Instance): Promise<Node> {
  const node = await otherNode(ctx, allocator, instance, 'primary-only')
  ctx.log.info(`Selected nodes for instance ${instance.name} via iallocator ${allocator}: ${node.name}`)
  return node
}

/** Another secondary for an instance that is mirrored between its nodes. */
export async function chooseSecondary(ctx: UnitContext, allocator: string, instance: Instance): Promise<Node> {
  const node = await otherNode(ctx, allocator, instance, 'secondary-only')
  ctx.log.info(`Selected new secondary for instance '${instance.name}': ${node.name}`)
  return node
}

async function otherNode(
  ctx: UnitContext,
  allocator: string,
  instance: Instance,
  mode: Exclude<EvacMode, 'all'>,
): Promise<Node> {
  if (allocator !== BUILTIN_IALLOCATOR) return targetByScript(ctx, allocator, instance, mode)
  const { config, model, options } = await modelOf(ctx, [instance])
  const { moved, jobs, failed } = evacuate(model, placesOf(model, [instance]), mode, explained(options))
  const steps = jobs[0] ?? []
  const names =
    mode === 'primary-only'
      ? moved[0]?.nodes
      : steps.flatMap((step) => ('remote_node' in step ? [step.remote_node] : []))
  const node = Object.values(config.nodes).find(({ name }) => name === names?.[0])
  if (node === undefined)
    throw new OpPrereqError(
      `Can't compute nodes using iallocator '${allocator}': ${failed[0] ? reasonOf(failed[0]) : 'the node is gone'}`,
      ECODE.NORES,
    )
  return node
}

/**
 * A plan's jobs, one for each instance. If one instance cannot move, there are no jobs, so that no user overlooks it.
 */
export function evacuationJobs(
  ctx: UnitContext,
  { moved, failed, jobs }: Evacuation,
  { early_release }: { readonly early_release: boolean },
  destination: 'nodes' | 'group',
): WireOpCode[][] {
  if (failed.length > 0) {
    const reasons = failed.map((one) => `${one.instance} (${reasonOf(one)})`).join(', ')
    throw new OpExecError(`Unable to evacuate instances ${reasons}`)
  }
  const where = moved.map(
    ({ instance, group, nodes }) => `${instance} (to ${destination === 'nodes' ? nodes.join(', ') : group})`,
  )
  if (where.length > 0) ctx.log.info(`Instances to be moved: ${where.join(', ')}`)
  return jobs.map((steps) =>
    steps.map((step) => (step.OP_ID === 'OP_INSTANCE_REPLACE_DISKS' ? { ...step, early_release } : step)),
  )
}

async function evacuationByScript(
  ctx: UnitContext,
  allocator: string,
  instances: readonly Instance[],
  mode: EvacMode,
  ignoreSoftErrors: boolean,
): Promise<Evacuation> {
  const request = { type: 'node-evacuate', instances: instances.map(({ name }) => name), evac_mode: mode }
  const options: Record<string, null> = ignoreSoftErrors ? { 'ignore-soft-errors': null } : {}
  return evacuationOf((await askScript(ctx, allocator, { what: 'node evacuation', request, options })).result)
}

async function targetByScript(
  ctx: UnitContext,
  allocator: string,
  instance: Instance,
  mode: Exclude<EvacMode, 'all'>,
): Promise<Node> {
  const config = await ctx.config.read({ instances: [instance.uuid] })
  const leaving = mode === 'primary-only' ? [instance.primary_node] : secondaryNodes(config, instance)
  const disks = instanceDisks(config, instance)
  const template = disks[0]?.dev_type ?? NO_DISKS
  const request = {
    type: 'relocate',
    name: instance.name,
    disk_space_total: diskSpace(templateOf(template), disks),
    required_nodes: 1,
    relocate_from: leaving.map((uuid) => config.nodes[uuid]?.name ?? ''),
  }
  const { result } = await askScript(ctx, allocator, { what: 'nodes', request, templates: [template] })
  const [name = ''] = nodesOf(result, 1)
  const { object: node } = await findNode(ctx, name)
  await checkSameGroup(ctx, instance, node)
  return node
}

/** Refuses a node in another group: only a change of the group leads there. */
async function checkSameGroup(ctx: UnitContext, instance: Instance, node: Node): Promise<void> {
  const { nodes, nodegroups } = await ctx.config.read({ nodes: [instance.primary_node], groups: 'all' })
  const own = nodes[instance.primary_node]?.group ?? node.group
  if (node.group === own) return
  const [found, desired] = [node.group, own].map((uuid) => nodegroups[uuid]?.name ?? uuid)
  throw new ResultValidationError(
    `Groups of nodes returned by iallocator (${niceSort([found ?? '', desired ?? '']).join(', ')}) differ from original groups (${desired})`,
  )
}

async function modelOf(ctx: UnitContext, instances: readonly Instance[]): Promise<Picture> {
  const picture = await clusterNow(ctx, [DEFAULT_MIRROR])
  const gone = instances.filter(({ uuid }) => picture.config.instances[uuid] === undefined)
  if (gone.length > 0) throw new OpExecError(`Instance ${gone.map(({ name }) => name).join(', ')} is gone`)
  return picture
}

const explained = (options: AllocOptions, ignoreSoftErrors = false): Explained => ({
  ...options,
  ignoreSoftErrors: ignoreSoftErrors || options.ignoreSoftErrors,
  explain: true,
})

/** The reason for each examined node, if known. Allocator scripts give their own reason. */
const reasonOf = ({ why, candidates = [] }: Failed): string =>
  (candidates.length > 0 ? whyNone(candidates) : undefined) ?? why

/** An instance in both evacuations gets one job with all steps. */
function joined(first: Evacuation, second: Evacuation): Evacuation {
  const at = new Map(second.moved.map(({ instance }, index) => [instance, index]))
  const both = first.moved.map((moved, index) => {
    const later = at.get(moved.instance)
    const steps = [...(first.jobs[index] ?? []), ...(later === undefined ? [] : (second.jobs[later] ?? []))]
    return { moved: later === undefined ? moved : (second.moved[later] ?? moved), steps }
  })
  const before = new Set(first.moved.map(({ instance }) => instance))
  const only = second.moved.flatMap((moved, index) =>
    before.has(moved.instance) ? [] : [{ moved, steps: second.jobs[index] ?? [] }],
  )
  const all = [...both, ...only]
  return {
    moved: all.map(({ moved }) => moved),
    jobs: all.map(({ steps }) => steps),
    failed: [...first.failed, ...second.failed],
  }
}

const placesOf = (model: ClusterModel, instances: readonly Instance[]): number[] =>
  instances.map(({ name }) => model.instances.findIndex(({ data }) => data.name === name))
