// Whoever finds no room is told what is in the way on each node.
import * as fc from 'fast-check'
import { ALLOC_DEFAULTS, type AllocOptions } from '../../../../src/allocation/model/options'
import { allocate } from '../../../../src/allocation/questions/answer'
import type { ClusterData, GroupData, InstanceData, NodeData } from '../../../../src/allocation/model/cluster-data'
import { NO_NODE, nodesNeeded } from '../../../../src/allocation/model/cluster-data'
import { buildModel } from '../../../../src/allocation/model/cluster-model'
import { type Explained, changeGroup, evacuate } from '../../../../src/allocation/evacuation/evacuate'
import { candidatesFor } from '../../../../src/allocation/explain/explain'
import { candidateLines, whyNone, whyNoneIn } from '../../../../src/allocation/model/explain-text'
import { explainRequest } from '../../../../src/allocation/questions/explain-request'
import { parseClusterText } from '../../../../src/allocation/sources/text-format'
import { clusterOf, ours } from '../../../support/htools'
import { checkProperty } from '../../../support/effort'

const NO_N1 = { ...ALLOC_DEFAULTS, capacity: false }

/** Two groups of two nodes with 8 GiB each: a and b in `near`, c and d in `far`. */
const BASE = parseClusterText(
  [
    'near|uuid-1|preferred||\nfar|uuid-2|preferred||\n',
    ['a|uuid-1', 'b|uuid-1', 'c|uuid-2', 'd|uuid-2']
      .map((node) => node.replace('|', '|8192|0|8192|100000|100000|4|N|') + '|1||N|0|1|1.0\n')
      .join(''),
    '',
    '',
    '',
  ].join('\n'),
)

type Changed<T> = Readonly<Record<string, Partial<T>>>

function cluster(
  nodes: Changed<NodeData>,
  instances: readonly InstanceData[] = [],
  groups: Changed<GroupData> = {},
  tags: readonly string[] = [],
): ClusterData {
  const used = (at: number) => instances.reduce((sum, one) => sum + (one.primary === at ? one.memory : 0), 0)
  return {
    ...{ ...BASE, tags, instances },
    nodes: BASE.nodes.map((node, at) => ({ ...node, freeMemory: 8192 - used(at), ...nodes[node.name] })),
    groups: BASE.groups.map((group) => ({ ...group, ...groups[group.name] })),
  }
}

const vm = (template: InstanceData['template'], more: Partial<InstanceData> = {}): InstanceData => ({
  ...{ name: 'vm', memory: 1024, disk: 1024, vcpus: 1, status: 'running', autoBalance: true, tags: [], spindleUse: 1 },
  ...{ primary: NO_NODE, secondary: NO_NODE, template, spindles: undefined, forthcoming: false, ...more },
})
const policy = (limits: Partial<GroupData['policy']>) => ({ policy: { ...BASE.policy, ...limits } })
const maximum = (limits: object) => {
  const [pair] = BASE.policy.minMax
  return policy({ minMax: pair === undefined ? [] : [{ ...pair, max: { ...pair.max, ...limits } }] })
}
const everyNode = (change: Partial<NodeData>) => ({ a: change, b: change, c: change, d: change })
const both = (change: Partial<GroupData>) => ({ near: change, far: change })
const taken = (at: number, name: string, more: Partial<InstanceData> = {}) =>
  vm('plain', { name, primary: at, memory: 7000, ...more })

const why = (data: ClusterData, data_: InstanceData, options: Partial<AllocOptions> = {}, group?: string) => {
  const desired = { data: data_, requiredNodes: nodesNeeded(data_.template), group }
  const limits = { ...NO_N1, ...options }
  expect(allocate(buildModel(data), desired, limits).nodes).toBeUndefined()
  return whyNone(candidatesFor(buildModel(data), desired, limits))?.replace('no node fits: ', '')
}

const offline = { offline: true }
const POLICY = '4 are in groups whose policy forbids it'
const LEAVE_OUT = '; leave this check out with gnt-cluster modify --default-iallocator-params no-capacity-checks='

