// An immutable map from texts to values, in the order of the texts: a B+ tree. A new version shares all but one path with
// the version that it was made of. So reading, changing and comparing versions costs only the logarithm of the size, in
// whatever order and from however many versions.

export type SortedTree<T> = Leaf<T> | Branch<T>

interface Leaf<T> {
  readonly height: 0
  readonly keys: readonly string[]
  readonly values: readonly T[]
}

interface Branch<T> {
  readonly height: number
  /** The smallest key below each child. */
  readonly keys: readonly string[]
  readonly children: readonly SortedTree<T>[]
  readonly size: number
}

/** Entries of a leaf, or children of a branch. Both are copied when one changes. */
const WIDTH_MAX = 32
const WIDTH_MIN = 8

export const emptyTree = <T>(): SortedTree<T> => leaf<T>([], [])

export const treeSize = <T>(tree: SortedTree<T>): number => (isLeaf(tree) ? tree.keys.length : tree.size)

/** The last of several entries with one key counts. */
export function treeFrom<T>(entries: Iterable<readonly [string, T]>): SortedTree<T> {
  const sorted = [...new Map(entries)].sort(([a], [b]) => (a < b ? -1 : 1))
  let level: SortedTree<T>[] = chunks(sorted).map((part) =>
    leaf(
      part.map(([key]) => key),
      part.map(([, value]) => value),
    ),
  )
  while (level.length > 1) level = chunks(level).map(branch)
  return level[0] ?? emptyTree()
}

export function treeGet<T>(tree: SortedTree<T>, key: string): T | undefined {
  let node = tree
  while (!isLeaf(node)) {
    const child: SortedTree<T> | undefined = node.children[placeOf(node.keys, key)]
    if (child === undefined) return undefined
    node = child
  }
  const at = placeOf(node.keys, key)
  return node.keys[at] === key ? node.values[at] : undefined
}

/** The tree with `key` set; undefined removes it. The same tree if this changes nothing. */
export function treeSet<T>(tree: SortedTree<T>, key: string, value: T | undefined): SortedTree<T> {
  if (treeGet(tree, key) === value) return tree
  const made = edited(tree, key, value)
  let root = made.length > 1 ? branch(made) : (made[0] ?? emptyTree<T>())
  while (!isLeaf(root) && root.children.length === 1) root = root.children[0] ?? root
  return root
}

/** The entries from this key on, in order. */
export function* treeEntriesFrom<T>(tree: SortedTree<T>, from: string): Generator<readonly [string, T]> {
  const start = placeOf(tree.keys, from)
  if (!isLeaf(tree)) {
    for (const child of tree.children.slice(start)) yield* treeEntriesFrom(child, from)
    return
  }
  for (let at = start; at < tree.keys.length; at++) {
    const key = tree.keys[at] ?? ''
    if (key >= from) yield [key, tree.values[at] as T]
  }
}

export function treeKeys<T>(tree: SortedTree<T>, into: string[] = []): string[] {
  if (isLeaf(tree)) into.push(...tree.keys)
  else for (const child of tree.children) treeKeys(child, into)
  return into
}

export function treeValues<T>(tree: SortedTree<T>, into: T[] = []): T[] {
  if (isLeaf(tree)) into.push(...tree.values)
  else for (const child of tree.children) treeValues(child, into)
  return into
}

/** Calls `each` for every key with different values, in order. Skips whatever both trees share. */
export function treeDifference<T>(
  before: SortedTree<T>,
  after: SortedTree<T>,
  each: (key: string, old: T | undefined, now: T | undefined) => void,
): void {
  const [a, b] = [new Cursor(before), new Cursor(after)]
  for (;;) {
    skipShared(a, b)
    const [left, right] = [a.key, b.key]
    if (left === undefined && right === undefined) return
    const isOld = left !== undefined && (right === undefined || left <= right)
    const isNew = right !== undefined && (left === undefined || right <= left)
    const [old, now] = [isOld ? a.value : undefined, isNew ? b.value : undefined]
    if (old !== now) each((isOld ? left : right) ?? '', old, now)
    if (isOld) a.next()
    if (isNew) b.next()
  }
}

/** Brings both cursors to a leaf, past the parts that are the same node. */
function skipShared<T>(a: Cursor<T>, b: Cursor<T>): void {
  for (;;) {
    const [left, right] = [a.node, b.node]
    if (left !== undefined && left === right) {
      a.leave()
      b.leave()
      continue
    }
    const [high, low] = [left?.height ?? 0, right?.height ?? 0]
    if (high === 0 && low === 0) return
    if (high >= low) a.descend()
    if (low >= high) b.descend()
  }
}

