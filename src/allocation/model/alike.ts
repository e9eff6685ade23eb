// Nodes that are alike to the last bit: a result for one holds for all.
import { ALIKE_FROM_NODES } from '../../model/limits/allocation'
import { type ClusterModel, Col } from './cluster-model'

/** Groups nodes by their properties and contents. In a small cluster each node is its own kind. */
export class Alike {
  readonly grouped: boolean
  private readonly ids = new Map<string, number>()
  private readonly kindAt: Int32Array
  private readonly rows: Float64Array
  private order: number[][] = []
  private ordered = false
  private stale: Set<number>
  private readonly places = new Map<number, number>()
  private readonly own: ReadonlySet<number>

  constructor(
    private readonly model: ClusterModel,
    private readonly nodes: readonly number[],
    from = ALIKE_FROM_NODES,
  ) {
    this.grouped = nodes.length >= from
    this.kindAt = new Int32Array(model.nodes.length).fill(-1)
    this.rows = new Float64Array(model.rows.length).fill(NaN)
    this.own = new Set(nodes)
    this.stale = new Set(nodes)
  }

  /** Call this when these nodes have changed. */
  touch(nodes: readonly number[]): void {
    for (const node of nodes) if (this.own.has(node)) this.stale.add(node)
    this.ordered &&= this.stale.size === 0
  }

  has(node: number): boolean {
    return this.kindAt[node] !== -1
  }

  /** A permanent number for the kind of the node. */
  idOf(node: number): number {
    if (this.stale.delete(node)) this.follow(node)
    return this.kindAt[node] ?? -1
  }

  /** The index of the node's kind in `kinds`. */
  kindOf(node: number): number {
    return this.places.get(this.kindAt[node] ?? -1) ?? -1
  }

  /** The members of each kind, in order. */
  kinds(): readonly (readonly number[])[] {
    if (this.ordered) return this.order
    this.ordered = true
    const members = new Map<number, number[]>()
    for (const node of this.stale) this.follow(node)
    this.stale = new Set()
    for (const node of this.nodes) {
      const kind = this.kindAt[node] ?? -1
      const list = members.get(kind)
      if (list === undefined) members.set(kind, [node])
      else list.push(node)
    }
    this.order = [...members.values()]
    this.places.clear()
    ;[...members.keys()].forEach((kind, at) => this.places.set(kind, at))
    return this.order
  }

  private follow(node: number): void {
    const { model, rows } = this
    if (!this.grouped) {
      this.kindAt[node] = node
      return
    }
    const from = node * Col.Width
    let same = true
    for (let at = from; at < from + WIDTH; at++) {
      if (rows[at] !== model.rows[at]) same = false
      rows[at] = model.rows[at] ?? 0
    }
    if (same) return
    const facts = model.nodes[node]
    if (facts === undefined) return
    const { data } = facts
    const fixed = [data.group, data.totalMemory, facts.usable, data.totalDisk, data.totalCpus, data.cpuSpeed]
    const names = [facts.locations, facts.migration, facts.receives].map((tags) => [...tags].join(','))
    const rest = [facts.offline, data.spindles, data.exclusiveStorage, ...names, facts.lowDisk, facts.vcpuRatio]
    const tags = [...(model.tagCounts[node] ?? [])].join(',')
    const key = [...fixed, ...rest, facts.highSpindles, tags, ...model.rows.subarray(from, from + WIDTH)].join(' ')
    const id = this.ids.get(key) ?? this.ids.size
    this.ids.set(key, id)
    this.kindAt[node] = id
  }
}

const WIDTH: number = Col.Width
