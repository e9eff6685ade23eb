// Questions to the allocation: what a balance would move, what fits, what happens if. The cluster is read here, thought about in a
// thread, and what the caller's token does not cover is left out.
import type { AllocOptions } from '../allocation/allocate'
import type { BalanceAnswer } from '../allocation/balance-plan'
import type { ClusterData } from '../allocation/cluster-data'
import { toParts } from '../allocation/question-parts'
import type { Answers, Question } from '../allocation/questions'
import type { NewInstance } from '../allocation/requests'
import { specifiedInstance } from '../allocation/specification'
import { findGroup, findNetwork, findNode } from '../config/lookup'
import { recordValues } from '../config/records'
import { PoolBusy, TaskTooLong, type TaskParts } from '../lib/worker-pool'
import type {
  BalanceRequest,
  Capacity,
  CapacityRequest,
  InstanceSpecification,
  WhatIf,
  WhatIfRequest,
} from '../model/allocation'
import type { ConfigData, DiskTemplate } from '../model/config'
import { ECODE, GenericError, OpPrereqError } from '../model/errors'
import { ARRIVING_MAX, OPCODES_PER_JOB_MAX } from '../model/limits'
import { allOpcodes, fillOpcode } from '../opcodes/index'
import { parseOpcode } from '../opcodes/parse'
import type { PlannedBalance } from '../rpc/luxi/allocation'
import type { WireOpCode } from '../rpc/luxi/calls'
import type { Precondition } from '../rpc/luxi/gantry'
import type { Access } from './access'
import type { MasterContext } from './master-context'
import type { Plans } from './plans'

/** What the allocation of a cluster needs of the outside. */
export interface AllocationAccess {
  /** The cluster as it is now; `template`: whose storage is counted. */
  picture(config: ConfigData, template: DiskTemplate): Promise<{ data: ClusterData; options: AllocOptions }>
  /** Thinks in a thread. */
  run(parts: TaskParts, signal?: AbortSignal): Promise<unknown>
}

export class AllocationService {
  constructor(
    private readonly context: MasterContext,
    private readonly plans: Plans,
  ) {}

  async balance(access: Access, request: BalanceRequest, signal?: AbortSignal): Promise<PlannedBalance> {
    access.need('cluster.balance')
    const config = this.context.config()
    const { disk_moves = true, instance_moves = true, evacuate = false, restricted_migration = false } = request
    const { min_gain = 0.01, min_gain_limit = 0.1, max_moves = OPCODES_PER_JOB_MAX, explain = false } = request
    const answer = await this.ask(
      config,
      countedTemplate(config),
      {
        ...{ kind: 'balance', groups: groupsOf(access, config, request.groups), explain, evacuate },
        ...{ diskMoves: disk_moves, instanceMoves: instance_moves, restrictedMigration: restricted_migration },
        ...{ minGain: min_gain, minGainLimit: min_gain_limit, maxMoves: max_moves },
        ...{ maxOpcodes: OPCODES_PER_JOB_MAX, nodes: nodesOf(access, config) },
        instances: seen(access, config, 'instance', recordValues(config.instances)),
      },
      signal,
    )
    const { steps, groups, more } = answer
    const plan = steps.length === 0 ? undefined : this.storePlan(access, config, answer)
    return { plan: plan?.id ?? null, expires: plan?.expires ?? null, groups, steps, ops: [...answer.ops], more }
  }

  async capacity(access: Access, request: CapacityRequest, signal?: AbortSignal): Promise<Capacity> {
    access.need('cluster.capacity')
    const config = this.context.config()
    const { spec, max_instances: most = null, explain = false } = request
    const counted = countedTemplate(config, [spec])
    const groups = groupsOf(access, config, request.groups)
    const instance = newInstance(config, spec, counted)
    const nodes = nodesOf(access, config)
    return this.ask(config, counted, { kind: 'capacity', instance, groups, nodes, most, explain }, signal)
  }

  async whatIf(access: Access, request: WhatIfRequest, signal?: AbortSignal): Promise<WhatIf> {
    access.need('cluster.what_if')
    const config = this.context.config()
    const { instances = [], explain = false } = request
    const counted = countedTemplate(
      config,
      instances.map(({ spec }) => spec),
    )
    const arriving = instances.map(({ spec, count = 1, group }) => {
      if (group !== undefined) groupsOf(access, config, [group])
      return { instance: newInstance(config, spec, counted, group), count }
    })
    const total = arriving.reduce((sum, { count }) => sum + count, 0)
    if (total > ARRIVING_MAX)
      throw new OpPrereqError(`instances: ${total} are more than ${ARRIVING_MAX} at once`, ECODE.INVAL)
    const nodes = nodesOf(access, config)
    const dead = dyingNodes(access, config, request)
    const answer = await this.ask(config, counted, { kind: 'what-if', dead, arriving, nodes, explain }, signal)
    const mine = <T extends { readonly instance: string }>(list: readonly T[]): T[] =>
      list.filter(({ instance }) => access.sees(config, `instance/${instance}`))
    return {
      ...answer,
      ...{ restored: mine(answer.restored), lost: mine(answer.lost) },
      ...{ mirrored: mine(answer.mirrored), unmirrored: mine(answer.unmirrored) },
      without_reserve: answer.without_reserve.filter((name) => access.sees(config, `node/${name}`)),
      groups: answer.groups.filter(({ group }) => access.sees(config, `group/${group}`)),
    }
  }