/** A position in a tree: nodes that are still to be read, the next one last, and a place in it if it is a leaf. */
class Cursor<T> {
  private readonly nodes: SortedTree<T>[]
  private at = 0

  constructor(tree: SortedTree<T>) {
    this.nodes = treeSize(tree) === 0 ? [] : [tree]
  }

  get node(): SortedTree<T> | undefined {
    return this.nodes.at(-1)
  }

  get key(): string | undefined {
    return this.node?.keys[this.at]
  }

  get value(): T | undefined {
    const { node } = this
    return node !== undefined && isLeaf(node) ? node.values[this.at] : undefined
  }

  next(): void {
    this.at++
    if (this.at === this.node?.keys.length) this.leave()
  }

  leave(): void {
    this.nodes.pop()
    this.at = 0
  }

  descend(): void {
    const node = this.nodes.pop()
    if (node !== undefined && !isLeaf(node)) this.nodes.push(...node.children.toReversed())
  }
}

const isLeaf = <T>(tree: SortedTree<T>): tree is Leaf<T> => tree.height === 0

const leaf = <T>(keys: readonly string[], values: readonly T[]): Leaf<T> => ({ height: 0, keys, values })

const branch = <T>(children: readonly SortedTree<T>[]): Branch<T> => ({
  height: (children[0]?.height ?? 0) + 1,
  keys: children.map(({ keys }) => keys[0] ?? ''),
  children,
  size: children.reduce((sum, child) => sum + treeSize(child), 0),
})

/** The nodes that take the place of this one: none if it became empty, two if it became too wide. */
function edited<T>(tree: SortedTree<T>, key: string, value: T | undefined): SortedTree<T>[] {
  const at = placeOf(tree.keys, key)
  if (!isLeaf(tree)) {
    const child = tree.children[at]
    const made = child === undefined ? [] : edited(child, key, value)
    return halves(branch(withoutNarrow(tree.children.toSpliced(at, 1, ...made), at)))
  }
  const place = tree.keys[at] === key ? { at, count: 1 } : { at: isBefore(tree.keys, at, key) ? at + 1 : at, count: 0 }
  const [keys, values] = value === undefined ? [[], []] : [[key], [value]]
  return halves(
    leaf(tree.keys.toSpliced(place.at, place.count, ...keys), tree.values.toSpliced(place.at, place.count, ...values)),
  )
}

const isBefore = (keys: readonly string[], at: number, key: string): boolean => {
  const found = keys[at]
  return found !== undefined && found < key
}

/** Joins the child at `at`, if it became narrow, with its neighbour. */
function withoutNarrow<T>(children: readonly SortedTree<T>[], at: number): readonly SortedTree<T>[] {
  const narrow = children[at]
  if (narrow === undefined || narrow.keys.length >= WIDTH_MIN || children.length < 2) return children
  const first = at === 0 ? 0 : at - 1
  const [left, right] = [children[first], children[first + 1]]
  return left === undefined || right === undefined
    ? children
    : children.toSpliced(first, 2, ...halves(joined(left, right)))
}

function joined<T>(left: SortedTree<T>, right: SortedTree<T>): SortedTree<T> {
  if (isLeaf(left) && isLeaf(right)) return leaf([...left.keys, ...right.keys], [...left.values, ...right.values])
  return branch([...childrenOf(left), ...childrenOf(right)])
}

const childrenOf = <T>(tree: SortedTree<T>): readonly SortedTree<T>[] => (isLeaf(tree) ? [] : tree.children)

function halves<T>(tree: SortedTree<T>): SortedTree<T>[] {
  const width = tree.keys.length
  if (width === 0) return []
  if (width <= WIDTH_MAX) return [tree]
  const half = width >> 1
  if (!isLeaf(tree)) return [branch(tree.children.slice(0, half)), branch(tree.children.slice(half))]
  return [0, half].map((from) =>
    leaf(tree.keys.slice(from, from === 0 ? half : width), tree.values.slice(from, from === 0 ? half : width)),
  )
}

function chunks<E>(items: readonly E[]): E[][] {
  const count = Math.ceil(items.length / WIDTH_MAX)
  return Array.from({ length: count }, (_, at) => items.slice(at * WIDTH_MAX, (at + 1) * WIDTH_MAX))
}

/** The last place whose key is not above the wanted one; 0 if all are. */
function placeOf(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((keys[middle] ?? '') <= key) low = middle
    else high = middle - 1
  }
  return low
}
