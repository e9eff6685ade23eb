// Moves instances off nodes, or to other groups. Places one after the other where it leaves the group most even, and
// returns the jobs.
import type { AllocOptions } from '../model/options'
import { Changes } from '../model/changes'
import { BadClusterData, NO_NODE, nodesNeeded } from '../model/cluster-data'
import { chooseGroup, groupNodes } from '../places/choose-group'
import type { ClusterModel } from '../model/cluster-model'
import { candidatesInGroups, candidatesToLeave, groupOf } from '../explain/moves'
import { failMode } from '../model/fail-modes'
import { migrateStep, replaceStep } from '../balance/jobs'
import { Verdict } from '../model/placement'
import type { Candidate, EvacMode, Evacuation, Failed, Moved, Step } from '../model/requests'
import { Score, newDifference } from '../model/score'
import { ROW, Trials } from '../model/trials'
import {
  type DiskTemplate,
  isMirroredInside,
  isMirroredOutside,
  isMirrored,
  NO_DISKS,
  IMMOVABLE,
} from '../../model/templates'

/** Moves instances with this role off their nodes, to other nodes of the same group. */
export function evacuate(
  model: ClusterModel,
  instances: readonly number[],
  mode: EvacMode,
  options: Explained,
): Evacuation {
  const leaving = new Set(instances.flatMap((instance) => nodesToLeave(model, instance, mode)))
  return moveAll(
    model,
    instances,
    (evacuator, instance) => {
      const primary = model.primary[instance] ?? NO_NODE
      const group = model.data.nodes[primary]?.group ?? -1
      const { only } = options
      const nodes = usable(model, group).filter(
        (node) => node !== primary && !leaving.has(node) && (only === undefined || only.has(node)),
      )
      return evacuator.move(instance, mode, group, nodes)
    },
    options.ignoreSoftErrors,
    options.explain && mode !== 'all'
      ? (instance) => candidatesToLeave(model, instance, mode, leaving, options)
      : undefined,
  )
}

/** `explain`: lists each considered node for instances that cannot leave. `only`: other nodes get nothing. */
export type Explained = AllocOptions & { readonly explain?: boolean; readonly only?: ReadonlySet<number> }

/** Moves instances to the best of these groups, or of all groups except their own. */
export function changeGroup(
  model: ClusterModel,
  instances: readonly number[],
  groups: readonly number[],
  input: Explained,
): Evacuation {
  // Otherwise an instance on the only node of its group could not leave. Ganeti's own program refuses that.
  const options = { ...input, acceptFailing: input.explain === true }
  const left = new Set(instances.map((instance) => groupOf(model, instance)))
  const all = model.data.groups.map((_, at) => at)
  const targets = (groups.length > 0 ? groups : all).filter((group) => !left.has(group))
  let chosen: number | undefined
  return moveAll(
    model,
    instances,
    (evacuator, instance) => {
      chosen = undefined
      const { template } = model.instances[instance]?.data ?? { template: NO_DISKS }
      // Ganeti first looks for a group, even for instances that cannot move there.
      if (options.explain) refuseImmovable(template, 'all')
      const desired = { instance: evacuator.copyOf(instance), required: nodesNeeded(template) }
      const { group } = chooseGroup(model, desired, options, evacuator.changes, targets)
      evacuator.changes.drop()
      chosen = group
      return evacuator.move(instance, 'all', group, usable(model, group))
    },
    false,
    options.explain ? (instance) => candidatesElsewhere(model, instance, targets, chosen, options) : undefined,
  )
}

/** `chosen`: the group in which it would fit, but to which it cannot move. */
function candidatesElsewhere(
  model: ClusterModel,
  instance: number,
  targets: readonly number[],
  chosen: number | undefined,
  options: AllocOptions,
): readonly Candidate[] {
  const { template } = model.instances[instance]?.data ?? { template: IMMOVABLE }
  if (!isMirroredInside(template) && !isMirroredOutside(template)) return []
  if (chosen === undefined) return candidatesInGroups(model, instance, targets, options)
  const strict = { ignoreSoftErrors: false }
  return isMirroredInside(template) ? [] : candidatesToLeave(model, instance, 'primary-only', new Set(), strict, chosen)
}

const usable = (model: ClusterModel, group: number): number[] =>
  groupNodes(model, group).filter((node) => model.nodes[node]?.offline === false)

