// Which repairs are submitted, and how each is remembered by a tag.
import type { ClusterData } from '../../../src/allocation/model/cluster-data'
import { parseClusterText } from '../../../src/allocation/sources/text-format'
import { jobsInTags, repairJobs, TASK_ID } from '../../../src/maintenance/plan-repairs'
import { clusterOf } from '../../support/htools'

const AUTO = 'ganeti:watcher:autorepair:'

/** One instance on a node that is offline, with its mirror on another one. */
function broken(tags: readonly string[], offline = true): ClusterData {
  const data = parseClusterText(clusterOf(1, 4, 1))
  const [instance] = data.instances
  if (instance === undefined) throw new Error('no instance')
  const nodes = data.nodes.map((node, at) =>
    at === 0 && offline ? { ...node, offline: true, unusable: 'offline' } : { ...node, offline: false },
  )
  return { ...data, nodes, instances: [{ ...instance, name: 'vm1', template: 'drbd', primary: 0, secondary: 1, tags }] }
}

const plan = (data: ClusterData, jobs: readonly (readonly [number, string])[] = [], busy: readonly string[] = []) => [
  ...repairJobs(data, { now_s: 1000, jobs: new Map(jobs), isFree: (node) => !busy.includes(node) }),
]

test('a repair waits for its tag, which names the job', () => {
  const [job] = plan(broken([`${AUTO}failover`]))
  expect(job?.ops.map(({ OP_ID }) => OP_ID)).toEqual(['OP_TEST_DELAY', 'OP_INSTANCE_FAILOVER'])
  expect(job?.tagLater).toBe(`${AUTO}pending:failover:${TASK_ID}:1000:{}`)
  expect(job?.instances).toEqual(['vm1'])
})

test('nothing is done without a tag, on a node with an event, and where nothing is broken', () => {
  expect(plan(broken([]))).toEqual([])
  expect(plan(broken([`${AUTO}failover`], false))).toEqual([])
  const data = broken([`${AUTO}failover`])
  expect(plan(data, [], [data.nodes[1]?.name ?? ''])).toEqual([])
})

test('a repair that its tags do not allow is noted once', () => {
  const [job] = plan(broken([`${AUTO}fix-storage`]))
  expect(job).toMatchObject({ kind: 'repair-tag', ops: [{ OP_ID: 'OP_TAGS_SET' }] })
  const tag = (job?.ops[0]?.['tags'] as string[])[0]?.replace(TASK_ID, 'u1') ?? ''
  expect(tag).toBe(`${AUTO}result:failover:u1:1000:enoperm:`)
  expect(plan(broken([`${AUTO}fix-storage`, tag]))).toEqual([])
})

test('what became of a repair replaces its tag when its job has ended', () => {
  const pending = `${AUTO}pending:failover:u1:900:7`
  const data = broken([`${AUTO}failover`, pending])
  expect(jobsInTags(data)).toEqual([7])
  expect(plan(data, [[7, 'running']])).toEqual([])
  expect(plan(data)).toEqual([])
  for (const [status, result] of [
    ['success', 'success'],
    ['error', 'failure'],
  ] as const)
    expect(plan(data, [[7, status]])[0]?.ops).toMatchObject([
      { OP_ID: 'OP_TAGS_SET', tags: [`${AUTO}result:failover:u1:1000:${result}:7`] },
      { OP_ID: 'OP_TAGS_DEL', tags: [pending] },
    ])
})

test('tags that contradict each other are left to people', () => {
  expect(plan(broken([`${AUTO}failover`, `${AUTO}pending:failover:u1:1:7`, `${AUTO}pending:failover:u2:2:8`]))).toEqual(
    [],
  )
})
