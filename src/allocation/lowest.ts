// Takes numbers in the order of their values, lowest first, without ordering those that are never taken: a binary heap.
export class Lowest {
  private readonly heap: number[] = []
  private ordered = false

  constructor(private readonly values: Float64Array) {}

  /** All are added before one is taken, and values do not change until theirs is. */
  add(one: number): void {
    this.heap.push(one)
  }

  take(): number | undefined {
    const { heap } = this
    if (!this.ordered) for (let at = (heap.length >> 1) - 1; at >= 0; at--) this.sink(at)
    this.ordered = true
    const [first] = heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return first
    heap[0] = last
    this.sink(0)
    return first
  }

  private sink(from: number): void {
    const { heap } = this
    const one = heap[from] ?? 0
    const value = this.of(one)
    let at = from
    for (let child = 2 * at + 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && this.valueAt(child + 1) < this.valueAt(child)) child++
      if (this.valueAt(child) >= value) break
      heap[at] = heap[child] ?? 0
      at = child
    }
    heap[at] = one
  }

  private valueAt(at: number): number {
    return this.of(this.heap[at] ?? 0)
  }

  private of(one: number): number {
    return this.values[one] ?? Infinity
  }
}
