// What the queue has acknowledged survives luxid, its job processes and a full disk.
import { existsSync, readFileSync, writeFileSync, mkdirSync } from 'node:fs'
import { systemClock } from '../../../src/lib/clock'
import { type Disk, systemDisk } from '../../../src/lib/disk'
import { journalContents } from '../../../src/lib/file/journal'
import type { Paths } from '../../../src/lib/paths'
import { filterUuid } from '../../../src/model/ids'
import { jobStatus, newJob } from '../../../src/jobs/job'
import { encodeJob } from '../../../src/jobs/job-file'
import {
  type TestQueue,
  delay,
  ended,
  executed,
  lastWritten,
  livelocks,
  openTestQueue,
  queueText,
  removeRoot,
  submitOne,
  temporaryPaths,
  until,
} from '../../support/queue-in-process'

let paths: Paths
let open: TestQueue[]

beforeEach(() => {
  paths = temporaryPaths()
  open = []
})

afterEach(async () => {
  for (const one of open) await one.close()
  await removeRoot(paths)
})

async function start(options: Parameters<typeof openTestQueue>[1] = {}): Promise<TestQueue> {
  const one = await openTestQueue(paths, options)
  open.push(one)
  return one
}

const fileOf = (id: number) => lastWritten(paths, id)
const serialFile = () => Number(queueText(paths, 'serial'))
const gone = async (holds: () => boolean) => {
  for (let i = 0; i < 200 && !holds(); i++) await systemClock.sleep(20)
  expect(holds()).toBe(true)
}

describe('a job', () => {
  test('that is refused, because the last job id cannot be written, is nowhere', async () => {
    const disk: Disk = {
      ...systemDisk,
      append: (file, data) =>
        journalContents(data.toString()).has('serial')
          ? Promise.reject(new Error('ENOSPC'))
          : systemDisk.append(file, data),
    }
    const { queue } = await start({ maxRunning: 0, disk })
    expect(await queue.submit([[delay(1)]])).toEqual([{ error: 'ENOSPC' }])
    expect(queueText(paths, 'job-1')).toBeUndefined()
    expect(queue.ids()).toEqual([])
  })

  test('is refused while the disk has no room for its end', async () => {
    const { queue } = await start({ maxRunning: 0, disk: { ...systemDisk, room: () => Promise.resolve(1000) } })
    await expect(queue.submit([[delay(1)]])).rejects.toMatchObject({ code: 'ENOSPC', path: paths.queueDir })
    expect(queue.ids()).toEqual([])
  })

  test('that is being written is already in what a candidate gets as a full copy', async () => {
    let [begin, write] = [() => {}, () => {}]
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const gate = new Promise<void>((resolve) => (write = resolve))
    const disk: Disk = {
      ...systemDisk,
      append: async (file, data) => {
        begin()
        await gate
        return systemDisk.append(file, data)
      },
    }
    const { queue } = await start({ maxRunning: 0, disk })
    const submitted = queue.submit([[delay(1)]])
    await begun
    expect(queue.job(1)).toBeUndefined()
    expect(queue.ids()).toEqual([1])
    expect(await queue.textOf(1)).toContain('OP_TEST_DELAY')
    write()
    await submitted
    expect(queue.job(1)).toBeDefined()
  })

  test('is in its file, and the serial file covers its id, when it is acknowledged', async () => {
    const { queue } = await start({ maxRunning: 0 })
    const id = await submitOne(queue, delay(1))
    expect(id).toBe(1)
    expect(jobStatus(fileOf(id))).toBe('queued')
    expect(serialFile()).toBeGreaterThanOrEqual(1)
    expect(readFileSync(`${paths.queueDir}/version`, 'utf8')).toBe('1\n')
    const reason = fileOf(id).ops[0]?.input['reason']
    expect(reason).toEqual([['gnt:opcode:test_delay', 'job=1;index=0', expect.any(Number)]])
  })

  test('has an id that no former job had, whether luxid was killed or stopped before; one that was stopped skips none', async () => {
    const first = await start({ maxRunning: 0 })
    for (const id of [1, 2]) expect(await submitOne(first.queue, delay(1))).toBe(id)
    await first.queue.close()
    expect(serialFile()).toBe(2)
    const second = await start({ maxRunning: 0 })
    expect(await submitOne(second.queue, delay(1))).toBe(3)
    // As a killed one leaves it.
    const taken = serialFile()
    expect(taken).toBeGreaterThanOrEqual(3)
    for (let id = 4; id <= taken + 1; id++) expect(await submitOne(second.queue, delay(1))).toBe(id)
    expect(serialFile()).toBeGreaterThan(taken)
    const third = await start({ maxRunning: 0 })
    expect(await submitOne(third.queue, delay(1))).toBeGreaterThan(taken + 1)
  })

  test('runs in a process of its own, and file and memory agree on how it ended', async () => {
    const { queue } = await start()
    const id = await submitOne(queue, delay(0.01, { comment: 'log' }), delay(0))
    const job = await ended(queue, id)
    expect(jobStatus(job)).toBe('success')
    expect(job.process_id).not.toBe(process.pid)
    expect(job.livelock).toMatch(/livelocks\/job_000001_\d+_\d+$/)
    expect(job.ops[0]?.log.map(([serial, , type, text]) => [serial, type, text])).toEqual([
      [1, 'message', 'line 0'],
      [2, 'message', 'line 1'],
      [3, 'message', 'line 2'],
    ])
    expect(fileOf(id)).toEqual(job)
    expect(executed(paths)).toEqual(['1.0', '1.1'])
    for (const op of job.ops) expect([op.start_timestamp, op.exec_timestamp, op.end_timestamp]).not.toContain(null)
    await gone(() => livelocks(paths).length === 0)
  })

  test('that fails carries the error, and what follows is not tried', async () => {
    const { queue } = await start()
    const job = await ended(queue, await submitOne(queue, delay(0, { comment: 'fail' }), delay(0)))
    expect(job.ops.map((op) => op.result)).toEqual([
      ['OpExecError', ['told to fail']],
      ['OpExecError', ['Preceding opcode failed']],
    ])
    expect(executed(paths)).toEqual(['1.0'])
  })

  test('with a defect fails as an execution error', async () => {
    const { queue } = await start()
    const job = await ended(queue, await submitOne(queue, delay(0, { comment: 'bug' })))
    expect(job.ops[0]?.result).toEqual(['OpExecError', ['a defect']])
    const next = await ended(queue, await submitOne(queue, delay(0)))
    expect(jobStatus(next)).toBe('success')
    expect(next.process_id).not.toBe(job.process_id)
  })

  test('without opcodes succeeds at once, without times', async () => {
    const { queue } = await start()
    const job = await ended(queue, await submitOne(queue))
    expect([jobStatus(job), job.start_timestamp, job.end_timestamp]).toEqual(['success', null, null])
  })

  test('whose process dies ends as an error that names what was under way and which locks were freed', async () => {
    let cleaned = 0
    const ownerDied = async () => {
      cleaned++
      return [['instance/vm1', 'exclusive'] as const]
    }
    const { queue } = await start({ ownerDied })
    const job = await ended(queue, await submitOne(queue, delay(0, { comment: 'die' })))
    expect(jobStatus(job)).toBe('error')
    expect(job.ops[0]?.result).toMatch(
      /^detected death of job 1: OP_TEST_DELAY was running.*instance\/vm1 \(exclusive\)/,
    )
    expect(job.ops[0]?.input['reason']).toContainEqual([
      'gnt:daemon:luxid:deathdetection',
      'detected death of job 1',
      expect.any(Number),
    ])
    expect(cleaned).toBe(1)
    expect(fileOf(1)).toEqual(job)
  })
})

