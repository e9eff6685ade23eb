// Converts users' questions to the allocation's: looks up names, and leaves out what a caller may not see.
import type { ConfigData } from '../../model/config'
import { findGroup, findNetwork, findNode } from '../../config/lookup'
import { recordValues } from '../../config/records'
import type {
  BalanceRequest,
  CapacityRequest,
  InstanceSpecification,
  LostInstance,
  Visible,
  WhatIf,
  WhatIfRequest,
} from '../../model/allocation'
import { ECODE, OpPrereqError } from '../../model/errors'
import { ARRIVING_MAX } from '../../model/limits/allocation'
import { OPCODES_PER_JOB_MAX } from '../../model/limits/queue'
import type { BalanceQuestion } from './balance-plan'
import type { CapacityQuestion } from './capacity'
import type { Question } from './questions'
import type { NewInstance } from '../model/requests'
import { specifiedInstance } from './specification'
import type { WhatIfQuestion } from './what-if'
import { type DiskTemplate, countedTemplate, hasDisks } from '../../model/templates'

export interface Asked<Q extends Question> {
  /** The template whose storage space is counted. */
  readonly template: DiskTemplate
  readonly question: Q
}

/** The names that the caller may see; null for all. */
type Sight = Visible | null

export function balanceQuestion(config: ConfigData, request: BalanceRequest, visible: Sight): Asked<BalanceQuestion> {
  const { disk_moves = true, instance_moves = true, evacuate = false, restricted_migration = false } = request
  const { min_gain = 0.01, min_gain_limit = 0.1, max_moves = OPCODES_PER_JOB_MAX, explain = false } = request
  return {
    template: countedTemplate(config.cluster),
    question: {
      ...{ kind: 'balance', groups: groupsOf(config, visible, request.groups), explain, evacuate },
      ...{ diskMoves: disk_moves, instanceMoves: instance_moves, restrictedMigration: restricted_migration },
      ...{ minGain: min_gain, minGainLimit: min_gain_limit, maxMoves: max_moves, maxOpcodes: OPCODES_PER_JOB_MAX },
      ...{ nodes: visible?.nodes ?? null, instances: visible?.instances ?? null },
    },
  }
}

export function capacityQuestion(
  config: ConfigData,
  request: CapacityRequest,
  visible: Sight,
): Asked<CapacityQuestion> {
  const { spec, max_instances: most = null, explain = false } = request
  const template = countedTemplate(config.cluster, [spec.disk_template])
  const groups = groupsOf(config, visible, request.groups)
  const instance = newInstance(config, spec, template)
  return { template, question: { kind: 'capacity', instance, groups, nodes: visible?.nodes ?? null, most, explain } }
}

export function whatIfQuestion(config: ConfigData, request: WhatIfRequest, visible: Sight): Asked<WhatIfQuestion> {
  const { instances = [], explain = false } = request
  const template = countedTemplate(
    config.cluster,
    instances.map(({ spec }) => spec.disk_template),
  )
  const arriving = instances.map(({ spec, count = 1, group }) => {
    const [name] = group === undefined ? [] : groupsOf(config, visible, [group])
    return { instance: newInstance(config, spec, template, name), count }
  })
  const total = arriving.reduce((sum, { count }) => sum + count, 0)
  if (total > ARRIVING_MAX)
    throw new OpPrereqError(`instances: ${total} are more than ${ARRIVING_MAX} at once`, ECODE.INVAL)
  const dead = dyingNodes(config, visible, request)
  return { template, question: { kind: 'what-if', dead, arriving, nodes: visible?.nodes ?? null, explain } }
}

/** Leaves out what the caller may not see. */
export function visibleIn(answer: WhatIf, visible: Sight): WhatIf {
  if (visible === null) return answer
  const instances = new Set(visible.instances)
  const mine = <T extends { readonly instance: string }>(list: readonly T[]): T[] =>
    list.filter(({ instance }) => instances.has(instance))
  const reported = (list: readonly LostInstance[]): LostInstance[] =>
    mine(list).map((one) => ({
      ...one,
      candidates: one.candidates?.filter(({ node }) => visible.nodes.includes(node)) ?? null,
    }))
  return {
    ...answer,
    ...{ restored: mine(answer.restored), lost: reported(answer.lost) },
    ...{ mirrored: mine(answer.mirrored), unmirrored: reported(answer.unmirrored) },
    already_down: reported(answer.already_down),
    without_reserve: answer.without_reserve.filter((name) => visible.nodes.includes(name)),
    groups: answer.groups.filter(({ group }) => visible.groups.includes(group)),
  }
}

function newInstance(
  config: ConfigData,
  spec: InstanceSpecification,
  counted: DiskTemplate,
  group?: string,
): NewInstance {
  const { enabled_disk_templates: enabled } = config.cluster
  if (!enabled.some((one) => one === spec.disk_template))
    throw new OpPrereqError(
      `Disk template ${spec.disk_template} is not enabled in the cluster; enabled are ${enabled.join(', ')}`,
      ECODE.INVAL,
    )
  if (!hasDisks(spec.disk_template) && (spec.disks_mib ?? []).length > 0)
    throw new OpPrereqError(
      `disks_mib: an instance of template ${spec.disk_template} has no disks; leave them out`,
      ECODE.INVAL,
    )
  const { disks_mib: sizes = [], disks_spindles: spindles } = spec
  if (spindles !== undefined && spindles.length !== sizes.length)
    throw new OpPrereqError(
      `disks_spindles: ${spindles.length} numbers for ${sizes.length} disks; give one for each disk, or none`,
      ECODE.INVAL,
    )
  const networks = (spec.networks ?? []).map((name) => {
    const network = findNetwork(config, name)
    if (network === undefined) throw new OpPrereqError(`There is no network ${name}`, ECODE.NOENT)
    return network.uuid
  })
  return specifiedInstance(spec, counted, networks, group)
}

const isVisible = (list: readonly string[] | undefined, name: string): boolean => list?.includes(name) ?? true

function groupsOf(config: ConfigData, visible: Sight, desired: readonly string[] | undefined): string[] {
  const all = recordValues(config.nodegroups).filter(({ name }) => isVisible(visible?.groups, name))
  if (desired === undefined) return all.map(({ name }) => name)
  return desired.map((name) => {
    const group = findGroup(config, name)
    if (group === undefined || !all.includes(group))
      throw new OpPrereqError(`There is no node group ${name}`, ECODE.NOENT)
    return group.name
  })
}

function dyingNodes(config: ConfigData, visible: Sight, { nodes = [], node_tag }: WhatIfRequest): string[] {
  const named = nodes.map((name) => {
    const node = findNode(config, name)
    if (node === undefined || !isVisible(visible?.nodes, node.name))
      throw new OpPrereqError(`There is no node ${name}`, ECODE.NOENT)
    return node.name
  })
  if (node_tag === undefined) return named
  const tagged = recordValues(config.nodes).filter(
    (node) => node.tags.includes(node_tag) && isVisible(visible?.nodes, node.name),
  )
  if (tagged.length === 0) throw new OpPrereqError(`There is no node with the tag ${node_tag}`, ECODE.NOENT)
  return [...new Set([...named, ...tagged.map(({ name }) => name)])]
}
