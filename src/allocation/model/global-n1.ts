// Checks whether every node may die: its mirrored instances fail over, its shared ones move within the group, and there
// is room to recreate the rest.
import type { AllocOptions } from './options'
import { Changes } from './changes'
import { NO_NODE, escapesWhole } from './cluster-data'
import { type ClusterModel, Col, type InstanceFacts, freeMemory } from './cluster-model'
import { mayDie } from './outlook'
import { Placement, SOFT, Verdict } from './placement'
import { judgePolicy } from './policy'
import { NO_DIFFERENCE, Score, newDifference } from './score'
import { ROW, Trials } from './trials'
import { ALIKE_FROM_NODES } from '../../model/limits/allocation'
import { NO_DISKS, isMirroredInside } from '../../model/templates'

type Options = Pick<AllocOptions, 'capacity' | 'capacityIgnores' | 'acceptExisting' | 'acceptFailing'>

/** The result for a node's death. `sure`: one more instance elsewhere does not change it. */
interface Known {
  readonly survives: boolean
  readonly sure: boolean
}

export interface Knowledge {
  readonly known: ReadonlyMap<number, Known>
  readonly surely: ReadonlySet<number>
  readonly primaries: readonly number[][]
}

interface Held {
  readonly instance: number
  readonly facts: InstanceFacts | undefined
  readonly primary: number
  readonly secondary: number
  /** Results for the checked nodes. */
  readonly known: ReadonlyMap<number, Known>
}

interface Size {
  readonly memory: number
  readonly disk: number
}

export class GlobalN1 {
  private watched: readonly number[]
  private readonly changes: Changes
  private readonly trials: Trials
  private readonly placement: Placement
  private known = new Map<number, Known>()
  private readonly scores = new Map<number, Score>()
  private readonly whole: Score
  private version = -1
  /** The last placement that passed. */
  private held: Held | undefined
  /** Nodes that certainly survive, without a simulation. */
  private surely: ReadonlySet<number> = new Set()
  /** Nodes changed temporarily, in order. For each score, how many of them it includes. */
  private readonly touched: number[] = []
  private readonly counted = new Map<Score, number>()
  /** The last node that failed: it is checked first. */
  private weakest = NO_NODE
  private primaries: readonly number[][] = []

  constructor(
    private readonly model: ClusterModel,
    private readonly nodes: readonly number[],
    { capacityIgnores, acceptExisting, acceptFailing }: Options,
  ) {
    this.watched = nodes.filter((node) => {
      const facts = model.nodes[node]
      if (facts === undefined || capacityIgnores.includes(facts.data.group)) return false
      return !(acceptExisting && facts.offline)
    })
    this.changes = new Changes(model, true)
    this.trials = new Trials(model, true)
    this.placement = new Placement(model, new Float64Array(Col.Width))
    this.whole = new Score(model, nodes)
    if (!acceptFailing) return
    const failing = this.failing()
    this.watched = this.watched.filter((node) => !failing.includes(node))
  }

  holds(): boolean {
    this.follow()
    return this.weakestFirst(this.watched).every((node) => {
      const { survives } = this.survives(node)
      if (!survives) this.weakest = node
      return survives
    })
  }

  /** The current results, to be restored when the cluster is in this state again. */
  knowledge(): Knowledge {
    this.follow()
    return { known: new Map(this.known), surely: this.surely, primaries: this.primaries }
  }

  restore({ known, surely, primaries }: Knowledge): void {
    this.version = this.model.version
    this.held = undefined
    this.known = new Map(known)
    this.surely = surely
    this.primaries = primaries
    this.forget()
  }

  /** Nodes that may not die. */
  failing(): number[] {
    this.follow()
    return this.watched.filter((node) => !this.survives(node).survives)
  }

  /** The same with the new instance on these nodes. */
  holdsWith(instance: number, primary: number, secondary: number): boolean {
    this.follow()
    const touched = (node: number) =>
      node === primary ||
      node === secondary ||
      this.model.served[node]?.has(primary) === true ||
      this.model.served[node]?.has(secondary) === true
    const unsure: number[] = []
    for (const node of this.watched) {
      const known = this.survives(node)
      if (touched(node) || !known.sure) unsure.push(node)
      else if (!known.survives) return false
    }
    const mark = this.changes.mark()
    this.changes.place(instance, primary, secondary)
    this.touched.push(primary, ...(secondary === NO_NODE ? [] : [secondary]))
    const mine = this.primaries[primary] ?? []
    mine.unshift(instance)
    const known = new Map<number, Known>()
    const holds = this.weakestFirst(unsure).every((node) => {
      const after = this.simulate(node)
      known.set(node, after)
      if (!after.survives) this.weakest = node
      return after.survives
    })
    mine.shift()
    this.changes.undo(mark)
    this.touched.push(primary, ...(secondary === NO_NODE ? [] : [secondary]))
    this.version = this.model.version
    const facts = this.model.instances[instance]
    this.held = holds ? { instance, facts, primary, secondary, known } : undefined
    return holds
  }