function nodesToLeave(model: ClusterModel, instance: number, mode: EvacMode): number[] {
  const [primary, secondary] = [model.primary[instance] ?? NO_NODE, model.secondary[instance] ?? NO_NODE]
  const mirrored = isMirroredInside(model.instances[instance]?.data.template)
  return [
    ...(mode === 'secondary-only' ? [] : [primary]),
    ...(mode === 'primary-only' || !mirrored ? [] : [secondary]),
  ].filter((node) => node !== NO_NODE)
}

function moveAll(
  model: ClusterModel,
  instances: readonly number[],
  move: (evacuator: Evacuator, instance: number) => Step[],
  lenient: boolean,
  explain?: (instance: number) => readonly Candidate[],
): Evacuation {
  const evacuator = new Evacuator(model, lenient)
  const [moved, failed, jobs]: [Moved[], Failed[], Step[][]] = [[], [], []]
  for (const instance of instances) {
    const name = model.instances[instance]?.data.name ?? ''
    const mark = evacuator.changes.mark()
    const count = model.instances.length
    try {
      jobs.push(move(evacuator, instance))
      const mirrored = isMirroredInside(model.instances[instance]?.data.template)
      const nodes = [model.primary[instance], ...(mirrored ? [model.secondary[instance]] : [])]
      moved.push({
        instance: name,
        group: model.data.groups[model.data.nodes[nodes[0] ?? NO_NODE]?.group ?? -1]?.name ?? '',
        nodes: nodes.flatMap((node) => model.data.nodes[node ?? NO_NODE]?.name ?? []),
      })
    } catch (error) {
      if (!(error instanceof BadClusterData)) throw error
      evacuator.changes.undo(mark)
      while (model.instances.length > count) evacuator.changes.drop()
      const candidates = explain?.(instance) ?? []
      failed.push({ instance: name, why: error.message, ...(candidates.length > 0 && { candidates }) })
    }
  }
  return { moved, failed, jobs }
}

function refuseImmovable(template: DiskTemplate, mode: EvacMode): void {
  if (isMirroredInside(template)) return
  if (!isMirrored(template)) throw refuse(`Instances of type ${template} cannot be relocated`)
  if (mode === 'secondary-only')
    throw refuse(`Instances with disk template '${template}' can't execute change secondary`)
}

const refuse = (text: string) => new BadClusterData(text)
/** Scores this close count as equal. */
const SAME = 1e-10

class Evacuator {
  readonly changes: Changes
  private readonly trials: Trials

  constructor(
    private readonly model: ClusterModel,
    lenient: boolean,
  ) {
    this.changes = new Changes(model, lenient)
    this.trials = new Trials(model, lenient)
  }

  /** Adds a copy as a new instance; the original stays. */
  copyOf(instance: number): number {
    const facts = this.model.instances[instance]
    if (facts === undefined) throw refuse(`There is no instance ${instance}`)
    return this.changes.add(facts)
  }

  move(instance: number, mode: EvacMode, group: number, nodes: readonly number[]): Step[] {
    const { template } = this.model.instances[instance]?.data ?? { template: IMMOVABLE }
    refuseImmovable(template, mode)
    if (!isMirroredInside(template)) return this.replaceOne(instance, group, nodes)
    if (mode === 'primary-only') return this.failOver(instance)
    return mode === 'all' ? this.replaceBoth(instance, group, nodes) : this.replaceOne(instance, group, nodes)
  }

  private failOver(instance: number): Step[] {
    const verdict = this.changes.failover(instance)
    if (verdict !== Verdict.ok) throw refuse(failMode(verdict))
    return [migrateStep(this.model, instance)]
  }

