// Replays a balance that somebody else has planned, to find each move's gain and opcodes.
import type { BalanceStep } from '../../model/allocation'
import { type BalanceAnswer, changed, copied, names } from './balance-plan'
import { Changes } from '../model/changes'
import { groupNodes } from '../places/choose-group'
import { BadClusterData, NO_NODE } from '../model/cluster-data'
import type { ClusterModel } from '../model/cluster-model'
import { moveName, moveSteps } from '../balance/jobs'
import type { MoveKind } from '../balance/move-kinds'
import type { Step } from '../model/requests'
import { Score } from '../model/score'

/** Names, the primary node first. */
export interface Relocation {
  readonly instance: string
  readonly from: readonly string[]
  readonly to: readonly string[]
}

interface Limits {
  readonly maxMoves: number
  readonly maxOpcodes: number
  readonly diskMoves: boolean
  /** Names of groups whose scores are returned. */
  readonly groups: readonly string[]
}

export function replay(model: ClusterModel, relocations: readonly Relocation[], limits: Limits): BalanceAnswer {
  const changes = new Changes(model, true)
  const desired = model.data.groups.flatMap(({ name }, at) =>
    limits.groups.includes(name) ? [[name, at] as const] : [],
  )
  const scoreOf = (group: number) => new Score(model, groupNodes(model, group))
  const before = desired.map(([, at]) => scoreOf(at).value())
  const [steps, ops]: [BalanceStep[], Step[]] = [[], []]
  for (const relocation of relocations) {
    const { instance, primary, secondary, kind } = moveOf(model, relocation)
    const group = model.data.nodes[primary]?.group ?? -1
    const [score_before, parts] = [scoreOf(group).value(), scoreOf(group).components()]
    const from = [...relocation.from]
    const opcodes = moveSteps(model, { instance, kind, primary, secondary, score: 0 })
    checkCopies(relocation, opcodes, limits)
    if (steps.length >= limits.maxMoves || ops.length + opcodes.length > limits.maxOpcodes) break
    changes.place(instance, primary, secondary)
    const now = scoreOf(group)
    steps.push({
      ...{ instance: relocation.instance, group: model.data.groups[group]?.name ?? '', from },
      kind: moveName(model, { kind, instance }),
      ...{ to: names(model, primary, secondary), score_before, score_after: now.value() },
      copied_mib: copied(model, instance, opcodes),
      components: changed(parts, now.components()),
      ...{ first_op: ops.length, op_count: opcodes.length, candidates: null },
    })
    ops.push(...opcodes)
  }
  return {
    groups: desired.map(([group, at], one) => ({
      ...{ group, score_before: before[one] ?? 0, score_after: scoreOf(at).value() },
    })),
    ...{ steps, ops, more: steps.length < relocations.length, left_out: null },
  }
}

/** Moves build on each other, so none can be omitted. */
function checkCopies({ instance, to }: Relocation, opcodes: readonly Step[], { diskMoves }: Limits): void {
  if (diskMoves || opcodes.every(({ OP_ID }) => OP_ID !== 'OP_INSTANCE_REPLACE_DISKS')) return
  throw new BadClusterData(
    `instance ${instance} would have its disks copied to go to ${to.join(', ')}: that was not wanted`,
  )
}

function moveOf(model: ClusterModel, { instance: name, from, to }: Relocation) {
  const instance = model.instances.findIndex(({ data }) => data.name === name)
  if (instance < 0) throw new BadClusterData(`there is no instance ${name}`)
  const [primary, secondary] = [model.primary[instance] ?? NO_NODE, model.secondary[instance] ?? NO_NODE]
  const now = names(model, primary, secondary)
  if (now.join() !== from.join())
    throw new BadClusterData(`instance ${name} is then on ${now.join(', ')}, not on ${from.join(', ')}`)
  const targets = to.map((node) => {
    const at = model.data.nodes.findIndex((one) => one.name === node)
    if (at < 0) throw new BadClusterData(`there is no node ${node}`)
    return at
  })
  const [first = NO_NODE, second = NO_NODE] = targets
  const kind = targets.length === now.length ? kindOf(primary, secondary, first, second) : undefined
  if (kind === undefined)
    throw new BadClusterData(`no one move takes instance ${name} from ${now.join(', ')} to ${to.join(', ')}`)
  return { instance, primary: first, secondary: second, kind }
}

function kindOf(oldPrimary: number, oldSecondary: number, primary: number, secondary: number): MoveKind | undefined {
  if (primary === secondary || (primary === oldPrimary && secondary === oldSecondary)) return undefined
  if (oldSecondary === NO_NODE) return 'failover-to-any'
  if (primary === oldPrimary) return 'replace-secondary'
  if (primary === oldSecondary) return secondary === oldPrimary ? 'failover' : 'failover-and-replace'
  if (secondary === oldPrimary) return 'replace-and-failover'
  return secondary === oldSecondary ? 'replace-primary' : undefined
}
