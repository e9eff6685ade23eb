// Answers to requests: what the allocator protocol returns, for the program `hail` and for the cluster itself.
import type { AllocOptions } from '../model/options'
import { Allocator } from '../places/allocate'
import { Changes } from '../model/changes'
import {
  chooseGroup,
  describeTried,
  groupByName,
  groupNodes,
  namesOf,
  placeDedicated,
  placeInGroup,
} from '../places/choose-group'
import { BadClusterData, NO_NODE } from '../model/cluster-data'
import { type ClusterModel, instanceFacts } from '../model/cluster-model'
import { isDedicated } from '../places/dedicated'
import { changeGroup, evacuate } from '../evacuation/evacuate'
import { planBalance, planCapacity } from './planning'
import type { Evacuation, NewInstance, Request } from '../model/requests'
import { findNames } from '../model/names'
import { isMirroredInside, isMirroredOutside, DEFAULT_MIRROR, IMMOVABLE } from '../../model/templates'

export interface Answer {
  readonly success: boolean
  readonly info: string
  readonly result: unknown
}

/** Leaves the model as if the answer had been carried out. */
export function answer(model: ClusterModel, request: Request, options: AllocOptions): Answer {
  try {
    const { info, result } = reply(model, request, options)
    return { success: true, info: `Request successful: ${info}`, result }
  } catch (error) {
    if (!(error instanceof BadClusterData)) throw error
    return { success: false, info: `Request failed: ${error.message}`, result: [] }
  }
}

interface Reply {
  readonly info: string
  readonly result: unknown
}

function reply(model: ClusterModel, request: Request, options: AllocOptions): Reply {
  const find = (names: readonly string[]) => names.map((name) => instanceByName(model, name))
  switch (request.type) {
    case 'allocate': {
      const restrictTo = options.restrictTo ?? request.restrictTo
      const { nodes, info } = allocate(model, request.instance, { ...options, restrictTo })
      if (nodes === undefined) throw new BadClusterData(info)
      return { info, result: nodes }
    }
    case 'multi-allocate':
      return allocateAll(model, request.instances, options)
    case 'allocate-secondary':
      return allocateSecondary(model, instanceByName(model, request.name), options)
    case 'relocate':
      return relocate(model, request, options)
    case 'node-evacuate':
      return evacuationReply(evacuate(model, find(request.instances), request.mode, options))
    case 'change-group': {
      const groups = request.targetGroups.map((name) => groupByUuid(model, name))
      return evacuationReply(changeGroup(model, find(request.instances), groups, options))
    }
    case 'balance':
      return planBalance(model, request.maxMoves, request.group, options)
    case 'capacity':
      return planCapacity(model, request.instance, request.most, options)
  }
}

/** The chosen nodes, or why there are none. Adds the instance to the model. */
export function allocate(
  model: ClusterModel,
  desired: NewInstance,
  options: AllocOptions,
  dedicated = isDedicated(model, desired.group),
): { nodes: readonly string[] | undefined; info: string } {
  const changes = new Changes(model, options.ignoreSoftErrors)
  const instance = changes.add(instanceFacts(desired.data, model.data, model.settings, desired.data.name))
  const one = { instance, required: desired.requiredNodes }
  try {
    const only = desired.group === undefined ? undefined : groupByName(model, desired.group)
    if (dedicated) {
      const { group, placed, log } = placeDedicated(model, one, options, changes, only)
      changes.place(instance, placed.primary, placed.secondary)
      return {
        nodes: namesOf(model, placed),
        info: [...(only === undefined ? [selected(model, group)] : []), ...log].join(', '),
      }
    }
    if (only !== undefined) {
      const { placed, log } = placeInGroup(model, one, options, changes, only)
      if (placed === undefined) throw new BadClusterData(log.join(', '))
      changes.place(instance, placed.primary, placed.secondary)
      return { nodes: namesOf(model, placed), info: log.join(', ') }
    }
    const { group, placed, log } = chooseGroup(model, one, options, changes)
    changes.place(instance, placed.primary, placed.secondary)
    return { nodes: namesOf(model, placed), info: [selected(model, group), ...log].join(', ') }
  } catch (error) {
    if (!(error instanceof BadClusterData)) throw error
    changes.drop()
    return { nodes: undefined, info: error.message }
  }
}

const selected = (model: ClusterModel, group: number): string => `Selected group: ${model.data.groups[group]?.name}`

