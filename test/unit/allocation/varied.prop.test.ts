// Plans for clusters that have all that an allocation has to heed, judged by a checker that knows nothing of the model: it reads
// records and tags, and adds up.
import * as fc from 'fast-check'
import { type BalanceOptions, type Step, balance } from '../../../src/allocation/balance/balance'
import { Changes, instancesNow } from '../../../src/allocation/model/changes'
import type { ClusterData, InstanceData } from '../../../src/allocation/model/cluster-data'
import { type ClusterModel, buildModel } from '../../../src/allocation/model/cluster-model'
import { Verdict } from '../../../src/allocation/model/placement'
import { Score } from '../../../src/allocation/model/score'
import { parseClusterText } from '../../../src/allocation/sources/text-format'
import { BALANCE_OPTIONS } from '../../support/htools'
import { variedClusterOf } from '../../support/htools-varied'
import { checkProperty } from '../../support/effort'

const seeds = fc.integer({ min: 1, max: 1e6 })
const all = (list: readonly unknown[]): number[] => list.map((_, at) => at)
const sum = (list: readonly InstanceData[], of: (one: InstanceData) => number) =>
  list.reduce((total, one) => total + of(one), 0)
const runs = ({ status }: InstanceData) => status === 'running' || status === 'ERROR_up'

/** The mistake in the node's figures, and its size. */
function wrongsOf(data: ClusterData, instances: readonly InstanceData[], at: number): Record<string, number> {
  const node = data.nodes[at]
  const policy = data.groups[node?.group ?? -1]?.policy
  if (node === undefined || policy === undefined) throw new Error(`no node ${at}`)
  const real = instances.filter(({ forthcoming }) => !forthcoming)
  const primaries = real.filter(({ primary }) => primary === at)
  const mirrors = real.filter(({ secondary }) => secondary === at)
  const local = [...primaries.filter(({ template }) => ['drbd', 'plain'].includes(template)), ...mirrors]
  const excluding = data.tags.includes('htools:iextags:service') ? primaries.flatMap(({ tags }) => tags) : []
  const services = excluding.filter((tag) => tag.startsWith('service:'))
  const free = node.totalMemory - node.nodeMemory - sum(primaries.filter(runs), ({ memory }) => memory)
  const kept = mirrors.map(({ primary }) =>
    sum(
      mirrors.filter((one) => one.primary === primary && one.autoBalance && one.status !== 'ADMIN_offline'),
      ({ memory }) => memory,
    ),
  )
  const cpus = sum(
    primaries.filter(({ status }) => status !== 'ADMIN_offline'),
    ({ vcpus }) => vcpus,
  )
  const spindles = node.exclusiveStorage
    ? sum(local, (one) => one.spindles ?? 0) - node.spindles
    : sum(local, ({ spindleUse }) => spindleUse) - node.spindles * policy.spindleRatio
  return {
    memory: -free,
    disk: sum(local, ({ disk }) => disk) - node.totalDisk,
    cpus: cpus + node.nodeCpus - node.totalCpus * policy.vcpuRatio,
    spindles,
    exclusion: services.length - new Set(services).size,
    failing: free <= Math.max(0, ...kept) ? 1 : 0,
  }
}

/** Kernels that the nodes' tags allow an instance to go between. */
function mayMigrate(data: ClusterData, from: number, to: number): boolean {
  if (!data.tags.includes('htools:migration:kernel')) return true
  const own = (at: number) => (data.nodes[at]?.tags ?? []).filter((tag) => tag.startsWith('kernel:'))
  const allowed = (kernel: string) =>
    own(to).some((one) => one === kernel || data.tags.includes(`htools:allowmigration:${kernel}::${one}`))
  return own(from).every(allowed)
}

function expectAllowed(data: ClusterData, before: readonly InstanceData[], model: ClusterModel, step: Step): void {
  const { move, oldPrimary, oldSecondary } = step
  const after = instancesNow(model)
  const one = before[move.instance]
  expect(one?.autoBalance).toBe(true)
  expect(after.filter((now, at) => at !== move.instance && now.primary !== before[at]?.primary)).toEqual([])
  const own = [move.primary, move.secondary].filter((node) => node >= 0)
  expect(new Set(own).size).toBe(own.length)
  expect(own.length).toBe(one?.template === 'drbd' ? 2 : 1)
  for (const node of own) {
    expect(data.nodes[node]?.group).toBe(data.nodes[oldPrimary]?.group)
    if (node !== oldPrimary && node !== oldSecondary) expect(data.nodes[node]?.offline).toBe(false)
  }
  const hops = move.kind === 'replace-primary' ? [oldPrimary, oldSecondary, move.primary] : [oldPrimary, move.primary]
  hops.slice(1).forEach((to, at) => expect(mayMigrate(data, hops[at] ?? -1, to)).toBe(true))
  // Soft limits count less than getting off a node that is offline.
  if ([oldPrimary, oldSecondary].some((node) => data.nodes[node]?.offline)) return
  for (const node of own) expectNothingWorse(data, before, after, node)
}

