// A daemon without a parent, as systemd and daemon-util start it, stays until it is told to end.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { pathsOf } from '../../../src/lib/paths'
import { root } from '../../support/source-tree'

const NAME = 'node1.example.com'
const GANTRYD = path.join(root, 'bin/gantryd.js')
let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gs-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const paths = () => pathsOf(path.join(folder, NAME), NAME)
const environment = () => ({ ...process.env, GANETI_ROOTDIR: paths().root, GANETI_HOSTNAME: NAME })

/** A whole other process comes and goes: time enough for one that has nothing to wait for. */
const meanwhile = () => execFileSync(process.execPath, [GANTRYD, '--version'], { encoding: 'utf8' })
const log = () => fs.readFileSync(paths().logFile('kvm-daemon'), 'utf8')

beforeEach(() => {
  const { dataDir, logDir, runDir, root: nodeRoot } = paths()
  for (const directory of [dataDir, logDir, runDir]) fs.mkdirSync(directory, { recursive: true })
  fs.mkdirSync(path.join(nodeRoot, 'etc'), { recursive: true })
  fs.writeFileSync(path.join(nodeRoot, 'etc/hosts'), `127.0.0.1 ${NAME}\n`)
})

test('in the foreground, also where it has no guest to listen to', async () => {
  const child = spawn(process.execPath, [GANTRYD, 'kvmd', '-f'], { env: environment(), stdio: 'ignore' })
  const ended = once(child, 'exit')
  while (!fs.existsSync(paths().pidFile('kvmd')) && child.exitCode === null) meanwhile()
  meanwhile()
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(log()).toMatch(/SIGTERM.*stopping/)
})

test('in the background, where the one who started it is gone', () => {
  const program = path.join(folder, 'ganeti-kvmd')
  fs.symlinkSync(GANTRYD, program)
  const { status } = spawnSync(process.execPath, [program], { env: environment(), stdio: 'ignore' })
  expect(status).toBe(0)
  meanwhile()
  const pid = Number(fs.readFileSync(paths().pidFile('kvmd'), 'utf8'))
  expect(fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain('ganeti-kvmd')
  process.kill(pid, 'SIGTERM')
  while (fs.existsSync(paths().pidFile('kvmd'))) meanwhile()
  expect(log()).toMatch(/SIGTERM.*stopping/)
})

test('of several that start at the same moment one stays, and the others say why they end', async () => {
  const children = [1, 2, 3, 4].map(() =>
    spawn(process.execPath, [GANTRYD, 'kvmd', '-f'], { env: environment(), stdio: ['ignore', 'ignore', 'pipe'] }),
  )
  const said = children.map(async (child) => {
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (piece: string) => (text += piece))
    const [code] = (await once(child, 'close')) as [number]
    return { code, text }
  })
  let left = children.length
  for (const one of said) void one.then(() => left--)
  while (left > 1) await new Promise((resolve) => setTimeout(resolve, 50))
  for (const child of children) child.kill('SIGTERM')
  const ends = await Promise.all(said)
  expect(ends.filter(({ code }) => code === 0)).toHaveLength(1)
  for (const { code, text } of ends) if (code !== 0) expect(text).toMatch(/another kvmd has locked .*ganeti-kvmd\.lock/)
})
