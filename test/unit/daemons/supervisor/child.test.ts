// A daemon is started again also when the machine has no room for a process at that moment.
import { EventEmitter } from 'node:events'
import { type Processes, systemProcesses } from '../../../../src/lib/programs/processes'
import { CHILD_BACKOFF_MAX_S, CHILD_START_S } from '../../../../src/model/limits/daemons'
import { Child } from '../../../../src/daemons/supervisor/child'
import { SteppedClock } from '../../../support/stepped-clock'

class FakeProcess extends EventEmitter {
  connected = true
  constructor(readonly pid?: number) {
    super()
  }
  kill = () => true
  send = () => true
}

const full = () => Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN' })

/** What each start gives: a process with this number, none, or an error at once. */
function begun(starts: readonly (number | 'none' | 'throws')[]) {
  const processes: FakeProcess[] = []
  const deaths: string[] = []
  const clock = new SteppedClock()
  const fork = () => {
    const kind = starts[processes.length]
    const one = new FakeProcess(typeof kind === 'number' ? kind : undefined)
    processes.push(one)
    if (kind === 'throws') throw full()
    setImmediate(() => (one.pid === undefined ? one.emit('error', full()) : one.emit('message', { ready: true })))
    return one as unknown as ReturnType<Processes['fork']>
  }
  const child = new Child({
    ...{ name: 'noded', program: '', args: [], clock },
    processes: { ...systemProcesses, fork: fork },
    onDeath: (how) => void deaths.push(how),
  })
  return { child, processes, deaths, clock }
}

test.each(['none', 'throws'] as const)('a restart that fails (%s) is tried again', async (kind) => {
  const { child, processes, deaths, clock } = begun([1, kind, 3])
  await child.start()
  processes[0]?.emit('exit', null, 'SIGKILL')
  await clock.pass(CHILD_BACKOFF_MAX_S)
  expect(child.pid).toBe(3)
  expect(deaths).toEqual(['SIGKILL', 'cannot be started: spawn EAGAIN'])
})

test.each(['none', 'throws'] as const)(
  'a first start that fails (%s) is told, and leaves nothing to stop',
  async (kind) => {
    const { child, deaths, clock } = begun([kind, 2])
    await expect(child.start()).rejects.toThrow('noded cannot be started: spawn EAGAIN')
    await child.stop()
    await clock.pass(CHILD_START_S)
    expect([child.running, deaths]).toEqual([false, []])
  },
)

test('messages that cannot be sent end nobody', async () => {
  const { child, processes } = begun([1])
  await child.start()
  for (let at = 0; at < 2; at++) processes[0]?.emit('error', new Error('EPIPE'))
  expect(child.pid).toBe(1)
})
