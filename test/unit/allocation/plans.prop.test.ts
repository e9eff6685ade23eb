// Plans and placements, judged by a checker that knows nothing of the model: it adds up what records say.
import * as fc from 'fast-check'
import { ALLOC_DEFAULTS } from '../../../src/allocation/model/options'
import { balance } from '../../../src/allocation/balance/balance'
import { Changes, instancesNow } from '../../../src/allocation/model/changes'
import type { ClusterData, InstanceData } from '../../../src/allocation/model/cluster-data'
import { changeGroup, evacuate } from '../../../src/allocation/evacuation/evacuate'
import { type ClusterModel, buildModel } from '../../../src/allocation/model/cluster-model'
import { Filling } from '../../../src/allocation/places/filling'
import { Score } from '../../../src/allocation/model/score'
import { parseClusterText } from '../../../src/allocation/sources/text-format'
import { BALANCE_OPTIONS as OPTIONS, clusterOf, newInstanceOf } from '../../support/htools'
import { checkProperty } from '../../support/effort'

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
  checkProperty(
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
    { numRuns: 12 },
  )
})

test.each(['drbd', 'plain', 'rbd'] as const)('what fits of %s fits by any count, and within the policy', (template) => {
  checkProperty(
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
    { numRuns: 8 },
  )
})

const newInstance = (template: InstanceData['template'], size: number): InstanceData =>
  newInstanceOf(template, { memory: 1024 * size, disk: 10_240 * size, vcpus: size })

/** Two groups: the nodes of each half, with the instances that are within one of them. */
function twoGroups(seed: number, nodes: number): ClusterData {
  const data = withoutOffline(clusterOf(seed, 2 * nodes, nodes * 8))
  const half = (node: number) => (node < nodes ? 0 : 1)
  const [group] = data.groups
  if (group === undefined) throw new Error('a cluster without groups')
  return {
    ...data,
    groups: [group, { ...group, name: 'other', uuid: 'uuid-2' }],
    nodes: data.nodes.map((node, at) => ({ ...node, group: half(at) })),
    instances: data.instances.filter(({ primary, secondary }) => secondary < 0 || half(primary) === half(secondary)),
  }
}

/** Where instances went is free of what must not be, and where the answer says. */
function expectEvacuated(
  model: ClusterModel,
  before: Map<string, number>,
  { moved, failed }: ReturnType<typeof evacuate>,
): void {
  const after = instancesNow(model)
  expectNothingWorse(before, wrongs(model.data, after))
  for (const { instance, nodes } of moved) {
    const now = after.find(({ name }) => name === instance)
    const names = [now?.primary, now?.secondary].flatMap((node) => model.data.nodes[node ?? -1]?.name ?? [])
    expect(nodes).toEqual(names)
  }
  for (const { instance } of failed) {
    expect(after.find(({ name }) => name === instance)).toEqual(
      model.data.instances.find(({ name }) => name === instance),
    )
  }
}

test.each(['primary-only', 'secondary-only', 'all'] as const)(
  'an evacuation (%s) leaves its nodes, overloads no other, and moves nothing that it could not place',
  (mode) => {
    let count = 0
    checkProperty(
      fc.property(seeds, fc.nat(), ([seed, nodes], which) => {
        const data = withoutOffline(clusterOf(seed, nodes, nodes * 4))
        const node = which % nodes
        const model = buildModel(data)
        const on = data.instances.flatMap(({ primary, secondary, template }, at) => {
          const leaves =
            (mode !== 'secondary-only' && primary === node) || (mode !== 'primary-only' && secondary === node)
          return leaves && template !== 'plain' ? [at] : []
        })
        const evacuation = evacuate(model, on, mode, { ...ALLOC_DEFAULTS, capacity: false })
        expectEvacuated(model, wrongs(data, data.instances), evacuation)
        count += evacuation.moved.length
        const failed = new Set(evacuation.failed.map(({ instance }) => instance))
        for (const one of on.filter((at) => !failed.has(data.instances[at]?.name ?? ''))) {
          if (mode !== 'secondary-only') expect(model.primary[one]).not.toBe(node)
          if (mode !== 'primary-only') expect(model.secondary[one]).not.toBe(node)
        }
      }),
      { numRuns: 10 },
    )
    expect(count).toBeGreaterThan(20)
  },
)

test('a change of the group puts whole instances into it, overloads none of its nodes, and moves no other', () => {
  let count = 0
  checkProperty(
    fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 2, max: 6 }), (seed, nodes) => {
      const data = twoGroups(seed, nodes)
      const model = buildModel(data)
      const chosen = data.instances.flatMap(({ primary, template }, at) =>
        primary < nodes && template === 'drbd' ? [at] : [],
      )
      const changed = changeGroup(model, chosen, [1], { ...ALLOC_DEFAULTS, capacity: false })
      expectEvacuated(model, wrongs(data, data.instances), changed)
      count += changed.moved.length
      const moved = new Set(changed.moved.map(({ instance }) => instance))
      instancesNow(model).forEach((one, at) => {
        if (!moved.has(one.name)) return expect(one).toEqual(data.instances[at])
        expect([one.primary, one.secondary].every((node) => node >= nodes)).toBe(true)
      })
    }),
    { numRuns: 10 },
  )
  expect(count).toBeGreaterThan(20)
})

const state = (model: ClusterModel) => ({
  rows: [...model.rows],
  primary: [...model.primary],
  secondary: [...model.secondary],
  peers: model.peers.map((one) => [...one].sort(([a], [b]) => a - b)),
  served: model.served.map((one) => [...one].sort((a, b) => a - b)),
  tags: model.tagCounts.map((one) => [...one].sort()),
  components: new Score(model, all(model.nodes)).components(),
})

test('moves of each kind, made or refused, and undone leave every statistic as it was, to the last bit', () => {
  const move = fc.tuple(fc.constantFrom('failover', 'failoverToAny', 'replaceSecondary', 'lift'), fc.nat(), fc.nat())
  checkProperty(
    fc.property(seeds, fc.array(move, { minLength: 1, maxLength: 30 }), ([seed, nodes], moves) => {
      const model = buildModel(parseClusterText(clusterOf(seed, nodes, nodes * 4)))
      const changes = new Changes(model, seed % 2 === 0)
      const before = state(model)
      for (const [kind, one, to] of moves) {
        const instance = one % model.instances.length
        const mirrored = model.instances[instance]?.data.template === 'drbd'
        const [primary, secondary] = [model.primary[instance] ?? -1, model.secondary[instance] ?? -1]
        const free = all(model.nodes).filter((node) => node !== primary && node !== secondary)
        const target = free[to % Math.max(1, free.length)]
        if (primary < 0) continue
        if (kind === 'lift') changes.lift(instance)
        else if (kind === 'failover' && mirrored) changes.failover(instance)
        else if (kind === 'replaceSecondary' && mirrored && target !== undefined)
          changes.replaceSecondary(instance, target)
        else if (kind === 'failoverToAny' && !mirrored && target !== undefined) changes.failoverToAny(instance, target)
      }
      changes.undo(0)
      expect(state(model)).toEqual(before)
    }),
    { numRuns: 15 },
  )
})

test('moves that are made and undone leave every statistic as it was, to the last bit', () => {
  const place = fc.tuple(fc.nat(), fc.nat(), fc.nat())
  checkProperty(
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
    { numRuns: 15 },
  )
})
