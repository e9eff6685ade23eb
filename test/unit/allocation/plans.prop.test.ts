// Plans and placements, judged by a checker that knows nothing of the model: it adds up what records say.
import * as fc from 'fast-check'
import { ALLOC_DEFAULTS } from '../../../src/allocation/allocate'
import { balance } from '../../../src/allocation/balance'
import { Changes, instancesNow } from '../../../src/allocation/changes'
import type { ClusterData, InstanceData } from '../../../src/allocation/cluster-data'
import { type ClusterModel, buildModel } from '../../../src/allocation/cluster-model'
import { Filling } from '../../../src/allocation/filling'
import { Score } from '../../../src/allocation/score'
import { parseClusterText } from '../../../src/allocation/text-format'
import { BALANCE_OPTIONS as OPTIONS, clusterOf } from '../../support/htools'

const all = (list: readonly unknown[]): number[] => list.map((_, at) => at)
const seeds = fc.tuple(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 3, max: 12 }))

/** By node: what is wrong there, with how much. */
function wrongs(data: ClusterData, instances: readonly InstanceData[]): Map<string, number> {
  const found = new Map<string, number>()
  const wrong = (what: string, by: number) => by > 0 && found.set(what, by)
  const sum = (list: readonly InstanceData[], of: (one: InstanceData) => number) =>
    list.reduce((total, one) => total + of(one), 0)
  data.nodes.forEach((node, at) => {
    const primaries = instances.filter(({ primary }) => primary === at)
    const secondaries = instances.filter(({ secondary }) => secondary === at)
    const local = [...primaries.filter(({ template }) => ['drbd', 'plain'].includes(template)), ...secondaries]
    wrong(
      `memory of ${node.name}`,
      sum(running(primaries), ({ memory }) => memory) - node.totalMemory + node.nodeMemory,
    )
    wrong(`disk of ${node.name}`, sum(local, ({ disk }) => disk) - node.totalDisk)
    wrong(`cpus of ${node.name}`, sum(primaries, ({ vcpus }) => vcpus) - node.totalCpus * data.policy.vcpuRatio)
    wrong(`instances on ${node.name}, which is offline`, node.offline ? primaries.length + secondaries.length : 0)
    const tags = primaries.flatMap((one) => one.tags)
    wrong(`exclusion on ${node.name}`, tags.length - new Set(tags).size)
    wrong(`both halves on ${node.name}`, primaries.filter(({ secondary }) => secondary === at).length)
  })
  return found
}

const running = (list: readonly InstanceData[]) => list.filter(({ status }) => status === 'running')

/** A move may leave what was wrong before, or less of it. */
function expectNothingWorse(before: Map<string, number>, after: Map<string, number>): void {
  const worse = [...after].filter(([what, by]) => by > (before.get(what) ?? 0))
  expect(worse).toEqual([])
}

/** Off an offline node instances go wherever they find room, and soft limits do not count then. */
const withoutOffline = (text: string): ClusterData => {
  const data = parseClusterText(text)
  return { ...data, nodes: data.nodes.map((node) => ({ ...node, offline: false })) }
}

test('no step of a plan makes memory, disk, processors or exclusion of any node worse than it was', () => {
  fc.assert(
    fc.property(seeds, ([seed, nodes]) => {
      const data = withoutOffline(clusterOf(seed, nodes, nodes * 5))
      const model = buildModel(data)
      let before = wrongs(data, data.instances)
      for (const { move } of balance(model, all(model.nodes), all(model.instances), OPTIONS)) {
        expect(move.primary).not.toBe(move.secondary)
        const after = wrongs(data, instancesNow(model))
        expectNothingWorse(before, after)
        before = after
      }
    }),
    { numRuns: 25 },
  )
})

test.each(['drbd', 'plain', 'rbd'] as const)('what fits of %s fits by any count, and within the policy', (template) => {
  fc.assert(
    fc.property(seeds, fc.integer({ min: 1, max: 6 }), ([seed, nodes], size) => {
      const data = parseClusterText(clusterOf(seed, nodes, nodes * 3))
      const model = buildModel(data)
      const before = wrongs(data, data.instances)
      const usable = all(model.nodes).filter((node) => !model.nodes[node]?.offline)
      const options = { ...ALLOC_DEFAULTS, capacity: seed % 2 === 0 }
      const { added } = new Filling(model, usable, all(model.nodes), options).fill(newInstance(template, size), 40)
      expectNothingWorse(before, wrongs(data, instancesNow(model)))
      const tooLarge = newInstance(template, 1000)
      expect(new Filling(model, usable, all(model.nodes), options).fill(tooLarge, 40).added).toEqual([])
      expect(added.every((one) => usable.includes(model.primary[one] ?? -1))).toBe(true)
    }),
    { numRuns: 15 },
  )
})

function newInstance(template: InstanceData['template'], size: number): InstanceData {
  const disk = 10_240 * size
  return {
    name: 'new',
    memory: 1024 * size,
    disk,
    disks: [{ size: disk, spindles: 1 }],
    vcpus: size,
    status: 'running',
    autoBalance: true,
    primary: -1,
    secondary: -1,
    template,
    tags: [],
    spindleUse: 1,
    spindles: 1,
    forthcoming: false,
  }
}

const state = (model: ClusterModel) => ({
  rows: [...model.rows],
  primary: [...model.primary],
  secondary: [...model.secondary],
  peers: model.peers.map((one) => [...one].sort(([a], [b]) => a - b)),
  served: model.served.map((one) => [...one].sort((a, b) => a - b)),
  tags: model.tagCounts.map((one) => [...one].sort()),
  components: new Score(model, all(model.nodes)).components(),
})

test('moves that are made and undone leave every statistic as it was, to the last bit', () => {
  const place = fc.tuple(fc.nat(), fc.nat(), fc.nat())
  fc.assert(
    fc.property(seeds, fc.array(place, { minLength: 1, maxLength: 30 }), fc.nat(), ([seed, nodes], moves, stop) => {
      const model = buildModel(parseClusterText(clusterOf(seed, nodes, nodes * 4)))
      const changes = new Changes(model, true)
      const states = [state(model)]
      const marks = [changes.mark()]
      for (const [one, to, other] of moves) {
        const instance = one % model.instances.length
        const mirrored = model.instances[instance]?.data.template === 'drbd'
        const primary = to % nodes
        changes.place(instance, primary, mirrored ? (primary + 1 + (other % (nodes - 1))) % nodes : -1)
        states.push(state(model))
        marks.push(changes.mark())
      }
      const back = stop % states.length
      changes.undo(marks[back] ?? 0)
      expect(state(model)).toEqual(states[back])
      changes.undo(0)
      expect(state(model)).toEqual(states[0])
    }),
    { numRuns: 30 },
  )
})
