// Views of jobs read no file that they do not need, and show no secret.
import type { JobQueue } from '../../../../src/jobs/queue'
import { ARCHIVED_LISTED_MAX, JOB_OBJECTS_MAX } from '../../../../src/model/limits/queue'
import { mkdirSync, writeFileSync } from 'node:fs'
import { endedJob } from '../../../../src/jobs/ended-jobs'
import { encodeJob } from '../../../../src/jobs/job-file'
import { type Job, newJob, withOp } from '../../../../src/jobs/job'
import { systemDisk } from '../../../../src/lib/disk'
import { runQuery } from '../../../../src/query/engine'
import { jobFields, type JobPart } from '../../../../src/query/job-shape'
import { jobReader, jobView, markedView } from '../../../../src/services/jobs/job-views'
import { goldenSource } from '../../../support/golden-query'
import { openTestQueue, removeRoot, temporaryPaths } from '../../../support/queue-in-process'

test('whoever asks for a job does not see its private parameters', () => {
  const op = { OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'vm1', osparams_private: { password: 'P' }, reason: [] }
  const job = newJob(1, [op], [0, 0])
  for (const view of [jobView(job, false), markedView(job, false)])
    expect(view.ops[0]?.input).toMatchObject({ instance_name: 'vm1', osparams_private: { password: null } })
  expect(job.ops[0]?.input).toMatchObject({ osparams_private: { password: 'P' } })
})

test('lists read the files of jobs that have ended only when they show what nothing else has', async () => {
  const paths = temporaryPaths()
  mkdirSync(paths.queueDir, { recursive: true })
  for (const id of [1, 2, 3]) writeFileSync(`${paths.queueDir}/job-${id}`, encodeJob(succeeded(id)))
  const reads: string[] = []
  const disk = { ...systemDisk, read: (file: string) => (reads.push(file), systemDisk.read(file)) }
  const { queue, close } = await openTestQueue(paths, { maxRunning: 0, warm: 0, disk })
  const readFor = async (parts: readonly JobPart[], filter: unknown = null) => {
    reads.length = 0
    const source = { ...goldenSource(), jobs: jobReader(queue, jobView) }
    const { data } = await runQuery('job', jobFields(parts), filter, source)
    return [data.length, reads.length]
  }
  expect(await readFor([])).toEqual([3, 0])
  expect(await readFor([], ['|', ['==', 'id', 1], ['==', 'id', 3]])).toEqual([2, 0])
  expect(await readFor(['input', 'result'])).toEqual([3, 3])
  await close()
  await removeRoot(paths)
})

function succeeded(id: number): Job {
  const job = newJob(id, [{ OP_ID: 'OP_TEST_DELAY', duration: id }], [id, 0])
  return { ...withOp(job, 0, { status: 'success', end_timestamp: [id, 1] }), end_timestamp: [id, 1] }
}

test('the jobs about an object are found without a file, and without the archive', async () => {
  const about = (id: number, name: string): Job => {
    const job = newJob(id, [{ OP_ID: 'OP_INSTANCE_STARTUP', instance_name: name }], [id, 0])
    return { ...withOp(job, 0, { status: 'success' }), end_timestamp: [id, 1] }
  }
  const ended = [endedJob(about(1, 'vm1')), endedJob(about(2, 'vm10'))]
  const queue = { all: () => [...ended, about(3, 'vm1')], known: () => undefined } as unknown as JobQueue
  const source = { ...goldenSource(), jobs: jobReader(queue, jobView) }
  const { data } = await runQuery('job', ['id'], ['=[]', 'objects', 'instance/vm1'], source)
  expect(data).toEqual([[[0, 1]], [[0, 3]]])
})

test('a job is found by its first objects, however many it names', () => {
  const names = Array.from({ length: JOB_OBJECTS_MAX + 9 }, (_, at) => `vm${at}`)
  const op = { OP_ID: 'OP_CLUSTER_REPAIR_DISK_SIZES', instances: ['x'.repeat(1 << 20), ...names, 'vm0'] }
  const { objects } = endedJob(newJob(1, [op, { ...op, instances: ['more'] }], [0, 0]))
  expect(objects).toEqual(names.slice(0, JOB_OBJECTS_MAX).map((name) => `instance/${name}`))
})

test('a list reads only the newest of the archived jobs', async () => {
  const read: number[] = []
  const ids = Array.from({ length: ARCHIVED_LISTED_MAX + 5 }, (_, at) => at + 1)
  const one = async (id: number) => void read.push(id)
  const queue = { all: () => [], archived: { ids: async () => ids, one } } as unknown as JobQueue
  await jobReader(queue, jobView).all({ archived: true })
  expect([read.length, Math.min(...read)]).toEqual([ARCHIVED_LISTED_MAX, 6])
})