test('a need of a new instance that no node meets is told with the most that there is', () => {
  const busy = cluster({ c: offline }, [taken(0, 'x'), taken(1, 'y'), taken(3, 'z')])
  expect(why(busy, vm('plain', { memory: 2000 }))).toBe(
    '3 lack memory (largest free 1,192 MiB on a, 2,000 needed), 1 is offline',
  )
  expect(why(cluster(everyNode({ freeDisk: 500 })), vm('plain'))).toBe(
    '4 lack disk space (largest free 500 MiB on a, 1,024 needed)',
  )
  const ratio = both(policy({ spindleRatio: 4, vcpuRatio: 1 }))
  expect(why(cluster({}, [], ratio), vm('plain', { spindleUse: 6 }))).toBe(
    '4 lack disk space by the spindle ratio of the policy (largest free 4 on a, 6 needed)',
  )
  expect(why(cluster({}, [], ratio), vm('plain', { vcpus: 6 }))).toBe('4 lack CPUs (largest free 3 on a, 6 needed)')
  const exclusive = cluster(everyNode({ exclusiveStorage: true, spindles: 3, freeSpindles: 3 }))
  expect(why(exclusive, vm('plain', { spindles: 4 }))).toBe('4 lack spindles (largest free 3 on a, 4 needed)')
  expect(why(exclusive, vm('plain'))).toBe(`${POLICY} because its disks do not say how many spindles they take`)
})

test('a policy forbids an instance by what is named', () => {
  const under = (limits: Partial<GroupData>) => cluster({}, [], both(limits))
  const disk = { size: 1024, spindles: undefined }
  expect(why(under(maximum({ memory: 512 })), vm('plain'))).toBe(
    `${POLICY} by its memory (1,024 MiB, allowed: 128 to 512 MiB)`,
  )
  expect(why(under(maximum({ disk: 512 })), vm('plain'))).toBe(
    `${POLICY} by the size of its disks (1,024 MiB, allowed: 1,024 to 512 MiB)`,
  )
  expect(why(under(maximum({ disks: 1 })), vm('plain', { disks: [disk, disk] }))).toBe(
    `${POLICY} by the number of its disks (2, allowed: 1 to 1)`,
  )
  expect(why(under(maximum({ cpus: 1 })), vm('plain', { vcpus: 2 }))).toBe(`${POLICY} by its CPUs (2, allowed: 1 to 1)`)
  expect(why(under(maximum({ spindles: 1 })), vm('plain', { spindleUse: 2 }))).toBe(
    `${POLICY} by its spindles (2, allowed: 1 to 1)`,
  )
  expect(why(under(policy({ templates: ['drbd'] })), vm('plain'))).toBe(`${POLICY} by its disk template (plain)`)
  const twice = { policy: { ...maximum({ memory: 512 }).policy, templates: ['drbd' as const] } }
  expect(why(under(twice), vm('plain'))).toBe(
    `${POLICY} by its disk template (plain) and by its memory (1,024 MiB, allowed: 128 to 512 MiB)`,
  )
})

test('nodes that are not to be used are told apart', () => {
  const unusable = (why: string) => ({ offline: true, unusable: why })
  const down = { a: offline, b: unusable('drained'), c: unusable('not vm_capable'), d: unusable('no answer') }
  expect(why(cluster(down), vm('plain'))).toBe('1 is offline, 1 is drained, 1 is not vm_capable, 1 did not answer')
  expect(why(cluster({ a: offline }), vm('plain'), { restrictTo: ['a'] })).toBe(
    '3 are locked by other jobs, 1 is offline',
  )
  const named = why(cluster({ c: offline, d: offline }), vm('plain'), {}, 'far')
  expect(named).toBe('2 are in other groups, 2 are offline')
  expect(why(cluster({}, [], both({ allocPolicy: 'unallocable' })), vm('plain'))).toBe('4 are in unallocable groups')
  expect(why(cluster({}), vm('plain', { networks: ['net'] }))).toBe('4 are not connected to its network')
  const tagged = [0, 1].map((at) => taken(at, `x${at}`, { memory: 512, tags: ['db:one'] }))
  const excluding = cluster({ c: offline, d: offline }, tagged, {}, ['htools:iextags:db'])
  expect(why(excluding, vm('plain', { tags: ['db:one'] }))).toBe('2 have instances that exclude it, 2 are offline')
})

