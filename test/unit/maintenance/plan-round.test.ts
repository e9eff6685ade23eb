// Single situations of a round's plan; plan-round.prop.test.ts has what holds for all of them.
import type { ClusterData, NodeData } from '../../../src/allocation/model/cluster-data'
import { ALLOC_DEFAULTS } from '../../../src/allocation/model/options'
import { parseClusterText } from '../../../src/allocation/sources/text-format'
import { TASK_ID } from '../../../src/maintenance/plan-repairs'
import { planRound, type RoundQuestion } from '../../../src/maintenance/plan-round'
import { MAINTENANCE_DEFAULTS, READY_TAG, type RepairEvent } from '../../../src/model/maintenance'
import { clusterOf } from '../../support/htools'

const ON = { ...MAINTENANCE_DEFAULTS, evacuation: true, live_repair: true }
const AUTO = 'ganeti:watcher:autorepair:'

function event(node: string, more: Partial<RepairEvent> = {}): RepairEvent {
  return {
    ...{ id: 'e1', node, action: 'evacuate', status: 'pending', original: { status: 'evacuate' }, jobs: [1] },
    ...{ tag: `${READY_TAG}e1`, tagged: false, note: null, ctime: 1, mtime: 1, serial_no: 1, ...more },
  }
}

const names = (data: ClusterData) => Object.fromEntries(data.nodes.map(({ name }) => [name, name]))
const plan = (data: ClusterData, more: Partial<RoundQuestion>) =>
  planRound(
    data,
    {
      events: [],
      names: names(data),
      settings: ON,
      now_s: 1000,
      jobs: [],
      loads: null,
      busy: [],
      resting: [],
      master: '',
      ...more,
    },
    ALLOC_DEFAULTS,
  )

/** Nodes by number, changed. */
const changed = (data: ClusterData, change: (at: number) => Partial<NodeData>): ClusterData => ({
  ...data,
  nodes: data.nodes.map((node, at) => ({ ...node, offline: false, ...change(at) })),
})
const DRAINED = { offline: true, unusable: 'drained' }
const nameAt = (data: ClusterData, at: number): string => data.nodes[at]?.name ?? ''

/** All instances are on the first node, with their mirrors on the second one. */
function lopsided(nodes = 4, instances = 4): ClusterData {
  const data = parseClusterText(clusterOf(1, nodes, instances))
  return {
    ...data,
    instances: data.instances.map((one) => ({ ...one, template: 'drbd', primary: 0, secondary: 1, status: 'running' })),
  }
}

test('an event of a node group that is full names the instance that cannot leave, and moves nothing', () => {
  const data = changed(lopsided(), (at) =>
    at === 0 ? DRAINED : { freeMemory: 0, nodeMemory: 65536, totalMemory: 65536 },
  )
  const first = nameAt(data, 0)
  const { jobs, notes } = plan(data, { events: [event(first)] })
  expect(jobs).toEqual([])
  expect(notes).toEqual([['e1', expect.stringMatching(/^inst0\.example\.com cannot leave: .+; and 3 more$/)]])
})

test('an event waits while the only node that may take its instances has one itself', () => {
  const data = changed(lopsided(), (at) => (at < 2 ? DRAINED : {}))
  const events = [event(nameAt(data, 0)), event(nameAt(data, 1), { id: 'e2' })]
  const { jobs, notes } = plan(data, { events, settings: { ...ON, evacuation_disks: false } })
  expect(jobs.filter(({ event: id }) => id === 'e1')).toEqual([])
  expect(new Map(notes).get('e1')).toContain('the node with its mirror may take nothing now')
})

test('one node is emptied while another one is repaired, without touching each other', () => {
  const data = changed(lopsided(), (at) => (at === 0 ? DRAINED : {}))
  const mends = { action: 'live-repair', original: { status: 'live-repair', command: 'mend' }, jobs: [] } as const
  const { jobs } = plan(data, { events: [event(nameAt(data, 0)), event(nameAt(data, 3), { id: 'e2', ...mends })] })
  expect(jobs.map(({ kind, nodes }) => [kind, nodes])).toEqual([
    ['move', [nameAt(data, 0), nameAt(data, 1)]],
    ['repair-command', [nameAt(data, 3)]],
  ])
})