function allocateAll(model: ClusterModel, desired: readonly NewInstance[], options: AllocOptions): Reply {
  const groups = [...new Set(desired.flatMap(({ group }) => group ?? []))]
  const dedicated = isDedicated(model, groups.length === 1 ? groups[0] : undefined)
  const tried = desired.map((one) => ({ name: one.data.name, ...allocate(model, one, options, dedicated) }))
  const allocated = tried.flatMap(({ name, nodes }) => (nodes === undefined ? [] : [[name, nodes]]))
  const failed = tried.flatMap(({ name, nodes, info }) => (nodes === undefined ? [[name, info]] : []))
  // As in Ganeti, the request fails if an instance fits in no group at all, but not if it only does not fit in its own
  // group.
  const hopeless = tried.find(({ nodes }, at) => nodes === undefined && desired[at]?.group === undefined)
  if (hopeless !== undefined) throw new BadClusterData(hopeless.info)
  return {
    info: `${failed.length} instances failed to allocate and ${allocated.length} were allocated successfully`,
    result: [allocated, failed],
  }
}

/** Chooses a secondary node for an instance without one. */
function allocateSecondary(model: ClusterModel, instance: number, options: AllocOptions): Reply {
  const facts = model.instances[instance]
  const primary = model.primary[instance] ?? NO_NODE
  if (facts === undefined || model.secondary[instance] !== NO_NODE) {
    throw new BadClusterData('Instance already has a secondary')
  }
  const changes = new Changes(model, options.ignoreSoftErrors)
  // Whoever asks this counts the storage of mirrors.
  const data = { ...facts.data, template: DEFAULT_MIRROR, local: true }
  const nodes = groupNodes(model, model.data.nodes[primary]?.group ?? -1)
  changes.lift(instance)
  const mirrored = changes.add(instanceFacts(data, model.data, model.settings, facts.alias))
  const allocator = new Allocator(
    model,
    model.nodes.map((_, at) => at),
    options,
    changes,
  )
  const tried = allocator.tell(mirrored, 2, nodes, [primary])
  const info = describeTried(model, tried)
  if (tried.solution === undefined) throw new BadClusterData(info)
  changes.place(mirrored, primary, tried.solution.secondary)
  return { info, result: model.data.nodes[tried.solution.secondary]?.name }
}

/** Replaces one node: the secondary if the nodes mirror the disks, the primary if all nodes reach them. */
function relocate(
  model: ClusterModel,
  { name, requiredNodes, relocateFrom }: Extract<Request, { type: 'relocate' }>,
  options: AllocOptions,
): Reply {
  const instance = instanceByName(model, name)
  const from = findNames(model.data.nodes, relocateFrom, 'Wrong number of elems found with name ')
  if (requiredNodes !== 1) throw new BadClusterData(`Exchange ${requiredNodes} nodes mode is not implemented`)
  const template = model.instances[instance]?.data.template ?? IMMOVABLE
  const mirrored = isMirroredInside(template)
  if (!mirrored && !isMirroredOutside(template)) throw new BadClusterData("Can't relocate non-mirrored instances")
  const leaves = (mirrored ? model.secondary : model.primary)[instance] ?? NO_NODE
  if (from.length !== 1 || from[0] !== leaves) {
    throw new BadClusterData(
      `Unsupported request: excluded nodes not equal to instance's ${mirrored ? 'secondary' : 'primary'}` +
        `(${leaves} versus [${from.join(',')}])`,
    )
  }
  const { failed } = evacuate(model, [instance], mirrored ? 'secondary-only' : 'primary-only', options)
  if (failed[0] !== undefined) throw new BadClusterData(failed[0].why)
  const now = (mirrored ? model.secondary : model.primary)[instance] ?? NO_NODE
  return { info: 'success', result: [model.data.nodes[now]?.name] }
}

const evacuationReply = ({ moved, failed, jobs }: Evacuation): Reply => ({
  info: `${failed.length} instances failed to move and ${moved.length} were moved successfully`,
  result: [
    moved.map(({ instance, group, nodes }) => [instance, group, nodes]),
    failed.map(({ instance, why }) => [instance, why]),
    jobs,
  ],
})

export function instanceByName(model: ClusterModel, name: string): number {
  const at = model.instances.findIndex(({ data, alias }) => data.name === name || alias === name)
  if (at < 0) throw new BadClusterData(`Wrong number of elems found with name ${name}`)
  return at
}

export function groupByUuid(model: ClusterModel, text: string): number {
  const at = model.data.groups.findIndex(({ uuid }) => uuid === text)
  return at < 0 ? groupByName(model, text) : at
}