  /** False if it certainly fails with the new instance on this primary, and with any larger one. */
  mayHoldWith(facts: InstanceFacts, primary: number): boolean {
    this.follow()
    const { watched, weakest, model } = this
    // In a large cluster, only the nodes that matter most.
    const requested =
      watched.length < ALIKE_FROM_NODES ? watched : watched.filter((one) => one === primary || one === weakest)
    return requested.every((node) =>
      mayDie(model, node, this.primaries[node] ?? [], this.escapes(node), [facts, primary]),
    )
  }

  private weakestFirst(nodes: readonly number[]): readonly number[] {
    return nodes.includes(this.weakest) ? [this.weakest, ...nodes.filter((node) => node !== this.weakest)] : nodes
  }

  /** Forgets results about nodes when the model has changed. */
  private follow(): void {
    const { model } = this
    if (this.version === model.version || this.adopted()) return
    this.version = model.version
    this.known.clear()
    this.surely = new Set()
    this.forget()
    const primaries: number[][] = model.nodes.map(() => [])
    // In Ganeti's order: newest first.
    for (let at = model.instances.length - 1; at >= 0; at--) {
      if (model.instances[at]?.data.forthcoming !== true) primaries[model.primary[at] ?? NO_NODE]?.push(at)
    }
    this.primaries = primaries
  }

  /** If the only change is the placement we just checked, reuse that result. */
  private adopted(): boolean {
    const { model, held, known } = this
    this.held = undefined
    if (held === undefined || model.version !== this.version + 1) return false
    const { instance, facts, primary, secondary } = held
    if (model.instances[instance] !== facts) return false
    if (model.primary[instance] !== primary || model.secondary[instance] !== secondary) return false
    this.version = model.version
    this.forget()
    this.primaries = this.primaries.with(primary, [instance, ...(this.primaries[primary] ?? [])])
    known.clear()
    for (const [node, after] of held.known) known.set(node, after)
    this.surely = new Set(this.watched.filter((node) => !known.has(node)))
    return true
  }

  /** Scores must be recomputed, whatever has changed. */
  private forget(): void {
    this.touched.length = 0
    this.counted.clear()
  }

  private refresh(score: Score): void {
    const from = this.counted.get(score)
    score.refresh(from === undefined ? score.nodes : [...new Set(this.touched.slice(from))])
    this.counted.set(score, this.touched.length)
  }

  private survives(node: number): Known {
    const known = this.known.get(node) ?? this.simulate(node, this.surely.has(node))
    this.known.set(node, known)
    this.version = this.model.version
    return known
  }

  private simulate(node: number, surely = false): Known {
    const { model, changes } = this
    const own = this.primaries[node] ?? []
    const template = (instance: number) => model.instances[instance]?.data.template ?? NO_DISKS
    const mark = changes.mark()
    const from = this.touched.length
    try {
      const mirrored = own.filter((instance) => isMirroredInside(template(instance)))
      for (const instance of mirrored) {
        this.touched.push(node, model.secondary[instance] ?? node)
        if (changes.failover(instance) !== Verdict.ok) return { survives: false, sure: true }
      }
      const others = own.filter((instance) => !isMirroredInside(template(instance)))
      if (others.length === 0) return { survives: true, sure: true }
      const room = this.room(node, others)
      if (room !== undefined) return room
      if (surely) return { survives: true, sure: false }
      const shared = others.filter((instance) => escapesWhole(template(instance)))
      const memory = (instance: number) => model.instances[instance]?.data.memory ?? 0
      const fixed = others.filter((instance) => !shared.includes(instance)).sort((a, b) => memory(b) - memory(a))
      const escapes = this.escapes(node)
      const survives =
        shared.every((instance) => this.evacuate(instance, node, escapes)) &&
        fixed.every((instance) => this.recreate(instance, escapes))
      return { survives, sure: false }
    } finally {
      changes.undo(mark)
      this.touched.push(...new Set(this.touched.slice(from)))
    }
  }

  private escapes(node: number): number[] {
    const { nodes, model } = this
    const group = model.data.nodes[node]?.group
    return nodes.filter((other) => other !== node && model.data.nodes[other]?.group === group)
  }