describe('mirrors on a node that is evacuated', () => {
  /** The first node has the mirrors of all, whose primary is the second one. */
  const data = changed(
    { ...lopsided(), instances: lopsided().instances.map((one) => ({ ...one, primary: 1, secondary: 0 })) },
    (at) => (at === 0 ? DRAINED : {}),
  )
  const events = [event(nameAt(data, 0))]

  test('are copied to another node, one instance in each round', () => {
    const { jobs, notes } = plan(data, { events })
    expect(jobs).toMatchObject([
      {
        kind: 'copy',
        text: expect.stringMatching(
          /^evacuating node0.example.com: copying the disks of inst0\.example\.com to node[23]\.example\.com$/,
        ),
        ops: [
          { OP_ID: 'OP_INSTANCE_REPLACE_DISKS', instance_name: 'inst0.example.com', remote_node: jobs[0]?.nodes[2] },
        ],
      },
    ])
    expect(jobs[0]?.nodes.slice(0, 2)).toEqual([nameAt(data, 1), nameAt(data, 0)])
    expect(notes).toEqual([['e1', null]])
  })

  test('stay where a setting says so, and the event names it', () => {
    const { jobs, notes } = plan(data, { events, settings: { ...ON, evacuation_disks: false } })
    expect(jobs).toEqual([])
    expect(notes).toEqual([
      [
        'e1',
        'it has the mirror of inst0.example.com: evacuation_disks is off in the settings of maintenance; and 3 more',
      ],
    ])
  })

  test('are copied for as many instances at a time as a setting says', () => {
    const wide = lopsided(8, 2)
    const apart = changed(
      { ...wide, instances: wide.instances.map((one, at) => ({ ...one, primary: 2 + at, secondary: at })) },
      (at) => (at < 2 ? DRAINED : {}),
    )
    const both = [event(nameAt(apart, 0)), event(nameAt(apart, 1), { id: 'e2', ctime: 2 })]
    const copies = (evacuation_copies: number) => plan(apart, { events: both, settings: { ...ON, evacuation_copies } })
    expect(copies(2).jobs.map(({ kind }) => kind)).toEqual(['copy', 'copy'])
    expect(copies(1).jobs.map(({ kind }) => kind)).toEqual(['copy'])
    expect(new Map(copies(1).notes).get('e2')).toContain('evacuation_copies is 1')
  })

  test('leave the way where the other node of an instance is evacuated too', () => {
    const both = changed(lopsided(), (at) => (at < 2 ? DRAINED : {}))
    const { jobs } = plan(both, { events: [event(nameAt(both, 0)), event(nameAt(both, 1), { id: 'e2', ctime: 2 })] })
    expect(jobs).toMatchObject([{ kind: 'copy', event: 'e1', instances: ['inst0.example.com'] }])
  })
})

describe('a node that is empty', () => {
  const empty = (change: Partial<NodeData>) =>
    changed({ ...lopsided(), instances: [] }, (at) => (at === 0 ? change : {}))
  const of = (change: Partial<NodeData>, more: Partial<RoundQuestion> = {}, about: Partial<RepairEvent> = {}) =>
    plan(empty(change), { events: [event(nameAt(empty(change), 0), about)], ...more })

  test('goes offline, and then gets its tag', () => {
    expect(of(DRAINED).jobs).toMatchObject([
      { kind: 'offline', ops: [{ OP_ID: 'OP_NODE_SET_PARAMS', node_name: 'node0.example.com', offline: true }] },
    ])
    expect(of({ offline: true, unusable: 'offline' }).jobs).toMatchObject([{ kind: 'tag' }])
    expect(of(DRAINED, { settings: { ...ON, evacuation_offline: false } }).jobs).toMatchObject([{ kind: 'tag' }])
  })

  test('and is the master can only be made unfit for instances: the event says that the role must move', () => {
    const master = 'node0.example.com'
    const role = expect.stringMatching(/its role must move, by "gnt cluster master-failover"/)
    const first = of({}, { master })
    expect(first.jobs).toMatchObject([
      { kind: 'unfit', ops: [{ OP_ID: 'OP_NODE_SET_PARAMS', node_name: master, vm_capable: false }] },
    ])
    expect(first.notes).toEqual([['e1', role]])
    const then = of({ offline: true, unusable: 'not vm_capable' }, { master })
    expect(then).toEqual({ jobs: [], notes: [['e1', role]] })
  })

  test('and was the master is drained as others are, fit for instances again', () => {
    const { jobs } = of({ offline: true, unusable: 'not vm_capable' }, {}, { unfit: true })
    expect(jobs).toMatchObject([{ kind: 'drain', ops: [{ vm_capable: true }, { drained: true }] }])
  })
})

test('the instances of a master are evacuated, though it cannot be drained', () => {
  const data = changed(lopsided(), () => ({}))
  const { jobs, notes } = plan(data, { events: [event(nameAt(data, 0))], master: nameAt(data, 0) })
  expect(jobs).toMatchObject([{ kind: 'move', instances: ['inst0.example.com'] }])
  expect(notes).toEqual([['e1', expect.stringContaining('this node is the master')]])
})

