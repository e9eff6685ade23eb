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
    { events: [], names: names(data), settings: ON, now_s: 1000, jobs: [], loads: null, ...more },
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
  const { jobs, notes } = plan(data, { events })
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

  test('wait where the load counts, and a node does not tell it', () => {
    const wanted = { ...settings, balance_threshold: 0.01, balance_load: true }
    expect(plan(data, { settings: wanted, loads: null }).jobs).toEqual([])
    expect(plan(data, { settings: wanted, loads: [0.9, 0.1, 0.1, 0.1] }).jobs.length).toBeGreaterThan(0)
  })

  test('copy disks only where that is wanted', () => {
    const wanted = { ...settings, balance_threshold: 0.01 }
    const replaced = (balance_disks: boolean) =>
      plan(data, { settings: { ...wanted, balance_disks } })
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
