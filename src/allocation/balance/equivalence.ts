// Finds instances that are alike and on alike nodes: the same move of any of them leaves the same score.
import { Alike } from '../model/alike'
import { NO_NODE } from '../model/cluster-data'
import { type ClusterModel, Col } from '../model/cluster-model'
import { ROW, Trials } from '../model/trials'

export class Likeness {
  private readonly alike: Alike
  private readonly trials: Trials
  /** By instance: a number for its size and settings; equal instances have the same number. */
  private readonly what: Int32Array
  /** By instance: a number for the instance with its nodes; below 0 if it must be recomputed. */
  private readonly sources: Int32Array
  private readonly keys: string[] = []
  private readonly ids = new Map<string, number>()
  private readonly members: number[] = []
  private readonly unused: number[] = []

  constructor(private readonly model: ClusterModel) {
    this.trials = new Trials(model, false)
    this.alike = new Alike(model, [...model.nodes.keys()], 0)
    const known = new Map<string, number>()
    this.what = Int32Array.from(model.instances, ({ data, alias, movable, ...facts }) => {
      const { template, memory, disk, vcpus, spindles, spindleUse, forthcoming } = data
      const key = JSON.stringify([template, memory, disk, vcpus, spindles, spindleUse, forthcoming, facts])
      const id = known.get(key) ?? known.size
      known.set(key, id)
      return id
    })
    this.sources = new Int32Array(model.instances.length).fill(-1)
  }

  /** The same number for alike instances on alike nodes. */
  sourceOf(instance: number): number {
    const known = this.sources[instance] ?? -1
    return known === -1 ? this.find(instance) : known
  }

  kindOf(node: number): number {
    return this.alike.idOf(node)
  }

  /** These nodes have changed. */
  touch(nodes: readonly number[]): void {
    const { primary, secondary } = this.model
    this.alike.touch(nodes)
    for (let at = 0; at < this.sources.length; at++) {
      if (nodes.includes(primary[at] ?? NO_NODE) || nodes.includes(secondary[at] ?? NO_NODE)) this.forget(at)
    }
  }

  private find(instance: number): number {
    const { model, trials } = this
    const [primary, secondary] = [model.primary[instance] ?? NO_NODE, model.secondary[instance] ?? NO_NODE]
    trials.begin(instance)
    const mirror =
      secondary === NO_NODE
        ? ''
        : [
            this.kindOf(secondary),
            trials.placement.rows[ROW.secondary + Col.Reserved],
            model.peers[primary]?.get(secondary) ?? 0,
          ].join(' ')
    const key = `${this.what[instance]} ${this.kindOf(primary)} ${mirror}`
    const id = this.ids.get(key) ?? this.unused.pop() ?? this.members.length
    this.ids.set(key, id)
    this.keys[id] = key
    this.members[id] = (this.members[id] ?? 0) + 1
    this.sources[instance] = id
    return id
  }

  private forget(instance: number): void {
    const id = this.sources[instance] ?? -1
    if (id === -1) return
    this.sources[instance] = -1
    const left = (this.members[id] ?? 0) - 1
    this.members[id] = left
    if (left > 0) return
    this.ids.delete(this.keys[id] ?? '')
    this.unused.push(id)
  }
}
