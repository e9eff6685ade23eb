// A master that has lost files of the queue, or came back with older ones, takes over what candidates have.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { dequeued, isFinished, jobStatus, newJob, withOp, type Job } from '../../../src/jobs/job'
import { encodeJob, parseJob } from '../../../src/jobs/job-file'
import { lostJobs, ownJobs, type LostJob } from '../../../src/jobs/lost-jobs'
import { JobQueue } from '../../../src/jobs/queue'
import { noReplicas, Replicas } from '../../../src/jobs/replicas'
import type { JobRunner } from '../../../src/jobs/runner'
import { archivedFile, jobFile, QueueStore, serialContent } from '../../../src/jobs/store'
import { systemClock } from '../../../src/lib/clock'
import { systemDisk } from '../../../src/lib/disk'
import { silentLog } from '../../../src/lib/log'
import { pathsOf, type Paths } from '../../../src/lib/paths'
import { nodeUuid } from '../../../src/model/ids'
import { MARK } from '../../../src/model/marks'
import type { NodeContext } from '../../../src/node/context'
import { configReplicaHandlers } from '../../../src/node/handlers/config-replica'
import { fileHandlers } from '../../../src/node/handlers/files'
import { queueCopy } from '../../../src/node/queue-copy'
import { NodeCallError, type NodeTarget } from '../../../src/rpc/node/client'
import { nodesOf } from '../../support/fake-nodes'
import { delay } from '../../support/queue-in-process'

let root: string
let own: Paths
let other: Paths
const closing: (() => Promise<void>)[] = []

beforeEach(async () => {
  root = mkdtempSync(path.join(os.tmpdir(), 'glj'))
  own = pathsOf(`${root}/own`, 'own')
  other = pathsOf(`${root}/other`, 'other')
  for (const { queueDir, livelockDir } of [own, other])
    for (const folder of [queueDir, livelockDir]) await systemDisk.makeDirectory(folder)
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
  rmSync(root, { recursive: true })
})

const CANDIDATE: NodeTarget = { uuid: nodeUuid('o'), name: 'other', primary_ip: '127.0.0.1', offline: false }
const queued = (id: number, more = {}): Job => newJob(id, [delay(0, more)], [id, 1])
const running = (id: number): Job => withOp(queued(id), 0, { status: 'running' })
const ended = (id: number, job = queued(id)): Job => dequeued(job, [99, 1])
const has = (at: Paths, ...jobs: Job[]) =>
  Promise.all(jobs.map((job) => systemDisk.write(jobFile(at, job.id), encodeJob(job))))

/** The candidate answers with the handlers of a node. */
function candidate(): { client: ReturnType<typeof nodesOf> } {
  const ssconf = { value: () => 'own' } as unknown as NodeContext['ssconf']
  const basics = { disk: systemDisk, paths: other, hostname: 'other', ssconf }
  const context = { ...basics, queueJournal: queueCopy(basics) } as unknown as NodeContext
  const handlers: Record<string, unknown> = { ...fileHandlers, ...configReplicaHandlers }
  const client = nodesOf(async (_, call, args) => {
    const handler = handlers[call] as (context: NodeContext, ...args: unknown[]) => Promise<unknown>
    const there = JSON.parse(JSON.stringify(args).replaceAll(own.root, other.root)) as unknown[]
    return { ok: true, payload: await handler(context, ...there) }
  })
  return { client }
}

interface Parts {
  queue: JobQueue
  replicas: Replicas
}

function parts({ client } = candidate()): Parts & { search: Parameters<JobQueue['recover']>[0] } {
  const find = { nodes: client, clock: systemClock, paths: own, log: silentLog }
  const store = new QueueStore(systemDisk, own, silentLog, noReplicas, systemClock)
  const runner: Partial<JobRunner> = { close: async () => undefined }
  const queue: JobQueue = new JobQueue({
    ...{ store, clock: systemClock, log: silentLog, ownerDied: async () => [] },
    runner: runner as JobRunner,
  })
  const replicas = new Replicas({
    ...{ nodes: client, clock: systemClock, log: silentLog },
    *files() {
      yield [`${own.queueDir}/serial`, async () => serialContent(queue.serial)]
      for (const id of queue.ids()) yield [jobFile(own, id), () => queue.textOf(id)]
    },
    read: async () => undefined,
    async takeBack(node) {
      const here = ownJobs({ jobs: [], ended: queue.ids().map((id) => ({ id })) }, store)
      await queue.takeBack(await lostJobs(node, here, find, 10))
    },
  })
  closing.push(async () => {
    replicas.close()
    await queue.close()
    await store.close()
  })
  return { queue, replicas, search: (known) => lostJobs(CANDIDATE, known, find, 10) }
}

