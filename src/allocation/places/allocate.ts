// Places a new instance: tries every node, or pair of nodes, and takes the one that leaves the cluster most even.
import { Alike } from '../model/alike'
import { Changes } from '../model/changes'
import { NO_NODE } from '../model/cluster-data'
import { type ClusterModel, Col, sharedLocations } from '../model/cluster-model'
import { GlobalN1 } from '../model/global-n1'
import type { AllocOptions } from '../model/options'
import { Placement, SOFT, STRICT, Verdict } from '../model/placement'
import { judgePolicy } from '../model/policy'
import { NO_DIFFERENCE, Score, newDifference } from '../model/score'
import { type Placed, SAME, Ties } from '../model/ties'

export interface Tried {
  readonly solution: Placed | undefined
  /** The number of places where it fits. */
  readonly fits: number
  /** By verdict, the number of places that fail. */
  readonly failures: readonly number[]
}

export class Allocator {
  readonly changes: Changes
  private readonly score: Score
  private readonly placement: Placement
  private readonly n1: GlobalN1
  private ties: Ties

  /** `nodes`: the nodes whose evenness counts. */
  constructor(
    private readonly model: ClusterModel,
    nodes: readonly number[],
    private readonly options: AllocOptions,
    changes?: Changes,
    n1?: GlobalN1,
  ) {
    this.score = new Score(model, nodes)
    this.changes = changes ?? new Changes(model, options.ignoreSoftErrors)
    this.placement = new Placement(model, new Float64Array(Col.Width))
    this.n1 = n1 ?? new GlobalN1(model, nodes, options)
    this.ties = this.tiesAmong(nodes)
  }

  /** Tries the instance, which is in the model without nodes, on all of these nodes, or pairs of them. */
  try(instance: number, required: number, nodes: readonly number[], primaries = nodes): Tried {
    this.score.refresh()
    this.ties = this.tiesAmong(nodes)
    return required === 2 ? this.tryPairs(instance, nodes, primaries) : this.trySingles(instance, nodes)
  }

  private trySingles(instance: number, nodes: readonly number[]): Tried {
    const failures: number[] = []
    const places: Placed[] = []
    for (const node of nodes) {
      const { verdict, difference } = this.asPrimary(instance, node)
      if (difference === undefined) count(failures, verdict, 1)
      else {
        const extra = this.score.pairsAfter(instance, NO_NODE, node)
        const score = this.score.after(Infinity, extra, difference, NO_DIFFERENCE, NO_DIFFERENCE)
        places.push({ primary: node, secondary: NO_NODE, score })
      }
    }
    return this.bestOf(instance, places, failures)
  }

  /** The same, with the best place's score to Ganeti's last digit. */
  tell(instance: number, required: number, nodes: readonly number[], primaries = nodes): Tried {
    const tried = this.try(instance, required, nodes, primaries)
    if (tried.solution === undefined) return tried
    const score = this.ties.exactly(instance, tried.solution)
    return { ...tried, solution: { ...tried.solution, score } }
  }

  private tryPairs(instance: number, nodes: readonly number[], primaries: readonly number[]): Tried {
    const failures: number[] = []
    const { model } = this
    const group = (node: number) => model.data.nodes[node]?.group
    const seconds = new Map(nodes.map((node) => [node, this.asSecondary(instance, node, NO_NODE)]))
    const found: Placed[] = []
    let fits = 0
    for (const primary of primaries) {
      const partners = nodes.filter((node) => node !== primary && group(node) === group(primary))
      const { verdict, difference } = this.asPrimary(instance, primary)
      if (difference === undefined) {
        count(failures, verdict, partners.length)
        continue
      }
      const kept = new Float64Array(difference)
      const pairs = this.score.pairsAfter(instance, NO_NODE, primary)
      const places = partners.flatMap((secondary) => {
        const known = model.served[primary]?.has(secondary) === true
        const second = known ? this.asSecondary(instance, secondary, primary) : seconds.get(secondary)
        if (second?.difference === undefined) {
          count(failures, second?.verdict ?? Verdict.internal, 1)
          return []
        }
        const extra = pairs + sharedLocations(model.nodes[primary], model.nodes[secondary])
        return [
          { primary, secondary, score: this.score.after(Infinity, extra, kept, second.difference, NO_DIFFERENCE) },
        ]
      })
      const best = this.bestOf(instance, places, failures)
      fits += best.fits
      if (best.solution) found.push(best.solution)
    }
    return { solution: this.firstOf(instance, found), fits, failures }
  }

  private asPrimary(instance: number, node: number): Half {
    const [facts, target] = [this.model.instances[instance], this.model.nodes[node]]
    if (facts === undefined || target === undefined) return { verdict: Verdict.internal, difference: undefined }
    const policy = this.model.data.groups[target.data.group]?.policy ?? this.model.data.policy
    const fit = this.options.ignorePolicy ? Verdict.ok : judgePolicy(facts.data, policy, target.data.exclusiveStorage)
    if (fit !== Verdict.ok) return { verdict: fit, difference: undefined }
    this.placement.copy(node, 0)
    const soft = this.options.ignoreSoftErrors ? SOFT : STRICT
    return this.half(node, this.placement.addPrimary(0, node, instance, 0, soft))
  }

  private asSecondary(instance: number, node: number, primary: number): Half {
    this.placement.copy(node, 0)
    return this.half(node, this.placement.addSecondary(0, node, instance, primary, STRICT))
  }

  private half(node: number, verdict: Verdict): Half {
    if (verdict !== Verdict.ok) return { verdict, difference: undefined }
    const difference = newDifference()
    this.score.difference(node, this.placement.rows, 0, difference)
    return { verdict, difference }
  }

  /** The best place after which every node may still die. Better places that fail this count as failures. */
  private bestOf(instance: number, places: readonly Placed[], failures: number[]): Tried {
    if (!this.options.capacity) {
      return { solution: this.firstOf(instance, places), fits: places.length, failures }
    }
    let dropped = 0
    for (const place of this.ties.inOrder(instance, places)) {
      if (this.n1.holdsWith(instance, place.primary, place.secondary)) {
        count(failures, Verdict.n1, dropped)
        return { solution: place, fits: places.length - dropped, failures }
      }
      dropped++
    }
    count(failures, Verdict.n1, dropped)
    return { solution: undefined, fits: 0, failures }
  }

  private firstOf(instance: number, places: readonly Placed[]): Placed | undefined {
    const best = places.reduce((least, { score }) => Math.min(least, score), Infinity)
    const near = places.filter(({ score }) => score <= best + SAME)
    return this.ties.inOrder(instance, near).next().value
  }

  private tiesAmong(nodes: readonly number[]): Ties {
    const { model, score, options } = this
    return new Ties(model, score, options.ignoreSoftErrors ? SOFT : STRICT, new Alike(model, nodes, 1))
  }
}

interface Half {
  readonly verdict: Verdict
  readonly difference: Float64Array | undefined
}

function count(failures: number[], verdict: Verdict, by: number): void {
  failures[verdict] = (failures[verdict] ?? 0) + by
}