describe('cancelling', () => {
  test('takes a queued job out of the queue', async () => {
    const { queue } = await start({ maxRunning: 0 })
    const id = await submitOne(queue, delay(1))
    expect(await queue.cancel(id)).toBe('dequeued')
    expect(jobStatus(fileOf(id))).toBe('canceled')
    expect(await queue.cancel(id)).toBe('unknown')
  })

  test('stops a job that waits in its process', async () => {
    const { queue } = await start()
    const id = await submitOne(queue, delay(0, { repeat: 30000 }))
    await until(queue, id, (job) => jobStatus(job) === 'waiting')
    const outcome = await queue.cancel(id)
    if (typeof outcome === 'string') throw new Error(outcome)
    outcome.execution.cancel()
    const job = await ended(queue, id)
    expect(jobStatus(job)).toBe('canceled')
    expect(job.ops[0]?.result).toBe('Job canceled by request')
    expect(executed(paths)).toEqual([])
  })

  test('lets a running opcode finish, and what follows is cancelled', async () => {
    const { queue } = await start()
    const id = await submitOne(queue, delay(0.5), delay(0))
    await until(queue, id, (job) => jobStatus(job) === 'running')
    const outcome = await queue.cancel(id)
    if (typeof outcome === 'string') throw new Error(outcome)
    outcome.execution.cancel()
    const job = await ended(queue, id)
    expect(job.ops.map((op) => op.status)).toEqual(['success', 'canceled'])
  })

  test('stops a running opcode that can stop', async () => {
    const { queue } = await start()
    const id = await submitOne(queue, delay(30, { interruptible: true }))
    await until(queue, id, (job) => jobStatus(job) === 'running')
    const outcome = await queue.cancel(id)
    if (typeof outcome === 'string') throw new Error(outcome)
    outcome.execution.cancel()
    expect(jobStatus(await ended(queue, id))).toBe('canceled')
  })

  test('with kill ends the process, and the job as an error', async () => {
    const { queue } = await start()
    const id = await submitOne(queue, delay(30))
    await until(queue, id, (job) => jobStatus(job) === 'running')
    const outcome = await queue.cancel(id)
    if (typeof outcome === 'string') throw new Error(outcome)
    outcome.execution.kill()
    const job = await ended(queue, id)
    expect(job.ops[0]?.result).toMatch(/^detected death of job 1/)
  })
})