const statuses = (queue: JobQueue) => queue.all().map((job) => [job.id, jobStatus(job)])
const there = async (id: number) =>
  parseJob((await systemDisk.read(jobFile(other, id)))?.toString('utf8') ?? 'the file is gone')

test('a master whose queue is gone takes back ended jobs, runs none of the others, and gives out no number again', async () => {
  await has(other, ended(3), queued(4), running(5))
  await systemDisk.write(`${other.queueDir}/serial`, '30\n')
  const { queue, replicas, search } = parts()
  const taken = await queue.recover(search)
  queue.configure(10, [])
  expect(taken.map(({ id, ended: over }) => [id, over])).toEqual([
    [3, true],
    [4, false],
    [5, false],
  ])
  expect(statuses(queue)).toEqual([
    [3, 'canceled'],
    [4, 'error'],
    [5, 'error'],
  ])
  expect((await queue.find(5))?.ops[0]?.result).toBe(
    'the master had lost job 5, which had not ended at other; it was not run again',
  )
  expect(queue.lastJobId).toBe(30)
  replicas.setCandidates([CANDIDATE])
  await replicas.catchUp()
  expect(replicas.outOfSync()).toEqual([])
  expect(await there(3)).toEqual(ended(3))
  expect(isFinished(await there(5))).toBe(true)
  // The next luxid has them in its own files.
  const next = parts()
  expect(await next.queue.recover()).toEqual([])
  expect(next.queue.all().map(({ id }) => id)).toEqual([3, 4, 5])
})

test('a job of older files does not run again if it has ended at a candidate, unless its number stands for another job there', async () => {
  await has(own, queued(6), queued(7), running(8))
  await has(other, ended(6), ended(7, newJob(7, [delay(1)], [55, 1])), ended(8))
  const { queue, search } = parts()
  await queue.recover(search)
  expect(statuses(queue)).toEqual([
    [6, 'canceled'],
    [7, 'queued'],
    [8, 'canceled'],
  ])
})

test('a job that has ended at one candidate and is open at another one, which had fallen behind, has ended', async () => {
  const { queue } = parts()
  const at = (node: string, job: Job, wait_ms: number): LostJob => ({
    ...{ id: 3, node, ended: isFinished(job) },
    read: () => systemClock.sleep(wait_ms).then(() => job),
  })
  // The one that has fallen behind answers first.
  const jobs = [at('behind', running(3), 0), at('other', ended(3), 50)]
  const taken = await queue.recover(async () => ({ serial: 3, jobs }))
  expect(taken).toEqual([{ id: 3, node: 'other', ended: true }])
  expect(statuses(queue)).toEqual([[3, 'canceled']])
})

test('archived jobs are not lost', async () => {
  await has(other, ended(1), ended(2))
  await systemDisk.makeDirectory(path.dirname(archivedFile(own, 1)))
  await systemDisk.write(archivedFile(own, 1), encodeJob(ended(1)))
  const { queue, replicas, search } = parts()
  expect((await queue.recover(search)).map(({ id }) => id)).toEqual([2])
  replicas.setCandidates([CANDIDATE])
  await replicas.catchUp()
  expect(existsSync(jobFile(other, 1))).toBe(false)
})

test('a candidate that tells later loses nothing either', async () => {
  await has(own, queued(2))
  await has(other, ended(2), ended(3), queued(4))
  const { queue, replicas } = parts()
  await queue.recover()
  replicas.setCandidates([CANDIDATE])
  await replicas.catchUp()
  expect(statuses(queue)).toEqual([
    [2, 'queued'],
    [3, 'canceled'],
    [4, 'error'],
  ])
  expect(queue.lastJobId).toBe(4)
  expect([await there(3), isFinished(await there(4))]).toEqual([ended(3), true])
})

test('a job that had not begun may be submitted again with its key; one that had begun keeps it', async () => {
  const marked = (id: number) => queued(id, { reason: [[MARK.key, 'key digest owner', 1], ['gnt:opcode:test_delay', `job=${id};index=0`, 2]] }) // prettier-ignore
  await has(other, marked(1), withOp(marked(2), 0, { status: 'running' }))
  const { queue, search } = parts()
  await queue.recover(search)
  const keys = queue.all().map((job) => [job.id, 'keys' in job ? job.keys : undefined])
  expect(keys).toEqual([
    [1, []],
    [2, ['key digest owner']],
  ])
})

test('noded of a Ganeti node cannot tell, and is taken as it is', async () => {
  const client = nodesOf(async ({ name }, call) => {
    throw new NodeCallError(name, call, 'the node does not know this call', false)
  })
  const { queue, search } = parts({ client })
  expect(await queue.recover(search)).toEqual([])
})