  /** Replaces the secondary of a mirrored instance, or the primary of a shared one. */
  private replaceOne(instance: number, group: number, nodes: readonly number[]): Step[] {
    const { model, trials } = this
    const score = new Score(model, groupNodes(model, group))
    const mirrored = isMirroredInside(model.instances[instance]?.data.template)
    const counts = (node: number) => model.data.nodes[node]?.group === group
    trials.begin(instance)
    const { primary, secondary } = trials
    const [left, target, stays] = [newDifference(), newDifference(), newDifference()]
    const away = mirrored ? secondary : primary
    if (counts(away)) score.difference(away, trials.placement.rows, mirrored ? ROW.secondary : ROW.primary, left)
    let [why, best]: [string, { node: number; score: number } | undefined] = ['', undefined]
    for (const node of nodes) {
      const verdict = mirrored ? trials.replaceSecondary(node) : trials.failoverToAny(node)
      if (verdict !== Verdict.ok) {
        why += ` Node ${model.data.nodes[node]?.name} failed: ${failMode(verdict)};`
        continue
      }
      score.difference(node, trials.placement.rows, ROW.target, target)
      stays.fill(0)
      if (mirrored && counts(primary)) score.difference(primary, trials.placement.rows, ROW.other, stays)
      const extra = mirrored ? 0 : score.pairsAfter(instance, primary, node)
      const after = score.after(Infinity, extra, left, target, stays)
      if (best === undefined || after <= best.score + SAME) best = { node, score: after }
    }
    if (best === undefined) throw refuse(`Can't find any good node: ${why}`)
    if (mirrored) {
      this.changes.replaceSecondary(instance, best.node)
      return [replaceStep(model, instance, best.node)]
    }
    this.changes.failoverToAny(instance, best.node)
    return [migrateStep(model, instance, best.node)]
  }

  /** Replaces both nodes: disks go to the new primary, the instance fails over, then disks go to the new secondary. */
  private replaceBoth(instance: number, group: number, nodes: readonly number[]): Step[] {
    const { model, changes } = this
    const cannot = "Can't find any good nodes for relocation: "
    if (nodes.length < 2) throw refuse(`${cannot}no nodes available`)
    const steps: Step[] = []
    if (model.nodes[model.primary[instance] ?? NO_NODE]?.offline) {
      const verdict = changes.failover(instance)
      if (verdict !== Verdict.ok) {
        throw refuse(`${cannot}Allocation failed: Failing over to the secondary: ${failMode(verdict)}`)
      }
      steps.push(migrateStep(model, instance))
    }
    const { best, why } = this.bestPair(instance, group, nodes)
    if (best === undefined) throw refuse(`${cannot}Allocation failed: ${why}`)
    changes.replaceSecondary(instance, best.primary)
    changes.failover(instance)
    changes.replaceSecondary(instance, best.secondary)
    return [
      ...steps,
      replaceStep(model, instance, best.primary),
      migrateStep(model, instance),
      replaceStep(model, instance, best.secondary),
    ]
  }

  private bestPair(instance: number, group: number, nodes: readonly number[]) {
    const { model, changes } = this
    const score = new Score(model, groupNodes(model, group))
    let best: { primary: number; secondary: number; score: number } | undefined
    let why = ''
    for (const primary of nodes) {
      const mark = changes.mark()
      const failed = this.takeOver(instance, primary)
      if (failed !== undefined) why = failed
      else {
        score.refresh()
        for (const found of this.seconds(instance, score, nodes, primary)) {
          if (typeof found === 'string') why = found
          else if (best === undefined || found.score <= best.score + SAME) best = found
        }
      }
      changes.undo(mark)
    }
    return { best, why }
  }

  private takeOver(instance: number, primary: number): string | undefined {
    const replaced = this.changes.replaceSecondary(instance, primary)
    if (replaced !== Verdict.ok) return `Changing secondary to new primary: ${failMode(replaced)}`
    const failedOver = this.changes.failover(instance)
    return failedOver === Verdict.ok ? undefined : `Failing over to new primary: ${failMode(failedOver)}`
  }

  /** Tries every node as the secondary. The instance is already on its new primary. */
  private *seconds(instance: number, score: Score, nodes: readonly number[], primary: number) {
    const { trials, model } = this
    const [freed, target, stays] = [newDifference(), newDifference(), newDifference()]
    trials.begin(instance)
    const counts = model.data.nodes[trials.secondary]?.group === model.data.nodes[primary]?.group
    if (counts) score.difference(trials.secondary, trials.placement.rows, ROW.secondary, freed)
    for (const secondary of nodes) {
      if (secondary === primary) continue
      const verdict = trials.replaceSecondary(secondary)
      if (verdict !== Verdict.ok) {
        yield `Changing secondary to final secondary: ${failMode(verdict)}`
        continue
      }
      score.difference(secondary, trials.placement.rows, ROW.target, target)
      score.difference(primary, trials.placement.rows, ROW.other, stays)
      yield { primary, secondary, score: score.after(Infinity, 0, freed, target, stays) }
    }
  }
}