test('an explanation of a pair tells which half is in the way', () => {
  const alone = why(cluster({ b: offline, c: offline, d: offline }), vm('drbd'))
  expect(alone).toBe('3 are offline, 1 has no secondary for it (its group has no other usable node)')
  expect(why(cluster({ b: { freeDisk: 100 }, d: { freeDisk: 100 } }), vm('drbd'))).toBe(
    '2 have no secondary for it (of the others 1 lacks disk space), 2 lack disk space (largest free 100 MiB on b, 1,024 needed)',
  )
})

test('where no reserve would be left it is told, and whether there is one now', () => {
  const N1 = '4 would leave no room for the instances of a node that dies'
  const shared = (memory: number, ...nodes: number[]) =>
    nodes.map((at) => taken(at, `x${at}`, { memory, template: 'rbd' }))
  const data = cluster({}, shared(3000, 0, 1, 2, 3))
  expect(why(data, vm('rbd', { memory: 4000 }), { capacity: true })).toBe(N1 + LEAVE_OUT)
  expect(why(cluster({}, shared(5000, 0, 1)), vm('rbd'), { capacity: true })).toBe(
    `${N1} (also without it, if a of group near or 1 more dies)${LEAVE_OUT}`,
  )
})

test('a guest on the only node of its group forbids new ones everywhere, and is named with its group; it may leave', () => {
  const lonely = cluster({ b: { group: 1 } }, [taken(0, 'x', { template: 'rbd' })])
  expect(why(lonely, vm('rbd'), { capacity: true })).toBe(
    `4 would leave no room for the instances of a node that dies (also without it, if a of group near dies)${LEAVE_OUT}`,
  )
  expect(stays(lonely, 'far')).toBe('it moved')
})

const explained: Explained = { ...ALLOC_DEFAULTS, explain: true }
const NO_CHECK = { ...explained, capacity: false }
/** The reasons for the one instance that cannot leave. */
function stays(data: ClusterData, how: 'primary-only' | 'secondary-only' | 'far', options = explained): string {
  const model = buildModel(data)
  const far = model.data.groups.findIndex(({ name }) => name === 'far')
  const { failed } = how === 'far' ? changeGroup(model, [0], [far], options) : evacuate(model, [0], how, options)
  const [{ why: ganetis, candidates = [] } = { why: 'it moved' }] = failed
  const reported = how === 'far' ? whyNoneIn(['far'], candidates) : whyNone(candidates)
  return (candidates.length > 0 ? reported : undefined) ?? ganetis
}
const onA = (template: InstanceData['template'], more: Partial<InstanceData> = {}) =>
  vm(template, { primary: 0, secondary: template === 'drbd' ? 1 : NO_NODE, ...more })
const full = [taken(1, 'y', { memory: 8000 }), taken(2, 'z', { memory: 8000 }), taken(3, 'u', { memory: 8000 })]
const barred = { a: { tags: ['old:kernel'] } }

const large = cluster({}, [
  onA('rbd', { memory: 4000 }),
  ...[2, 3].map((at) => taken(at, `x${at}`, { memory: 4000, template: 'rbd' })),
])

test('an instance whose disks cannot leave is told by its template, whatever else is in the way', () => {
  const cannot = (template: string) => `Instances of type ${template} cannot be relocated`
  expect(stays(cluster({}, [onA('file')]), 'far')).toBe(cannot('file'))
  expect(stays(cluster({}, [onA('plain'), ...full]), 'far')).toBe(cannot('plain'))
  expect(stays(cluster({}, [onA('plain')]), 'primary-only')).toBe(cannot('plain'))
  const halves = stays(cluster({}, [onA('rbd')]), 'secondary-only')
  expect(halves).toBe("Instances with disk template 'rbd' can't execute change secondary")
})

test('why no group takes an instance is told of those groups', () => {
  const far = 'no node of group far fits: 2'
  const small = stays(cluster({}, [onA('rbd'), ...full]), 'far')
  expect(small).toBe(`${far} lack memory (largest free 192 MiB on c, 1,024 needed)`)
  const unallocable = cluster({}, [onA('rbd')], { far: { allocPolicy: 'unallocable' } })
  expect(stays(unallocable, 'far')).toBe(`${far} are in unallocable groups`)
  expect(stays(large, 'far')).toBe(`${far} would leave no room for the instances of a node that dies${LEAVE_OUT}`)
  // It would fit there, but has no way to it.
  const tagged = (template: 'rbd' | 'drbd') => cluster(barred, [onA(template)], {}, ['htools:migration:old'])
  expect(stays(tagged('rbd'), 'far', NO_CHECK)).toBe(`${far} may not receive it by their migration tags`)
  expect(stays(tagged('drbd'), 'far', NO_CHECK)).toMatch(/Failing over to new primary: FailMig$/)
})

