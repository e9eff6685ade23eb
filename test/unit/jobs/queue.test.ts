// What the queue tells others is durable, and what it refuses does not come back.
import { JobQueue } from '../../../src/jobs/queue'
import { noReplicas } from '../../../src/jobs/replicas'
import { encodeJob } from '../../../src/jobs/job-file'
import type { Job } from '../../../src/jobs/job'
import type { JobRunner } from '../../../src/jobs/runner'
import { QueueStore } from '../../../src/jobs/store'
import { type Clock, systemClock } from '../../../src/lib/clock'
import { type Disk, systemDisk } from '../../../src/lib/disk'
import { UnsettledAppend } from '../../../src/lib/file/unsettled-append'
import { silentLog } from '../../../src/lib/log'
import type { Paths } from '../../../src/lib/paths'
import { eventually } from '../../support/hypervisor'
import { delay, idOf, removeRoot, temporaryPaths } from '../../support/queue-in-process'

let paths: Paths
let failing: (step: 'append' | 'write' | 'remove', file: string, data: string) => boolean
/** Appends arrive, and nobody knows it. */
let unsettled: boolean
const stores: QueueStore[] = []

beforeEach(async () => {
  unsettled = false
  paths = temporaryPaths()
  failing = () => false
  for (const directory of [paths.queueDir, paths.livelockDir]) await systemDisk.makeDirectory(directory)
})
afterEach(async () => {
  failing = () => false
  for (const store of stores.splice(0)) await store.close()
  await removeRoot(paths)
})

const strike = (...step: Parameters<typeof failing>) => {
  if (failing(...step)) throw new Error(`EIO: ${step[0]} ${step[1]}`)
}

const disk: Disk = {
  ...systemDisk,
  async append(file, data) {
    strike('append', file, data.toString())
    await systemDisk.append(file, data)
    if (unsettled) throw new UnsettledAppend(file, new Error(`EIO: sync ${file}`))
  },
  async write(file, data, options) {
    strike('write', file, data.toString())
    await systemDisk.write(file, data, options)
  },
  async remove(file, options) {
    strike('remove', file, '')
    await systemDisk.remove(file, options)
  },
}

/** Whoever waits waits less. */
const sooner: Clock = {
  ...systemClock,
  after: (delay_ms, action, options) => systemClock.after(delay_ms / 20, action, options),
  sleep: (delay_ms, signal) => systemClock.sleep(delay_ms / 20, signal),
}

/** Starts nothing. */
const runner: Partial<JobRunner> = { close: async () => undefined }

async function open(more: Partial<JobRunner> = {}): Promise<JobQueue> {
  const store = new QueueStore(disk, paths, silentLog, noReplicas, systemClock)
  stores.push(store)
  const queue = new JobQueue({
    ...{ store, clock: sooner, log: silentLog, ownerDied: async () => [] },
    runner: { ...runner, ...more } as JobRunner,
  })
  await queue.recover()
  return queue
}

/** What a luxid finds that starts now. */
const found = async () => (await new QueueStore(systemDisk, paths, silentLog, noReplicas, systemClock).load()).jobs

const waiting = async () => {
  const queue = await open()
  const id = idOf((await queue.submit([[delay(0)]]))[0])
  return { queue, id, priority: () => queue.job(id)?.ops[0]?.priority }
}

test('a priority that cannot be written is told to nobody', async () => {
  const { queue, id, priority } = await waiting()
  const reported: number[] = []
  queue.subscribe(id, ({ ops }) => reported.push(ops[0]?.priority ?? NaN))
  failing = (step) => step === 'append'
  await expect(queue.setPriority(id, -5)).rejects.toThrow('EIO')
  expect([priority(), reported]).toEqual([0, []])
  failing = () => false
  await expect(queue.setPriority(id, -5)).resolves.toBe('queued')
  expect([priority(), reported]).toEqual([-5, [-5]])
  expect((await found()).map(({ ops }) => ops[0]?.priority)).toEqual([-5])
})

