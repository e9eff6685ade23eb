// The life of a job in its process: transitions, cancellation, priorities, failures.
import { type Job, jobStatus, newJob } from '../../../src/jobs/job'
import { JobRun, type OpcodeSetting } from '../../../src/jobs/job-run'
import { type Progress, applyProgress } from '../../../src/jobs/runner'
import { systemClock } from '../../../src/lib/clock'
import type { WireOpCode } from '../../../src/rpc/luxi/calls'
import { OpPrereqError } from '../../../src/model/errors'
import { delay } from '../../support/queue-in-process'

class Cancelled extends Error {}

interface Trace {
  saved: Job[]
  told: Progress[]
  seen: Job
  bugs: unknown[]
}

function runOf(ops: WireOpCode[], execute: (op: WireOpCode, setting: OpcodeSetting, run: JobRun) => Promise<unknown>) {
  const job = newJob(5, ops, [1, 1])
  const trace: Trace = { saved: [], told: [], seen: job, bugs: [] }
  const tell = (progress: Progress) => {
    trace.told.push(progress)
    trace.seen = applyProgress(trace.seen, progress)
  }
  const run: JobRun = new JobRun(
    { job, secrets: [{ pw: 'x' }], verdicts: [] },
    {
      clock: systemClock,
      Cancelled,
      execute: (op, setting) => execute(op, setting, run),
      async save(next, progress) {
        trace.saved.push(next)
        tell(progress)
      },
      log: (_job, progress) => tell(progress),
      onBug: (error) => trace.bugs.push(error),
    },
  )
  return { run, trace }
}

test('every transition is saved before it is told, and listeners end with the same job', async () => {
  const { run, trace } = runOf([delay(1), delay(2)], async (_op, setting) => {
    await setting.started()
    setting.log('message', 'here')
    return setting.opIndex
  })
  await run.run()
  expect(trace.saved.map(jobStatus)).toEqual(['waiting', 'running', 'waiting', 'running', 'success'])
  expect(trace.told.filter(({ kind }) => kind === 'step')).toHaveLength(5)
  expect(trace.seen).toEqual(run.job)
  expect(run.job.ops.map((op) => op.result)).toEqual([0, 1])
  expect(run.job.ops.flatMap((op) => op.log.map(([serial]) => serial))).toEqual([1, 2])
})

test('an opcode that changes nothing is told to run when it has run for a while, else with its end', async () => {
  const { run, trace } = runOf([delay(1), delay(2)], async (op, setting) => {
    await setting.started('repeatable')
    if (op['duration'] === 2) await until(() => trace.saved.length === 3)
    return setting.opIndex
  })
  await run.run()
  expect(trace.saved.map((job) => job.ops.map(({ status }) => status).join(' '))).toEqual([
    'waiting queued',
    'success waiting',
    'success running',
    'success success',
  ])
  expect(trace.seen).toEqual(run.job)
  expect(run.job.ops.every((op) => op.exec_timestamp !== null)).toBe(true)
})

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await systemClock.sleep(5)
}

test('an opcode that needs more locks waits again, and can be cancelled while it does', async () => {
  const { run, trace } = runOf([delay(1)], async (_op, setting, run) => {
    await setting.started()
    await setting.retrying()
    run.cancel()
    setting.cancelled.throwIfAborted()
  })
  await run.run()
  expect(trace.saved.map(jobStatus)).toEqual(['waiting', 'running', 'waiting', 'canceling', 'canceled'])
})

test('notes of an opcode are in its input from the next transition on', async () => {
  const { run, trace } = runOf([delay(1), delay(2)], async (_op, setting) => {
    if (setting.opIndex === 0) setting.note({ on_nodes: ['node1.example.com'] })
    await setting.started()
  })
  await run.run()
  expect(trace.saved[1]?.ops.map(({ input }) => input['on_nodes'])).toEqual([['node1.example.com'], []])
  expect(trace.seen).toEqual(run.job)
})

test('an opcode gets its own secrets only', async () => {
  const got: unknown[] = []
  const { run } = runOf([delay(1), delay(2)], async (_op, setting) => void got.push(setting.secrets))
  await run.run()
  expect(got).toEqual([{ pw: 'x' }, {}])
})

test('a cancel while an opcode waits shows as canceling and ends as canceled', async () => {
  const { run, trace } = runOf([delay(1), delay(2)], async (_op, setting, self) => {
    self.cancel()
    await setting.started()
  })
  await run.run()
  expect(trace.saved.map(jobStatus)).toEqual(['waiting', 'canceling', 'canceled'])
  expect(run.job.ops.map((op) => op.result)).toEqual(['Job canceled by request', 'Job canceled by request'])
})

test('an error while waiting that comes from the cancel is no failure', async () => {
  const { run } = runOf([delay(1)], async (_op, _setting, self) => {
    self.cancel()
    throw new Error('lock request withdrawn')
  })
  await run.run()
  expect(jobStatus(run.job)).toBe('canceled')
})

test('a cancel of a running opcode that goes on cancels what follows', async () => {
  const { run } = runOf([delay(1), delay(2)], async (_op, setting, self) => {
    await setting.started()
    self.cancel()
    expect(setting.cancelled.aborted).toBe(true)
    return 'done'
  })
  await run.run()
  expect(run.job.ops.map((op) => [op.status, op.result])).toEqual([
    ['success', 'done'],
    ['canceled', 'Job canceled by request'],
  ])
})

test('a running opcode that fails after a cancel has failed', async () => {
  const { run } = runOf([delay(1)], async (_op, setting, self) => {
    await setting.started()
    self.cancel()
    throw new OpPrereqError('no', 'wrong_input')
  })
  await run.run()
  expect(run.job.ops[0]?.result).toEqual(['OpPrereqError', ['no', 'wrong_input']])
})

test('a new priority reaches the opcodes that are not done', async () => {
  const { run } = runOf([delay(1), delay(2)], async (_op, setting, self) => {
    let reported = 0
    const forget = setting.onPriority(() => reported++)
    if (setting.opIndex === 0) {
      self.setPriority(-7)
      expect(reported).toBe(1)
      forget()
    }
    expect(setting.priority()).toBe(-7)
    await setting.started()
  })
  await run.run()
  expect(run.job.ops.map((op) => op.priority)).toEqual([-7, -7])
})