function expectNothingWorse(
  data: ClusterData,
  before: readonly InstanceData[],
  after: readonly InstanceData[],
  node: number,
): void {
  const [was, is] = [wrongsOf(data, before, node), wrongsOf(data, after, node)]
  const worse = Object.keys(is).filter((what) => (is[what] ?? 0) > Math.max(0, was[what] ?? 0))
  expect({ node, worse }).toEqual({ node, worse: [] })
}

const VARIANTS: readonly Partial<BalanceOptions>[] = [
  {},
  { restrictedMigration: true },
  { evacuate: true },
  { diskMoves: false },
  { minGain: 0 },
]

test('no step of a plan breaks what tags, policies, storage or redundancy of any node ask for', () => {
  let count = 0
  checkProperty(
    fc.property(seeds, fc.constantFrom(...VARIANTS), (seed, variant) => {
      const data = parseClusterText(variedClusterOf(seed))
      const model = buildModel(data)
      data.groups.forEach((_, group) => {
        const nodes = all(model.nodes).filter((node) => data.nodes[node]?.group === group)
        const inside = all(model.instances).filter((one) => nodes.includes(model.primary[one] ?? -1))
        let before: readonly InstanceData[] = instancesNow(model)
        for (const step of balance(model, nodes, inside, { ...BALANCE_OPTIONS, ...variant })) {
          expectAllowed(data, before, model, step)
          before = instancesNow(model)
          count++
        }
      })
    }),
    { numRuns: 60 },
  )
  expect(count).toBeGreaterThan(100)
})

/** Moves that plans avoid anyhow, because they would score worse, are forbidden too. */
test('no move that is called possible breaks what nodes ask for', () => {
  let count = 0
  checkProperty(
    fc.property(seeds, fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 40, maxLength: 40 }), (seed, tries) => {
      const data = parseClusterText(variedClusterOf(seed))
      const model = buildModel(data)
      const changes = new Changes(model, false)
      for (const [one, to] of tries) {
        const instance = one % Math.max(1, data.instances.length)
        const { primary, secondary, template } = data.instances[instance] ?? { primary: -1, secondary: -1 }
        const node = to % data.nodes.length
        const away = [primary, secondary].some((own) => data.nodes[own]?.offline)
        if (template === undefined || away || node === primary || node === secondary) continue
        const verdict =
          template !== 'drbd'
            ? changes.failoverToAny(instance, node)
            : to % 2 === 0
              ? changes.failover(instance)
              : changes.replaceSecondary(instance, node)
        if (verdict !== Verdict.ok) continue
        count++
        const after = instancesNow(model)
        for (const own of [after[instance]?.primary ?? -1, after[instance]?.secondary ?? -1]) {
          if (own >= 0) expectNothingWorse(data, data.instances, after, own)
        }
        changes.undo(0)
      }
    }),
    { numRuns: 60 },
  )
  expect(count).toBeGreaterThan(100)
})

const state = (model: ClusterModel) => ({
  rows: [...model.rows],
  primary: [...model.primary],
  secondary: [...model.secondary],
  peers: model.peers.map((one) => [...one].filter(([, memory]) => memory > 0).sort(([a], [b]) => a - b)),
  tags: model.tagCounts.map((one) => [...one].sort()),
  components: new Score(model, all(model.nodes)).components(),
})

test('whatever is moved and undone, every statistic is as it was, to the last bit', () => {
  checkProperty(
    fc.property(seeds, fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { maxLength: 20 }), (seed, places) => {
      const model = buildModel(parseClusterText(variedClusterOf(seed)))
      const changes = new Changes(model, seed % 2 === 0)
      const before = state(model)
      for (const [one, to, other] of model.instances.length === 0 ? [] : places) {
        const instance = one % model.instances.length
        const primary = to % model.nodes.length
        const mirror = (primary + 1 + (other % (model.nodes.length - 1))) % model.nodes.length
        changes.place(instance, primary, model.instances[instance]?.data.template === 'drbd' ? mirror : -1)
      }
      changes.undo(0)
      expect(state(model)).toEqual(before)
    }),
    { numRuns: 60 },
  )
})