test('a luxid that starts without room answers, and writes the end of a job that has died when there is room', async () => {
  const { queue, id } = await waiting()
  const [job] = await found()
  const begun = {
    ...job,
    ops: job?.ops.map((op) => ({ ...op, status: 'running' as const })),
    livelock: '/none',
    process_id: 1,
  }
  await queue.close()
  for (const store of stores.splice(0)) await store.close()
  await systemDisk.write(`${paths.queueDir}/job-${id}`, encodeJob(begun as Job))
  failing = (step) => step !== 'remove'
  const later = await open({ adopt: async () => undefined })
  expect(later.job(id)?.ops[0]?.status).toBe('running')
  failing = () => false
  await eventually(() => later.job(id)?.ops[0]?.status === 'error' || undefined)
})

test('of two changes at the same time both count', async () => {
  const { queue, id, priority } = await waiting()
  await Promise.all([queue.setPriority(id, -5), queue.setPriority(id, -7)])
  expect(priority()).toBe(-7)
  expect((await found()).map(({ ops }) => ops[0]?.priority)).toEqual([-7])
})

describe('a job is refused because the number of the last job cannot be written', () => {
  /** The number and the job went to the disk in two steps, of which the first failed. */
  async function submitWhile(fails: typeof failing) {
    const queue = await open()
    jest.spyOn(stores[0] as QueueStore, 'saveSerial').mockRejectedValue(new Error('EIO: serial'))
    failing = fails
    const [answer] = await queue.submit([[delay(0)]])
    failing = () => false
    return answer
  }

  test('nothing of it is left', async () => {
    await expect(submitWhile(() => false)).resolves.toEqual({ error: expect.stringContaining('EIO') })
    await expect(found()).resolves.toEqual([])
  })

  test('a later luxid does not run it, even if its file cannot be removed', async () => {
    const answer = submitWhile((step, file) => step === 'remove' && file.includes('job-'))
    await expect(answer).resolves.toEqual({ error: expect.stringContaining('EIO') })
    await expect(found()).resolves.toEqual([])
  })

  test('it is known as cancelled if its file cannot be removed, so that candidates keep that file, too', async () => {
    const queue = await open()
    jest.spyOn(stores[0] as QueueStore, 'saveSerial').mockRejectedValue(new Error('EIO: serial'))
    failing = (step, file) => step === 'remove' && file.includes('job-')
    await expect(queue.submit([[delay(0)]])).resolves.toEqual([{ error: expect.stringContaining('EIO') }])
    failing = () => false
    expect(queue.ids()).toEqual([1])
    expect(queue.job(1)?.ops[0]?.status).toBe('canceled')
  })

  test('it is accepted if nothing can be written that would take it back', async () => {
    const answer = submitWhile(
      (step, file, data) => (step === 'remove' && file.includes('job-')) || data.includes('canceled'),
    )
    await expect(answer).resolves.toEqual({ id: 1 })
    expect((await found()).map(({ id }) => id)).toEqual([1])
  })
})

describe('the queue closes while the disk takes a job, says that it failed, and cannot take it back', () => {
  async function submitWhile(fails: typeof failing) {
    const queue = await open()
    unsettled = true
    failing = fails
    const answer = queue.submit([[delay(0)]]).catch((error: unknown) => error)
    void stores[0]?.close()
    try {
      return await answer
    } finally {
      failing = () => false
    }
  }

  test('nobody is told that it was refused, as a later luxid runs it', async () => {
    await expect(
      submitWhile((step, _, data) => step !== 'append' || data.includes('canceled')),
    ).resolves.toBeInstanceOf(UnsettledAppend)
    expect((await found()).map(({ id }) => id)).toEqual([1])
  })

  test('it is refused once its record is gone', async () => {
    const answer = submitWhile((step, file) => step === 'write' && file === paths.queueJournal)
    await expect(answer).resolves.toEqual([{ error: expect.stringContaining('EIO') }])
    await expect(found()).resolves.toEqual([])
  })
})
