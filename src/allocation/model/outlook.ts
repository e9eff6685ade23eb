// Global N+1 by counting only: when a node dies, is there room at all for its instances? Only sizes count. Without room
// here, a real placement fails too, and so does one with a larger instance.
import { type ClusterModel, Col, type InstanceFacts, freeMemory } from './cluster-model'
import { type InstanceData, escapesWhole } from './cluster-data'
import { Verdict } from './placement'
import { judgePolicy } from './policy'
import { OUTLOOK_TRIES } from '../../model/limits/allocation'
import { isMirroredInside } from '../../model/templates'

interface Item {
  readonly memory: number
  /** -1 if it is not on the node's own disks. */
  readonly disk: number
}

interface Bin {
  memory: number
  disk: number
}

/**
 * `own`: the dying node's instances. `escapes`: where they may go. `added` and `primary`: one more instance and its
 * node.
 */
export function mayDie(
  model: ClusterModel,
  node: number,
  own: readonly number[],
  escapes: readonly number[],
  [added, primary]: readonly [added: InstanceFacts, primary: number],
): boolean {
  const facts = (instance: number) => model.instances[instance] ?? added
  const mirrored = own.filter((instance) => isMirroredInside(facts(instance).data.template))
  const homeless = own.filter((instance) => !mirrored.includes(instance)).map(facts)
  if (!homeless.every(({ data }) => isWelcome(model, data, escapes))) return false
  const items = homeless.map(itemOf)
  if (primary === node && !isMirroredInside(added.data.template)) items.push(itemOf(added))
  if (items.length === 0) return true
  const bins = new Map(
    escapes.map((at): [number, Bin] => [
      at,
      { memory: freeMemory(model, at), disk: model.rows[at * Col.Width + Col.FreeDisk] ?? 0 },
    ]),
  )
  move(itemOf(added), bins.get(primary), -1)
  for (const instance of mirrored) {
    // Its disks are there already.
    move({ ...itemOf(facts(instance)), disk: -1 }, bins.get(model.secondary[instance] ?? -1), -1)
  }
  items.sort((one, other) => other.memory - one.memory || other.disk - one.disk)
  return new Packing(items, [...bins.values()]).mayFit()
}

/** Recreated instances must fit the group's policy. */
function isWelcome(model: ClusterModel, data: InstanceData, escapes: readonly number[]): boolean {
  if (escapesWhole(data.template)) return true
  return escapes.some((node) => {
    const target = model.nodes[node]?.data
    const policy = model.data.groups[target?.group ?? -1]?.policy ?? model.data.policy
    return judgePolicy(data, policy, target?.exclusiveStorage === true) === Verdict.ok
  })
}

const itemOf = ({ data, usesMemory, local }: InstanceFacts): Item => ({
  memory: usesMemory ? data.memory : 0,
  disk: local ? data.disk : -1,
})

function move({ memory, disk }: Item, bin: Bin | undefined, by: 1 | -1): void {
  if (bin === undefined) return
  bin.memory += by * memory
  if (disk >= 0) bin.disk += by * disk
}

/** Tries the largest items first, each in every bin that it fits, until all have a bin or the tries are used up. */
class Packing {
  private tries = 0

  constructor(
    private readonly items: readonly Item[],
    private readonly bins: readonly Bin[],
  ) {}

  mayFit(at = 0, from = 0): boolean {
    const item = this.items[at]
    if (item === undefined || ++this.tries > OUTLOOK_TRIES) return true
    const next = this.items[at + 1]
    // The order of equal items does not matter.
    const same = next !== undefined && next.memory === item.memory && next.disk === item.disk
    for (let k = from; k < this.bins.length; k++) {
      const bin = this.bins[k]
      // Something must stay free.
      if (bin === undefined || item.memory >= bin.memory || (item.disk >= 0 && item.disk >= bin.disk)) continue
      if (this.seen(bin, from, k)) continue
      move(item, bin, -1)
      const fits = this.mayFit(at + 1, same ? k : 0)
      move(item, bin, 1)
      if (fits) return true
    }
    return false
  }

  /** A bin equal to an earlier one leads nowhere either. */
  private seen(bin: Bin, from: number, to: number): boolean {
    for (let k = Math.max(from, to - 8); k < to; k++) {
      const other = this.bins[k]
      if (other?.memory === bin.memory && other.disk === bin.disk) return true
    }
    return false
  }
}
