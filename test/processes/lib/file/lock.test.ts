// Locks of files hold between processes, as those of Ganeti's programs do.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { lockFile } from '../../../../src/lib/file/lock'
import { root } from '../../../support/source-tree'
import { runTypescript } from '../../../support/queue-in-process'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-lock-'))
const file = path.join(folder, 'lock')
afterAll(() => fs.rmSync(folder, { recursive: true }))
const othersGetIt = () => spawnSync('flock', ['--nonblock', file, 'true']).status === 0

test('a lock keeps others out until it is released', async () => {
  const held = await lockFile(file, 'exclusive')
  expect(held).toBeDefined()
  expect([othersGetIt(), await lockFile(file, 'shared')]).toEqual([false, undefined])
  held?.release()
  while (!othersGetIt()) await new Promise((resolve) => setTimeout(resolve, 10))
})

test('who waits gets the lock when it is released, or is told that it is held on', async () => {
  const held = await lockFile(file, 'exclusive')
  expect(await lockFile(file, 'exclusive', 0.1)).toBeUndefined()
  const waiting = lockFile(file, 'exclusive', 60)
  held?.release()
  const next = await waiting
  expect([next === undefined, othersGetIt()]).toEqual([false, false])
  next?.release()
  while (!othersGetIt()) await new Promise((resolve) => setTimeout(resolve, 10))
})

test('shared locks tolerate each other', async () => {
  const [one, two] = [await lockFile(file, 'shared'), await lockFile(file, 'shared')]
  expect([one, two]).not.toContain(undefined)
  expect(await lockFile(file, 'exclusive')).toBeUndefined()
  one?.release()
  two?.release()
})

test('a file that cannot be locked is not held', async () => {
  expect(await lockFile(path.join(folder, 'nosuch/lock'), 'exclusive')).toBeUndefined()
})

test.each([
  ['is missing, nobody else takes such locks', 'held'],
  ['cannot be started, nobody knows whether the lock is free', 'refused'],
])('where flock %s', (_, outcome) => {
  const programs = fs.mkdtempSync(path.join(folder, 'programs-'))
  if (outcome === 'refused') fs.writeFileSync(path.join(programs, 'flock'), '', { mode: 0o644 })
  const program = path.join(root, 'src/lib/file/lock.ts')
  const script = `require(${JSON.stringify(program)}).lockFile(${JSON.stringify(file)}, 'exclusive').then((held) => {
    process.exit(held === undefined ? 3 : 0)
  })`
  const { status } = spawnSync(process.execPath, [...runTypescript, '-e', script], { env: { PATH: programs } })
  expect(status).toBe(outcome === 'held' ? 0 : 3)
})

describe('of several processes that start at the same moment', () => {
  const program = path.join(root, 'src/lib/file/lock.ts')
  const script = `require(${JSON.stringify(program)}).lockFile(${JSON.stringify(file)}, 'exclusive').then((held) => {
    if (held === undefined) process.exit(3)
    process.stdout.write('held\\n')
    setInterval(() => held, 1000)
  })`
  const start = () =>
    spawn(process.execPath, [...runTypescript, '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const outcome = async (child: ChildProcess) =>
    (await Promise.race([once(child, 'exit'), once(child.stdout ?? child, 'data')]))[0] === 3 ? 'refused' : 'held'

  test('one gets the lock, until it is killed', async () => {
    const children = [1, 2, 3, 4, 5, 6].map(start)
    const outcomes = await Promise.all(children.map(outcome))
    expect(outcomes.sort()).toEqual(['held', ...Array<string>(5).fill('refused')])
    const holder = children.find(({ exitCode }) => exitCode === null)
    expect(othersGetIt()).toBe(false)
    holder?.kill('SIGKILL')
    if (holder) await once(holder, 'exit')
    expect(othersGetIt()).toBe(true)
  })
})