  private async ask<Q extends Question>(
    config: ConfigData,
    template: DiskTemplate,
    question: Q,
    signal: AbortSignal | undefined,
  ): Promise<Answers[Q['kind']]> {
    const { allocation } = this.context
    if (allocation === undefined) throw new GenericError('Questions to the allocation are not answered here')
    const { data, options } = await allocation.picture(config, template)
    try {
      // The thread is ours: it answers each kind of question in its way.
      return (await allocation.run(toParts({ data, question, options }), signal)) as Answers[Q['kind']]
    } catch (error) {
      if (error instanceof PoolBusy)
        throw new OpPrereqError(`Too many questions at once: ${error.message}; try again`, ECODE.TEMP_NORES)
      if (error instanceof TaskTooLong)
        throw new OpPrereqError(
          `The answer ${error.message}; ask for less: fewer groups, moves or instances`,
          ECODE.NORES,
        )
      throw error
    }
  }

  /** What a step hangs on: its instance, unless an earlier step changes it, and the nodes that it goes to. */
  private storePlan(access: Access, config: ConfigData, { ops, steps }: BalanceAnswer) {
    const instances = new Map(recordValues(config.instances).map((one) => [one.name, one]))
    const touched = new Set<string>()
    const match: Precondition[][] = ops.map(() => [])
    for (const { instance, to, first_op } of steps) {
      const own = instances.get(instance)
      const nodes = to.flatMap((name) => findNode(config, name) ?? [])
      match[first_op] = [
        ...(own === undefined || touched.has(instance) ? [] : [{ ...versionOf(own), kind: 'instance' as const }]),
        ...nodes.map((node) => ({ ...versionOf(node), kind: 'node' as const })),
      ]
      touched.add(instance)
    }
    return this.plans.store(access.identity, ops.map(asSubmitted), match)
  }
}

const versionOf = ({ uuid, serial_no }: { uuid: string; serial_no: number }) => ({ uuid, serial_no })

/** With all parameters, as a submission of it arrives. */
function asSubmitted({ OP_ID: id, ...params }: WireOpCode): WireOpCode {
  const definition = allOpcodes.get(id)
  if (definition === undefined) throw new GenericError(`There is no opcode ${id}`)
  return parseOpcode(fillOpcode(definition, params))
}

const COUNTED: readonly DiskTemplate[] = ['drbd', 'plain', 'file']

/** Whose storage is counted: what new instances need, else what there is. Only one kind can be. */
function countedTemplate({ cluster }: ConfigData, specs: readonly InstanceSpecification[] = []): DiskTemplate {
  const wanted = COUNTED.find((one) => specs.some(({ disk_template }) => disk_template === one))
  const { enabled_disk_templates: enabled } = cluster
  return wanted ?? COUNTED.find((one) => enabled.includes(one)) ?? enabled[0] ?? 'diskless'
}

function newInstance(config: ConfigData, spec: InstanceSpecification, counted: string, group?: string): NewInstance {
  const { enabled_disk_templates: enabled } = config.cluster
  if (!enabled.some((one) => one === spec.disk_template))
    throw new OpPrereqError(
      `Disk template ${spec.disk_template} is not enabled in the cluster; enabled are ${enabled.join(', ')}`,
      ECODE.INVAL,
    )
  const networks = (spec.networks ?? []).map((name) => {
    const network = findNetwork(config, name)
    if (network === undefined) throw new OpPrereqError(`There is no network ${name}`, ECODE.NOENT)
    return network.uuid
  })
  return specifiedInstance(spec, counted, networks, group)
}

/** Names of those in the scope, or null for all. */
function seen(
  access: Access,
  config: ConfigData,
  kind: 'instance' | 'node',
  objects: readonly { readonly name: string }[],
): string[] | null {
  if (!access.limited) return null
  return objects.flatMap(({ name }) => (access.sees(config, `${kind}/${name}`) ? [name] : []))
}

const nodesOf = (access: Access, config: ConfigData): string[] | null =>
  seen(access, config, 'node', recordValues(config.nodes))

function groupsOf(access: Access, config: ConfigData, wanted: readonly string[] | undefined): string[] {
  const all = recordValues(config.nodegroups).filter(({ name }) => access.sees(config, `group/${name}`))
  if (wanted === undefined) return all.map(({ name }) => name)
  return wanted.map((name) => {
    const group = findGroup(config, name)
    if (group === undefined || !all.includes(group))
      throw new OpPrereqError(`There is no node group ${name}`, ECODE.NOENT)
    return group.name
  })
}

function dyingNodes(access: Access, config: ConfigData, { nodes = [], node_tag }: WhatIfRequest): string[] {
  const sees = ({ name }: { name: string }) => access.sees(config, `node/${name}`)
  const named = nodes.map((name) => {
    const node = findNode(config, name)
    if (node === undefined || !sees(node)) throw new OpPrereqError(`There is no node ${name}`, ECODE.NOENT)
    return node.name
  })
  if (node_tag === undefined) return named
  const tagged = recordValues(config.nodes).filter((node) => node.tags.includes(node_tag) && sees(node))
  if (tagged.length === 0) throw new OpPrereqError(`There is no node with the tag ${node_tag}`, ECODE.NOENT)
  return [...new Set([...named, ...tagged.map(({ name }) => name)])]
}