describe('dependencies', () => {
  test('a job starts after those that it depends on, also relative ones of the same submission', async () => {
    const { queue } = await start()
    const results = await queue.submit([[delay(0.3)], [delay(0, { depends: [[-1, ['success']]] })]])
    expect(results).toEqual([{ id: 1 }, { id: 2 }])
    expect(fileOf(2).ops[0]?.input['depends']).toEqual([[1, ['success']]])
    await ended(queue, 2)
    expect(executed(paths)).toEqual(['1.0', '2.0'])
  })

  test.each([
    [
      [['success']],
      'error',
      ['OpExecError', ["Dependency job 1 finished with status 'error', not one of 'success' as required"]],
    ],
    [[['success', 'error']], 'success', null],
    [[[]], 'success', null],
  ])('statuses %j after a failed job: %s', async ([statuses], status, result) => {
    const { queue } = await start()
    await submitOne(queue, delay(0, { comment: 'fail' }))
    const job = await ended(queue, await submitOne(queue, delay(0, { depends: [[1, statuses]] })))
    expect([jobStatus(job), job.ops[0]?.result]).toEqual([status, result])
  })

  test('a dependency that was cancelled cancels the job', async () => {
    const { queue } = await start({ maxRunning: 0 })
    await submitOne(queue, delay(0))
    const id = await submitOne(queue, delay(0, { depends: [[1, []]] }))
    await queue.cancel(1)
    queue.configure(4, [])
    const job = await ended(queue, id)
    expect([jobStatus(job), job.ops[0]?.result]).toEqual(['canceled', 'Job canceled by request'])
    expect(job.start_timestamp).not.toBeNull()
  })

  test('a dependency that does not exist fails the job, an archived one counts', async () => {
    const { queue } = await start()
    await ended(queue, await submitOne(queue, delay(0)))
    expect(await queue.archive(1)).toBe(true)
    const missing = await ended(queue, await submitOne(queue, delay(0, { depends: [[888888, []]] })))
    expect(missing.ops[0]?.result).toEqual(['OpExecError', ['Dependency error: Job 888888 not found']])
    expect(jobStatus(await ended(queue, await submitOne(queue, delay(0, { depends: [[1, ['success']]] }))))).toBe(
      'success',
    )
  })

  test('a relative id before the first job is refused, the other jobs are not', async () => {
    const { queue } = await start()
    const results = await queue.submit([[delay(0, { depends: [[-5, []]] })], [delay(0)]])
    expect(results).toEqual([{ error: expect.stringContaining('before the first job') }, { id: 2 }])
    expect(queueText(paths, 'job-1')).toBeUndefined()
  })
})

describe('secrets', () => {
  const create = {
    OP_ID: 'OP_INSTANCE_REINSTALL',
    instance_name: 'vm',
    osparams_secret: { pw: 'hunter2' },
    reason: [],
    repeat: 0,
  }

  test('are in no file, and a queued job that lost them to a restart fails and says so', async () => {
    const first = await start({ maxRunning: 0 })
    const id = await submitOne(first.queue, create)
    expect(queueText(paths, `job-${id}`)).not.toContain('hunter2')
    await first.close()
    const second = await start()
    const job = await ended(second.queue, id)
    expect(jobStatus(job)).toBe('error')
    expect(JSON.stringify(job.ops[0]?.result)).toContain('secret parameters were lost')
  })
})

describe('the archive', () => {
  test('keeps ended jobs in their folder, and ids are never used again', async () => {
    const { queue, close } = await start()
    const id = await submitOne(queue, delay(0))
    await ended(queue, id)
    expect(await queue.archive(id)).toBe(true)
    expect(await queue.archive(id)).toBe(false)
    expect(existsSync(`${paths.archiveDir}/0/job-1`)).toBe(true)
    expect(queue.job(id)).toBeUndefined()
    expect((await queue.find(id))?.id).toBe(id)
    await close()
    const again = await start()
    expect((await again.queue.find(id))?.id).toBe(id)
    expect(await submitOne(again.queue, delay(0))).toBe(2)
  })

  test('never hides a job that is on its way there', async () => {
    let move = () => {}
    const gate = new Promise<void>((resolve) => (move = resolve))
    const disk: Disk = {
      ...systemDisk,
      rename: async (from, to) => {
        if (from.endsWith('/job-1')) await gate
        return systemDisk.rename(from, to)
      },
    }
    const { queue } = await start({ disk })
    const id = await submitOne(queue, delay(0))
    await ended(queue, id)
    const archived = queue.archive(id)
    expect(await queue.archive(id)).toBe(false)
    expect((await queue.find(id))?.id).toBe(id)
    move()
    expect(await archived).toBe(true)
    expect((await queue.find(id))?.id).toBe(id)
  })

  test('does not take a job that has not ended', async () => {
    const { queue } = await start({ maxRunning: 0 })
    expect(await queue.archive(await submitOne(queue, delay(0)))).toBe(false)
  })
})

