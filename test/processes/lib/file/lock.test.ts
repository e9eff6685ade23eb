// Locks of files hold between processes, as those of Ganeti's programs do.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { lockFile } from '../../../../src/lib/file/lock'

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
