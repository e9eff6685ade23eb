// A balance as a plan: the moves in order, with each one's gain and opcodes.
import type { BalanceStep, GroupScore, ScoreComponent } from '../../model/allocation'
import { EXPLAINED_CANDIDATES_MAX } from '../../model/limits/allocation'
import { type BalanceOptions, type Step as Made, balance } from '../balance/balance'
import { Changes } from '../model/changes'
import { groupNodes } from '../places/choose-group'
import { NO_NODE } from '../model/cluster-data'
import type { ClusterModel } from '../model/cluster-model'
import { toCandidateNode } from '../model/explain-text'
import { candidatesToBalance } from '../explain/moves'
import { moveName, moveSteps } from '../balance/jobs'
import type { Step } from '../model/requests'
import { type Component, Score } from '../model/score'
import { isMirroredInside } from '../../model/templates'

export interface BalanceQuestion extends Omit<BalanceOptions, 'maxRounds' | 'minScore' | 'ignoreSoftErrors'> {
  readonly kind: 'balance'
  /** Names of groups. */
  readonly groups: readonly string[]
  /** Names of instances that may move, and of nodes that moves may use; null for all. */
  readonly instances: readonly string[] | null
  readonly nodes: readonly string[] | null
  readonly maxMoves: number
  readonly maxOpcodes: number
  readonly explain: boolean
}

export interface BalanceAnswer {
  readonly groups: readonly GroupScore[]
  readonly steps: readonly BalanceStep[]
  readonly ops: readonly Step[]
  /** Whether the limit cut off further moves. */
  readonly more: boolean
  /** The instances that were not considered, and why. */
  readonly left_out: string | null
}

const LIMITS = { minScore: 1e-9, maxRounds: -1 }

export const BALANCE_DEFAULTS: Omit<BalanceQuestion, 'groups' | 'maxMoves' | 'maxOpcodes'> = {
  ...{ kind: 'balance', diskMoves: true, instanceMoves: true, restrictedMigration: false, evacuate: false },
  ...{ minGain: 0.01, minGainLimit: 0.1, instances: null, nodes: null, explain: false },
}

export function planBalanceSteps(
  model: ClusterModel,
  question: BalanceQuestion,
  ignoreSoftErrors: boolean,
): BalanceAnswer {
  const options = { ...question, ...LIMITS, ignoreSoftErrors }
  const [steps, ops, groups]: [BalanceStep[], Step[], GroupScore[]] = [[], [], []]
  const movable = allowed(question.instances)
  const reachable = allowed(question.nodes)
  let [more, reported, kept] = [false, 0, 0]
  model.data.groups.forEach(({ name: group }, at) => {
    if (!question.groups.includes(group)) return
    const nodes = groupNodes(model, at).filter((node) => reachable(model.data.nodes[node]?.name))
    const inside = new Set([...nodes, NO_NODE])
    const instances = model.instances.flatMap(({ data }, one) => {
      const own = [model.primary[one] ?? NO_NODE, model.secondary[one] ?? NO_NODE]
      return movable(data.name) && own.every((node) => inside.has(node)) ? [one] : []
    })
    kept += instances.filter((one) => isMirroredInside(model.instances[one]?.data.template)).length
    const score_before = new Score(model, nodes).value()
    let [score, parts] = [score_before, new Score(model, nodes).components()]
    for (const made of balance(model, nodes, instances, options)) {
      const opcodes = moveSteps(model, made.move)
      if (steps.length >= question.maxMoves || ops.length + opcodes.length > question.maxOpcodes) {
        more = true
        takeBack(model, made)
        break
      }
      const now = new Score(model, nodes).components()
      const desired = question.explain && reported < EXPLAINED_CANDIDATES_MAX
      const candidates = desired ? candidatesBefore(model, made, nodes, options) : null
      reported += candidates?.length ?? 0
      steps.push({
        ...{ instance: model.instances[made.move.instance]?.data.name ?? '', group, kind: moveName(model, made.move) },
        ...{ from: names(model, made.oldPrimary, made.oldSecondary) },
        ...{ to: names(model, made.move.primary, made.move.secondary) },
        ...{ score_before: score, score_after: made.score, copied_mib: copied(model, made.move.instance, opcodes) },
        components: changed(parts, now),
        ...{ first_op: ops.length, op_count: opcodes.length, candidates: candidates?.map(toCandidateNode) ?? null },
      })
      ops.push(...opcodes)
      ;[score, parts] = [made.score, now]
    }
    groups.push({ group, score_before, score_after: score })
  })
  const left_out = !question.diskMoves && kept > 0 ? leftOut(kept) : null
  return { groups, steps, ops, more, left_out }
}

/** Counts both volumes of each disk, because space is counted that way. */
export const copied = (model: ClusterModel, instance: number, opcodes: readonly Step[]): number =>
  opcodes.filter(({ OP_ID }) => OP_ID === 'OP_INSTANCE_REPLACE_DISKS').length *
  (model.instances[instance]?.data.disk ?? 0)

const leftOut = (kept: number): string =>
  `moves that copy the disks of ${kept} mirrored ${kept === 1 ? 'instance' : 'instances'}: they were not wanted`

const allowed = (list: readonly string[] | null): ((name: string | undefined) => boolean) => {
  const known = list === null ? undefined : new Set<string | undefined>(list)
  return (name) => known === undefined || known.has(name)
}

/** All targets of a step that was made. During the evaluation the model is as it was before the step. */
export function candidatesBefore(model: ClusterModel, made: Made, nodes: readonly number[], options: BalanceOptions) {
  const changes = new Changes(model, options.ignoreSoftErrors)
  const mark = changes.mark()
  changes.place(made.move.instance, made.oldPrimary, made.oldSecondary)
  const candidates = candidatesToBalance(model, new Score(model, nodes), made.move.instance, options)
  changes.undo(mark)
  return candidates
}

const takeBack = (model: ClusterModel, { move, oldPrimary, oldSecondary }: Made): void =>
  new Changes(model, true).place(move.instance, oldPrimary, oldSecondary)

/** Each part of the score, before and after. */
export function changed(before: readonly Component[], after: readonly Component[]): ScoreComponent[] {
  return before
    .map(({ name, value, weight }, at) => ({
      ...{ name, before: value * weight },
      after: (after[at]?.value ?? 0) * (after[at]?.weight ?? 0),
    }))
    .filter((one) => Math.abs(one.after - one.before) > NOTICEABLE)
    .sort((one, other) => one.after - one.before - (other.after - other.before))
}

const NOTICEABLE = 1e-8

export const names = (model: ClusterModel, ...nodes: readonly number[]): string[] =>
  nodes.flatMap((node) => model.data.nodes[node]?.name ?? [])