describe('a restarted luxid', () => {
  test('finds a running job again and hears how it goes on', async () => {
    const first = await start()
    const id = await submitOne(first.queue, delay(1.5, { comment: 'log' }), delay(0))
    const before = await until(first.queue, id, (job) => jobStatus(job) === 'running' && job.ops[0]?.log.length === 3)
    await first.close()
    const second = await start()
    const job = await ended(second.queue, id)
    expect(jobStatus(job)).toBe('success')
    expect(job.process_id).toBe(before.process_id)
    expect(job.ops[0]?.log).toHaveLength(3)
    expect(executed(paths)).toEqual(['1.0', '1.1'])
    await gone(() => !alive(job.process_id ?? 0))
  })

  test('can still cancel a job that it found again', async () => {
    const first = await start()
    const id = await submitOne(first.queue, delay(60, { interruptible: true }))
    await until(first.queue, id, (job) => jobStatus(job) === 'running')
    await first.close()
    const second = await start()
    const outcome = await second.queue.cancel(id)
    if (typeof outcome === 'string') throw new Error(outcome)
    outcome.execution.cancel()
    expect(jobStatus(await ended(second.queue, id))).toBe('canceled')
  })

  test('settles every state that it may find', async () => {
    mkdirSync(paths.queueDir, { recursive: true })
    const dead = { livelock: `${paths.livelockDir}/job_dead`, process_id: 999999 }
    const with_ = (id: number, status: 'waiting' | 'running' | 'canceling' | 'queued', more = {}) => {
      const job = newJob(id, [delay(0)], [1, 1])
      const ops = job.ops.map((op) => ({ ...op, status }))
      writeFileSync(`${paths.queueDir}/job-${id}`, encodeJob({ ...job, ops, ...more }))
    }
    with_(1, 'queued')
    with_(2, 'waiting', dead)
    with_(3, 'running', dead)
    with_(4, 'canceling', dead)
    writeFileSync(`${paths.queueDir}/job-5`, '{damaged')
    const { queue } = await start()
    const status = async (id: number) => jobStatus(await ended(queue, id))
    expect(await status(1)).toBe('success')
    expect(await status(2)).toBe('success')
    expect(await status(3)).toBe('error')
    expect(await status(4)).toBe('canceled')
    expect(queue.job(5)).toBeUndefined()
    expect(executed(paths).sort()).toEqual(['1.0', '2.0'])
    expect(await submitOne(queue, delay(0))).toBe(6)
  })
})

test('priorities decide who starts first', async () => {
  const { queue } = await start({ maxRunning: 0 })
  for (const priority of [10, 0, -10]) await submitOne(queue, delay(0, { priority }))
  expect(await queue.setPriority(1, -20)).toBe('queued')
  expect(fileOf(1).ops[0]?.priority).toBe(-20)
  queue.configure(1, [])
  await Promise.all([1, 2, 3].map((id) => ended(queue, id)))
  expect(executed(paths)).toEqual(['1.0', '3.0', '2.0'])
})

test('the log of a job that a filter rule holds back says so once, and the job keeps it when it runs', async () => {
  const rule = {
    uuid: filterUuid('r'),
    action: 'PAUSE',
    predicates: [],
    priority: 0,
    watermark: 0,
    reason_trail: [],
  } as const
  const { queue } = await start({ maxRunning: 1 })
  queue.configure(1, [rule])
  await submitOne(queue, delay(0))
  const texts = () => fileOf(1).ops[0]?.log.map(([, , , message]) => message)
  const said = ['Waiting: filter rule r pauses this job until the rule is changed or deleted']
  await gone(() => texts()?.length !== 0)
  expect(texts()).toEqual(said)
  queue.configure(1, [{ ...rule }])
  await queue.setPriority(1, 1)
  expect([texts(), fileOf(1).ops[0]?.priority]).toEqual([said, 1])
  queue.configure(1, [])
  expect((await ended(queue, 1)).ops[0]?.log.slice(0, 1).map(([serial, , , message]) => [serial, message])).toEqual([
    [1, said[0]],
  ])
})

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
