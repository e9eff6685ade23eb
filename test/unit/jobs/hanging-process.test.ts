// An idle job process may hang when it gets its next job.
import { EventEmitter } from 'node:events'
import type { FromProcess } from '../../../src/jobs/messages'
import { JobPool } from '../../../src/jobs/pool'
import { silentLog as log } from '../../../src/lib/log'
import { pathsOf } from '../../../src/lib/paths'
import { JOB_PROCESS_START_S } from '../../../src/model/limits/job-processes'
import { SteppedClock } from '../../support/stepped-clock'

/** Says that it is ready, and nothing more. */
class HangingChild extends EventEmitter {
  readonly pid = 4711
  readonly connected = true
  readonly exitCode = null
  signalCode: string | null = null
  send = () => undefined
  disconnect = () => undefined
  unref = () => undefined
  kill(signal: string) {
    this.signalCode = signal
    this.emit('close', null, signal)
  }
}

test('a process that does not begin its job is ended, so that another one can have the job', async () => {
  const clock = new SteppedClock()
  const child = new HangingChild()
  const processes = { kill: () => undefined, start: () => child }
  const pool = new JobPool({ entry: '', processes, paths: pathsOf('', 'node1'), clock, log, warm: 1 })
  pool.warmUp()
  child.emit('message', { say: 'ready' } satisfies FromProcess)
  const prepared = await pool.prepare(1)
  const listener = { progress: () => Promise.resolve(), gone: () => undefined, over: () => false }
  const order = {} as unknown as Parameters<typeof prepared.begin>[0]
  const begun = expect(prepared.begin(order, listener)).rejects.toThrow('job process ended with SIGKILL')
  await clock.pass(JOB_PROCESS_START_S - 1)
  expect(child.signalCode).toBeNull()
  await clock.pass(1)
  expect(child.signalCode).toBe('SIGKILL')
  await begun
  await pool.close()
})
