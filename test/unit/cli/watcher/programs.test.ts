// The words that `ganeti-watcher` and `ganeti-cleaner` take.
import { completions, EndsNow, readCleanerCall, readWatcherCall } from '../../../../src/cli/watcher/programs'

function endOf(read: () => unknown): { text: string; exitCode: number } {
  try {
    read()
  } catch (error) {
    if (error instanceof EndsNow) return { text: error.text, exitCode: error.exitCode }
    throw error
  }
  throw new Error('it went on')
}

test('the watcher takes the options of Ganeti', () => {
  expect(readWatcherCall([])).toMatchObject({
    ...{ debug: false, group: undefined, jobAge_s: 21600, ignorePause: false, waitForGroups: true },
    ...{ verifyDisks: true, strict: true, rapiIp: undefined },
  })
  const words = '-d -g 1234 -A 2h --ignore-pause --no-wait-children --no-verify-disks --no-strict --rapi-ip=192.0.2.1'
  expect(readWatcherCall(words.split(' '))).toMatchObject({
    ...{ debug: true, group: '1234', jobAge_s: 7200, ignorePause: true, waitForGroups: false },
    ...{ verifyDisks: false, strict: false, rapiIp: '192.0.2.1' },
  })
})

test('it refuses what it does not know, with the exit code of Ganeti, and says what it knows', () => {
  for (const words of [['extra'], ['--nosuch'], ['--job-age=soon'], ['--node-group']])
    expect(endOf(() => readWatcherCall(words))).toMatchObject({
      exitCode: 2,
      text: expect.stringMatching(/^ganeti-watcher: error: .*\n"ganeti-watcher --help"/s) as string,
    })
  expect(endOf(() => readWatcherCall(['--help']))).toMatchObject({ exitCode: 0 })
  expect(endOf(() => readWatcherCall(['--version'])).text).toMatch(/^ganeti-watcher \(ganeti\) \d/)
})

test('the cleaner takes one word', () => {
  expect([readCleanerCall(['node']), readCleanerCall(['master'])]).toEqual(['node', 'master'])
  for (const words of [[], ['both'], ['node', 'master']])
    expect(endOf(() => readCleanerCall(words))).toEqual({ text: 'Usage: ganeti-cleaner node|master\n', exitCode: 1 })
  expect(endOf(() => readCleanerCall(['--help']))).toMatchObject({ exitCode: 0 })
})

test('a shell is told what both take', () => {
  expect(completions('ganeti-watcher', ['-d', '--no-'])).toEqual([
    '--no-wait-children',
    '--no-verify-disks',
    '--no-strict',
  ])
  expect(completions('ganeti-watcher', ['--job'])).toEqual(['--job-age='])
  expect(completions('ganeti-cleaner', ['m'])).toEqual(['master'])
  expect(completions('ganeti-cleaner', ['master', ''])).toEqual([])
})
