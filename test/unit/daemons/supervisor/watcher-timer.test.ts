// When the parent of a node's daemons runs watcher and cleaner.
import { EventEmitter } from 'node:events'
import { WatcherTimer } from '../../../../src/daemons/supervisor/watcher-timer'
import { silentLog } from '../../../../src/lib/log'
import type { Processes } from '../../../../src/lib/programs/processes'
import {
  CLEANER_EVERY,
  WATCHER_EVERY_S,
  WATCHER_RUNS_MAX,
  WATCHER_STRICT_EVERY,
} from '../../../../src/model/limits/watcher'
import { SteppedClock } from '../../../support/stepped-clock'

function start({ isMaster = false, lasts = false } = {}) {
  const clock = new SteppedClock()
  const begun: string[] = []
  const children: EventEmitter[] = []
  const fork = (program: string, args: readonly string[]) => {
    begun.push([program, ...args].join(' '))
    const child = Object.assign(new EventEmitter(), { pid: begun.length })
    children.push(child)
    if (!lasts) setImmediate(() => child.emit('exit', 0, null))
    return child
  }
  const signalled: number[] = []
  const processes = { fork, signal: (pid: number) => signalled.push(pid) > 0 } as unknown as Processes
  const timer = new WatcherTimer({
    ...{ clock, log: silentLog, processes, program: 'watcher', cleaner: 'cleaner', isMaster: () => isMaster },
  })
  return { clock, begun, children, signalled, timer }
}

test('it runs at once, and then every few minutes; some runs report more', async () => {
  const { clock, begun, timer } = start()
  timer.start('the node was started')
  await clock.pass(WATCHER_EVERY_S * WATCHER_STRICT_EVERY)
  const often = Array.from({ length: WATCHER_STRICT_EVERY - 1 }, () => 'watcher --spare --no-strict')
  expect(begun).toEqual(['watcher --spare --no-verify-disks --why the node was started', ...often, 'watcher --spare'])
  timer.close()
  await clock.pass(WATCHER_EVERY_S)
  expect(begun).toHaveLength(1 + WATCHER_STRICT_EVERY)
})

test('a node that becomes the master when it starts has one first run', () => {
  const { begun, timer } = start({ isMaster: true })
  timer.soon('the master was started')
  timer.start('the node was started')
  expect(begun).toEqual(['watcher --spare --no-verify-disks --why the node was started'])
})

test('who calls it while it runs has it run once more, also when no more runs are allowed beside each other', async () => {
  const { clock, begun, children, timer } = start({ lasts: true })
  timer.start('the node was started')
  for (let node = 2; node <= WATCHER_RUNS_MAX + 2; node++) timer.soon(`node${node} is back`)
  expect(begun).toHaveLength(WATCHER_RUNS_MAX)
  children[0]?.emit('exit', 0, null)
  expect(begun.slice(WATCHER_RUNS_MAX)).toEqual([
    `watcher --spare --no-verify-disks --why node${WATCHER_RUNS_MAX + 2} is back`,
  ])
  await clock.pass(10 * WATCHER_EVERY_S)
  // Runs that do not end keep no others company.
  expect(begun).toHaveLength(1 + WATCHER_RUNS_MAX)
})

test('a run goes with the daemons of its node', () => {
  const { signalled, timer } = start({ lasts: true })
  timer.start('the node was started')
  timer.close()
  timer.soon('node2 is back')
  expect(signalled).toEqual([1])
})

test('once a day the cleaner runs, on the master for both', async () => {
  const cleaners = async (isMaster: boolean) => {
    const { clock, begun, timer } = start({ isMaster })
    timer.start('the node was started')
    await clock.pass(WATCHER_EVERY_S * CLEANER_EVERY)
    timer.close()
    return begun.filter((words) => words.startsWith('cleaner'))
  }
  expect(await cleaners(false)).toEqual(['cleaner node'])
  expect(await cleaners(true)).toEqual(['cleaner node', 'cleaner master'])
})
