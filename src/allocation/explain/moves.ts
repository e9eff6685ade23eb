// Explains, node by node, where an instance can move and where not.
import type { Reject } from '../../model/allocation'
import type { AllocOptions } from '../model/options'
import { type BalanceOptions, replacements } from '../balance/balance'
import { groupNodes } from '../places/choose-group'
import { NO_NODE, nodesNeeded } from '../model/cluster-data'
import { type ClusterModel, freeMemory } from '../model/cluster-model'
import { candidatesFor, shortage, whyOffline } from './explain'
import { failMode } from '../model/fail-modes'
import { Mover } from '../balance/moves'
import { Verdict } from '../model/placement'
import type { Candidate, EvacMode } from '../model/requests'
import { Score, newDifference } from '../model/score'
import { ROW, Trials } from '../model/trials'
import { isMirroredInside, isMirroredOutside, IMMOVABLE } from '../../model/templates'

/**
 * Judges every node as the new place of an instance that leaves its primary or secondary; empty if it is of a kind that
 * cannot. `group`: its new group, if that is another one.
 */
export function candidatesToLeave(
  model: ClusterModel,
  instance: number,
  mode: Exclude<EvacMode, 'all'>,
  leaving: ReadonlySet<number>,
  { ignoreSoftErrors }: Pick<AllocOptions, 'ignoreSoftErrors'>,
  group = groupOf(model, instance),
): Candidate[] {
  const template = model.instances[instance]?.data.template ?? IMMOVABLE
  const trials = new Trials(model, ignoreSoftErrors)
  trials.begin(instance)
  const { primary, secondary } = trials
  if (isMirroredInside(template) && mode === 'primary-only') return [failover(model, trials)]
  const mirrored = isMirroredInside(template)
  if (!mirrored && (mode === 'secondary-only' || !isMirroredOutside(template))) return []
  const score = new Score(model, groupNodes(model, group))
  const before = score.value()
  const left = newDifference()
  score.difference(mirrored ? secondary : primary, trials.placement.rows, mirrored ? ROW.secondary : ROW.primary, left)
  const own = [primary, secondary]
  return model.nodes.map(({ data }, node) => {
    const reject = unfit(model, node, group, own) ?? (leaving.has(node) ? 'evacuated' : undefined)
    if (reject !== undefined) return { node: data.name, reject }
    const verdict = mirrored ? trials.replaceSecondary(node) : trials.failoverToAny(node)
    if (verdict !== Verdict.ok) return rejected(model, trials, node, verdict, mirrored)
    const [target, stays] = [newDifference(), newDifference()]
    score.difference(node, trials.placement.rows, ROW.target, target)
    if (mirrored) score.difference(primary, trials.placement.rows, ROW.other, stays)
    const extra = mirrored ? 0 : score.pairsAfter(instance, primary, node)
    return { node: data.name, scoreChange: score.after(Infinity, extra, left, target, stays) - before }
  })
}

/** Judges every node as the place of an instance that moves to one of these groups. */
export function candidatesInGroups(
  model: ClusterModel,
  instance: number,
  groups: readonly number[],
  options: AllocOptions,
): Candidate[] {
  const data = model.instances[instance]?.data
  if (data === undefined) return []
  const desired = { data, requiredNodes: nodesNeeded(data.template), group: undefined }
  return candidatesFor(model, desired, options).map((candidate, node) =>
    groups.includes(model.data.nodes[node]?.group ?? -1) ? candidate : { node: candidate.node, reject: 'other group' },
  )
}

/** Judges every node as the target of a balancing move. `score` covers the nodes that are balanced. */
export function candidatesToBalance(
  model: ClusterModel,
  score: Score,
  instance: number,
  options: BalanceOptions,
): Candidate[] {
  const trials = new Trials(model, options.ignoreSoftErrors)
  trials.begin(instance)
  const { primary, secondary } = trials
  const mirrored = isMirroredInside(model.instances[instance]?.data.template)
  const group = groupOf(model, instance)
  const own = [primary, ...(mirrored ? [] : [secondary])]
  const before = score.value()
  return score.nodes.map((node) => {
    const name = model.data.nodes[node]?.name ?? ''
    const reject = unfit(model, node, group, own)
    if (reject !== undefined) return { node: name, reject }
    const mover = new Mover(model, score, options.ignoreSoftErrors, node === secondary ? [] : [node], Infinity)
    const may = replacements(model, instance, options)
    const onlyFailover = { ...may, disks: false }
    const alone = mirrored ? { ...may, failover: false } : { ...may, failoverToAny: true }
    const move = mover.bestOf(instance, Infinity, node === secondary ? onlyFailover : alone, 'told apart')
    if (move !== undefined) {
      const other = move.primary === node ? move.secondary : move.primary
      const second = mirrored ? { secondary: model.data.nodes[other]?.name ?? '' } : {}
      return { node: name, ...second, scoreChange: move.score - before }
    }
    trials.begin(instance)
    if (mirrored && node === secondary)
      return may.failover ? failover(model, trials) : { node: name, reject: 'not wanted' }
    const verdict = mirrored ? trials.replaceSecondary(node) : trials.failoverToAny(node)
    // The balance's options exclude places that would fit.
    if (verdict === Verdict.ok) return { node: name, reject: 'not wanted' }
    return rejected(model, trials, node, verdict, mirrored)
  })
}

export const groupOf = (model: ClusterModel, instance: number): number =>
  model.data.nodes[model.primary[instance] ?? NO_NODE]?.group ?? -1

/** Only the secondary can take over. */
function failover(model: ClusterModel, trials: Trials): Candidate {
  const { instance, secondary } = trials
  const name = model.data.nodes[secondary]?.name ?? ''
  const facts = model.nodes[secondary]
  if (facts?.offline) return { node: name, reject: whyOffline(facts) }
  const verdict = secondary === NO_NODE ? Verdict.internal : trials.failover()
  if (verdict === Verdict.ok) return { node: name }
  const short = shortage(model, instance, secondary, verdict)
  return { node: name, reject: failMode(verdict), detail: 'though only it has the disks', ...short }
}

function unfit(model: ClusterModel, node: number, group: number, own: readonly number[]): Reject | undefined {
  const facts = model.nodes[node]
  if (own.includes(node)) return 'own node'
  if (facts === undefined || facts.data.group !== group) return 'other group'
  return facts.offline ? whyOffline(facts) : undefined
}

function rejected(
  model: ClusterModel,
  { instance, primary }: Trials,
  node: number,
  verdict: Verdict,
  asSecondary: boolean,
): Candidate {
  const short =
    asSecondary && verdict === Verdict.memory
      ? { free: freeMemory(model, node), needed: reserveFor(model, instance, node, primary) }
      : shortage(model, instance, node, verdict)
  return { node: model.data.nodes[node]?.name ?? '', reject: failMode(verdict), ...short }
}

/** Memory that the secondary would keep for all instances of this primary. */
const reserveFor = (model: ClusterModel, instance: number, node: number, primary: number): number =>
  (model.peers[node]?.get(primary) ?? 0) + (model.instances[instance]?.reserve ?? 0)