  /**
   * Decides by counting. Either there is room for the last instance wherever the earlier ones go, or there is too
   * little even for small ones.
   */
  private room(node: number, instances: readonly number[]): Known | undefined {
    const { model } = this
    const facts = instances.flatMap((instance) => model.instances[instance] ?? [])
    const memory = facts.map(({ data, usesMemory }) => (usesMemory ? data.memory : 0))
    const disk = facts.map(({ data, local }) => (local ? data.disk : 0))
    const [largest, smallest] = [sizeOf(Math.max, memory, disk), sizeOf(Math.min, memory, disk)]
    let [taken, takenAtMost, first, second] = [0, 0, 0, 0]
    for (const other of this.escapes(node)) {
      const room = this.roomOn(other, smallest)
      if (room === 0) continue
      takenAtMost += Math.min(room, instances.length)
      const target = model.nodes[other]
      if (target === undefined || target.data.exclusiveStorage || !this.trials.mayMigrate(node, other)) continue
      const policy = model.data.groups[target.data.group]?.policy ?? model.data.policy
      const fits = facts.every(
        ({ data }) => escapesWhole(data.template) || judgePolicy(data, policy, false) === Verdict.ok,
      )
      if (!fits) continue
      const here = Math.min(this.roomOn(other, largest), instances.length)
      taken += here
      ;[first, second] = here > first ? [here, first] : [first, Math.max(second, here)]
      // One more instance may fill the two nodes to which it goes.
      if (taken - first - second >= instances.length) return { survives: true, sure: true }
    }
    if (takenAtMost < instances.length) return { survives: false, sure: true }
    return taken >= instances.length ? { survives: true, sure: false } : undefined
  }

  /** How many instances of this size the node could take; some memory and disk must stay free. */
  private roomOn(node: number, { memory, disk }: Size): number {
    const free = freeMemory(this.model, node)
    const freeDisk = this.model.rows[node * Col.Width + Col.FreeDisk] ?? 0
    const inMemory = memory > 0 ? Math.ceil(free / memory) - 1 : free > 0 ? Infinity : 0
    const onDisk = disk > 0 ? Math.ceil(freeDisk / disk) - 1 : Infinity
    return Math.max(0, Math.min(inMemory, onDisk))
  }

  private evacuate(instance: number, from: number, escapes: readonly number[]): boolean {
    const { trials, model } = this
    const group = model.data.nodes[from]?.group ?? -1
    const score = this.scoreOf(group)
    this.refresh(score)
    trials.begin(instance)
    const [emptied, target] = [newDifference(), newDifference()]
    score.difference(from, trials.placement.rows, ROW.primary, emptied)
    let best: { node: number; score: number } | undefined
    for (const node of escapes) {
      if (trials.failoverToAny(node) !== Verdict.ok) continue
      score.difference(node, trials.placement.rows, ROW.target, target)
      const extra = score.pairsAfter(instance, from, node)
      const after = score.after(Infinity, extra, emptied, target, NO_DIFFERENCE)
      if (best === undefined || after <= best.score + SAME) best = { node, score: after }
    }
    if (best === undefined) return false
    this.changes.failoverToAny(instance, best.node)
    this.touched.push(from, best.node)
    return true
  }

  private recreate(instance: number, escapes: readonly number[]): boolean {
    const { placement, model, whole } = this
    const facts = model.instances[instance]
    if (facts === undefined) return false
    this.refresh(whole)
    const target = newDifference()
    let best: { node: number; score: number } | undefined
    const policy = model.data.groups[model.nodes[escapes[0] ?? NO_NODE]?.data.group ?? -1]?.policy ?? model.data.policy
    const allowed = [false, true].map((exclusive) => judgePolicy(facts.data, policy, exclusive) === Verdict.ok)
    for (const node of escapes) {
      if (!allowed[model.nodes[node]?.data.exclusiveStorage === true ? 1 : 0]) continue
      placement.copy(node, 0)
      if (placement.addPrimary(0, node, instance, 0, SOFT) !== Verdict.ok) continue
      whole.difference(node, placement.rows, 0, target)
      const after = whole.after(Infinity, 0, target, NO_DIFFERENCE, NO_DIFFERENCE)
      if (best === undefined || after <= best.score + SAME) best = { node, score: after }
    }
    if (best === undefined) return false
    // The instance still counts on the dying node, which is not checked any more.
    this.touched.push(model.primary[instance] ?? best.node, best.node)
    this.changes.place(instance, best.node, NO_NODE)
    return true
  }

  private scoreOf(group: number): Score {
    const { model } = this
    const known =
      this.scores.get(group) ??
      new Score(
        model,
        this.nodes.filter((node) => model.data.nodes[node]?.group === group),
      )
    this.scores.set(group, known)
    return known
  }
}

const sizeOf = (most: (...values: number[]) => number, memory: readonly number[], disk: readonly number[]): Size => ({
  memory: most(...memory),
  disk: most(...disk),
})

const SAME = 1e-10