test('an instance that maintd starts just now is left alone', () => {
  const data = changed(lopsided(), (at) => (at === 0 ? DRAINED : {}))
  const { jobs, notes } = plan(data, { events: [event(nameAt(data, 0))], busy: ['inst0.example.com'] })
  expect(jobs).toEqual([])
  expect(notes).toEqual([['e1', expect.stringContaining('it waits for jobs')]])
})

describe('duties of harep', () => {
  const settings = { ...MAINTENANCE_DEFAULTS, harep: true }
  const broken = (tags: readonly string[]): ClusterData => {
    const data = changed(lopsided(4, 2), (at) => (at === 0 ? { offline: true, unusable: 'offline' } : {}))
    return { ...data, instances: data.instances.map((one, at) => (at === 0 ? { ...one, tags } : one)) }
  }

  test('are submitted with its tags, of the instance, its group and the cluster', () => {
    const scoped = (data: ClusterData): ClusterData[] => [
      data,
      { ...broken([]), groups: data.groups.map((one) => ({ ...one, tags: [`${AUTO}failover`] })) },
      { ...broken([]), tags: [`${AUTO}failover`] },
    ]
    for (const data of scoped(broken([`${AUTO}failover`]))) {
      const { jobs } = plan(data, { settings })
      // Both touch the same nodes, so the other one follows in the next round.
      expect(jobs).toMatchObject([
        {
          ...{ kind: 'repair', event: null, instances: ['inst0.example.com'] },
          ops: [{ OP_ID: 'OP_TEST_DELAY' }, { OP_ID: 'OP_INSTANCE_FAILOVER', instance_name: 'inst0.example.com' }],
          tagLater: `${AUTO}pending:failover:${TASK_ID}:1000:{}`,
        },
      ])
    }
  })

  test('are not done when they are off, suspended, or for a node with an event', () => {
    expect(plan(broken([`${AUTO}failover`]), {}).jobs).toEqual([])
    expect(plan(broken([`${AUTO}failover`, `${AUTO}suspend:2000`]), { settings }).jobs).toEqual([])
    const data = broken([`${AUTO}failover`])
    const { jobs } = plan(data, { settings, events: [event(nameAt(data, 1), { action: 'live-repair' })] })
    expect(jobs.filter(({ kind }) => kind === 'repair')).toEqual([])
  })
})

describe('moves that balance', () => {
  const settings = { ...MAINTENANCE_DEFAULTS, balance: true }
  const data = changed(lopsided(4, 12), () => ({}))
  const moves = (threshold: number, more: Partial<RoundQuestion> = {}) =>
    plan(data, { settings: { ...settings, balance_threshold: threshold }, ...more }).jobs

  test('are submitted where they gain more than the threshold, and not without', () => {
    const jobs = moves(0.01)
    expect(jobs.length).toBeGreaterThan(0)
    for (const job of jobs) {
      expect(job).toMatchObject({ kind: 'balance', event: null })
      expect(job.ops.map(({ OP_ID }) => OP_ID)).toEqual(
        expect.arrayContaining([expect.stringMatching(/^OP_INSTANCE_(MIGRATE|FAILOVER)$/)]),
      )
    }
    expect(moves(1e6)).toEqual([])
    expect(plan(data, { settings: MAINTENANCE_DEFAULTS }).jobs).toEqual([])
  })

  test('leave out instances whose move has failed, and go on with others', () => {
    const [first = ''] = moves(0.01).flatMap(({ instances }) => instances)
    const after = moves(0.01, { resting: [first] }).flatMap(({ instances }) => instances)
    expect([after.includes(first), after.length > 0]).toEqual([false, true])
  })

  test('wait where the load counts, and a node does not tell it', () => {
    const desired = { ...settings, balance_threshold: 0.01, balance_load: true }
    expect(plan(data, { settings: desired, loads: null }).jobs).toEqual([])
    expect(plan(data, { settings: desired, loads: [0.9, 0.1, 0.1, 0.1] }).jobs.length).toBeGreaterThan(0)
  })

  test('copy disks only where that is wanted', () => {
    const desired = { ...settings, balance_threshold: 0.01 }
    const replaced = (balance_disks: boolean) =>
      plan(data, { settings: { ...desired, balance_disks } })
        .jobs.flatMap(({ ops }) => ops)
        .filter(({ OP_ID }) => OP_ID === 'OP_INSTANCE_REPLACE_DISKS')
    expect(replaced(false)).toEqual([])
    expect(replaced(true)).not.toEqual([])
  })

  test('leave out nodes with an event, and with one that failed', () => {
    const left = nameAt(data, 1)
    for (const status of ['noted', 'failed'] as const) {
      const jobs = moves(0.01, { events: [event(left, { status, tagged: true })] })
      expect(jobs.filter(({ kind, nodes }) => kind === 'balance' && nodes.includes(left))).toEqual([])
    }
  })
})
