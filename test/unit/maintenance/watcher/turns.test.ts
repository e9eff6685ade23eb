// Runs of the watcher that are called while another one is at the same node group.
import type { HeldLock, LockFile } from '../../../../src/lib/file/lock'
import { silentLog } from '../../../../src/lib/log'
import { pathsOf } from '../../../../src/lib/paths'
import { GroupBusy, watchGroup } from '../../../../src/maintenance/watcher/group-run'
import { FakeMaster } from '../../../support/fake-master'
import { clockAt } from '../../../support/instant-clock'
import { MemoryDisk } from '../../config/memory-disk'

const UUID = '605d58a8-82b1-475a-ae6b-63f78670c3c3'
const group = { uuid: UUID, name: 'default', known: [UUID] }

/** Locks as those of files, within this process. Who waits gets the lock when it is released, or is turned away by `tire`. */
function fileLocks() {
  const held = new Set<string>()
  const waiting: { file: string; done: (lock: HeldLock | undefined) => void }[] = []
  const take = (file: string): HeldLock => {
    held.add(file)
    return {
      release() {
        held.delete(file)
        const at = waiting.findIndex((one) => one.file === file)
        const [next] = at < 0 ? [] : waiting.splice(at, 1)
        next?.done(take(file))
      },
    }
  }
  const lockFile: LockFile = (file, _mode, wait_s = 0) => {
    if (!held.has(file)) return Promise.resolve(take(file))
    if (wait_s === 0) return Promise.resolve(undefined)
    return new Promise((done) => void waiting.push({ file, done }))
  }
  const tire = () => waiting.splice(0).forEach(({ done }) => done(undefined))
  return { lockFile, waiting, tire, held }
}

function start() {
  const locks = fileLocks()
  const master = new FakeMaster([])
  const answers: (() => void)[] = []
  master.query = () => new Promise((resolve) => void answers.push(() => resolve({ fields: [], data: [] })))
  const answer = async () => {
    for (let requested = 0; requested < 3; requested++) {
      while (answers.length === 0) await new Promise(setImmediate)
      answers.shift()?.()
    }
  }
  const surroundings = {
    ...{ master, disk: new MemoryDisk(), paths: pathsOf('', 'node1.watch.example'), clock: clockAt(0), log: silentLog },
    lockFile: locks.lockFile,
    by: 'watcher' as const,
  }
  const run = (why: string) => watchGroup(group, { verifyDisks: false, strict: true, why }, surroundings)
  return { ...locks, answers, answer, run }
}

const settled = () => new Promise(setImmediate)

test('one run waits for the one before and looks then; the others leave it to that one', async () => {
  const { run, answer, answers, waiting, held } = start()
  const first = run('its time has come')
  await settled()
  const second = run('node2 is back')
  await settled()
  expect([answers.length, waiting.length]).toEqual([1, 1])
  await expect(run('node3 is back')).rejects.toThrow(
    /^another watcher waits for its turn at node group default, and will look$/,
  )
  await answer()
  expect(await first).toMatchObject({ why: 'its time has come', error: null })
  await settled()
  // The place of the one that waits is free as soon as it looks.
  const third = run('node3 is back')
  await answer()
  expect(await second).toMatchObject({ why: 'node2 is back', error: null })
  await answer()
  expect(await third).toMatchObject({ why: 'node3 is back', error: null })
  expect([...held]).toEqual([])
})

test('a run does not wait for ever', async () => {
  const { run, answer, tire, held } = start()
  const first = run('its time has come')
  await settled()
  const second = run('node2 is back')
  await settled()
  tire()
  await expect(second).rejects.toThrow(GroupBusy)
  await answer()
  await first
  expect([...held]).toEqual([])
})