test('why an instance cannot leave its node is told of those that could take it', () => {
  expect(stays(cluster({}, [onA('drbd'), ...full]), 'primary-only')).toBe(
    'no node fits: 1 lacks memory though only it has the disks (largest free 192 MiB on b, 1,024 needed)',
  )
  const paired = stays(cluster({}, [onA('drbd')]), 'secondary-only')
  expect(paired).toBe('no node fits: 2 are in other groups')
})

test('a check that is left out is no reason, and nobody is told to leave it out', () => {
  expect(stays(large, 'far', NO_CHECK)).toBe('it moved')
})

test('no node that several instances leave is offered to another', () => {
  const data = cluster({}, [onA('rbd'), vm('rbd', { name: 'w', primary: 1 })])
  const { failed } = evacuate(buildModel(data), [0, 1], 'primary-only', explained)
  expect(failed.map(({ candidates = [] }) => whyNone(candidates))).toEqual([
    'no node fits: 2 are in other groups, 1 is to be left, too',
    'no node fits: 2 are in other groups, 1 is to be left, too',
  ])
})

test('a request is explained by what it can do', () => {
  const model = () => buildModel(cluster({}, [onA('rbd'), vm('drbd', { name: 'm', primary: 0, secondary: 1 })]))
  const lines = (request: Parameters<typeof explainRequest>[1]) =>
    explainRequest(model(), request, NO_N1).map(({ candidates }) => candidateLines(candidates))
  const evacuation = { type: 'node-evacuate', instances: ['vm', 'm'], mode: 'secondary-only' } as const
  const [shared, mirrored] = lines(evacuation)
  expect([shared, mirrored?.split('\n').slice(0, 2)]).toEqual([
    '',
    ['  a: own node: is its own', '  b: own node: is its own'],
  ])
  expect(lines({ ...evacuation, mode: 'all', instances: ['vm'] })[0]).toMatch(/ {2}a: own node.*\n {2}b: accepted/)
  const relocation = { type: 'relocate', name: 'vm', requiredNodes: 1, relocateFrom: ['a'] } as const
  expect(lines(relocation)[0]).toMatch(/ {2}a: own node.*\n {2}b: accepted/)
})

test('a move that the options of a balance leave out is not called impossible', async () => {
  const data = clusterOf(5, 8, 40)
  const { err } = await ours('hbal', ['-t', 'data', '--no-disk-moves', '--explain'], new Map([['data', data]]))
  expect(err).toMatch(/: not wanted: takes a move that was not wanted\n/)
  expect(err).not.toContain('FailInternal')
})

test('a node is accepted just when the allocator finds a place', () => {
  const generated = fc.record({
    ...{ seed: fc.nat(10_000), nodes: fc.integer({ min: 2, max: 8 }), each: fc.integer({ min: 1, max: 12 }) },
    ...{ memory: fc.constantFrom(1024, 16384, 60000, 90000), template: fc.constantFrom('drbd', 'plain', 'rbd') },
    capacity: fc.boolean(),
  })
  checkProperty(
    fc.property(generated, ({ seed, nodes, each, memory, template, capacity }) => {
      const model = buildModel(parseClusterText(clusterOf(seed, nodes, nodes * each)))
      const data = vm(template, { memory })
      const desired = { data, requiredNodes: nodesNeeded(data.template), group: undefined }
      const options = { ...ALLOC_DEFAULTS, capacity }
      const candidates = candidatesFor(model, desired, options)
      const accepted = candidates.filter(({ reject }) => reject === undefined)
      const chosen = allocate(model, desired, options).nodes
      expect(accepted.length > 0).toBe(chosen !== undefined)
      if (chosen === undefined) expect(whyNone(candidates)).toMatch(/^no node fits: \d/)
      else expect(accepted.map(({ node }) => node)).toContain(chosen[0])
    }),
    { numRuns: 60 },
  )
})
