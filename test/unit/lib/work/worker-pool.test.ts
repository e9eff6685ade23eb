// Threads get tasks in order, are ended with them, and harm no other task.
import * as path from 'node:path'
import { type Clock, systemClock } from '../../../../src/lib/clock'
import { TaskTooLong, WorkerPool } from '../../../../src/lib/work/worker-pool'
import { SteppedClock } from '../../../support/stepped-clock'

const pools: WorkerPool[] = []

function poolOf(more: { clock?: Clock; threads?: number; idle_s?: number } = {}): WorkerPool {
  const pool = new WorkerPool({
    ...{ entry: path.join(__dirname, '../../../support/worker-task.js'), clock: systemClock, threads: 1 },
    ...{ limit_s: 100, memory_mib: 256, ...more },
  })
  pools.push(pool)
  return pool
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
})

async function* parts(...numbers: number[]): AsyncGenerator<number> {
  yield* numbers
}

test('a thread gets the parts of a task in order, and takes one task after the other', async () => {
  const pool = poolOf()
  expect(await pool.run(parts(1, 2, 3))).toBe(6)
  expect(await pool.run(parts(4))).toBe(4)
  expect(await Promise.all([pool.run(parts(5)), pool.run(parts(6))])).toEqual([5, 6])
})

test('a thread that has nothing to do is ended after a while, and one that is needed again is not', async () => {
  const clock = new SteppedClock()
  const pool = poolOf({ clock, idle_s: 20 })
  const threads = () => pool.threads
  expect(await pool.run(parts(1))).toBe(1)
  await clock.pass(19)
  expect(await pool.run(parts(2))).toBe(2)
  await clock.pass(19)
  expect(threads()).toBe(1)
  await clock.pass(1)
  expect(threads()).toBe(0)
  expect(await pool.run(parts(3))).toBe(3)
  expect(threads()).toBe(1)
})

test('a task that fails is told, and the next one gets another thread', async () => {
  const pool = poolOf()
  await expect(pool.run(parts(-1))).rejects.toThrow('negative')
  expect(await pool.run(parts(2))).toBe(2)
})

test('input that cannot be read ends the task', async () => {
  const pool = poolOf()
  const broken = (async function* () {
    yield 1
    throw new Error('no more')
  })()
  await expect(pool.run(broken)).rejects.toThrow('no more')
  expect(await pool.run(parts(3))).toBe(3)
})

test('a task that nobody wants any more is ended, and makes room', async () => {
  const { pool, leave } = atWork()
  const next = pool.run(parts(7))
  await leave()
  expect(await next).toBe(7)
})

test('a caller that leaves while waiting is not waited for', async () => {
  const { pool, leave } = atWork()
  const second = new AbortController()
  const waiting = pool.run(parts(1), second.signal)
  second.abort(new Error('gone'))
  await expect(waiting).rejects.toThrow('gone')
  const last = pool.run(parts(8))
  await leave()
  expect(await last).toBe(8)
})

/** A pool whose only thread never ends its task, and how to give it up. */
function atWork(): { pool: WorkerPool; leave: () => Promise<void> } {
  const pool = poolOf()
  const leaving = new AbortController()
  const endless = pool.run(parts(Infinity), leaving.signal)
  return {
    pool,
    async leave() {
      leaving.abort(new Error('left'))
      await expect(endless).rejects.toThrow('left')
    },
  }
}

test('a task that takes too long is ended', async () => {
  let expire = (): void => undefined
  const clock: Clock = {
    ...systemClock,
    after: (_delay_ms, action) => {
      expire = action
      return { cancel: () => undefined }
    },
  }
  const pool = poolOf({ clock })
  const endless = pool.run(parts(Infinity))
  await systemClock.sleep(0)
  expire()
  await expect(endless).rejects.toThrow(TaskTooLong)
})
