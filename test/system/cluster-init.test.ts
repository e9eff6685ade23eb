// A cluster from nothing, as on a real node: gnt-cluster init, then the program that it names, and destroyed again.
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { pathsOf } from '../../src/lib/paths'

const BIN = path.join(__dirname, '../../bin')
const NODE = 'node1.example.com'
const CLUSTER = 'cluster.example.com'
const INIT = '--no-ssh-init --enabled-hypervisors=fake --enabled-disk-templates=file,diskless --master-netdev=lo'

let directory: string
let daemons: ChildProcess | undefined
const paths = () => pathsOf(path.join(directory, NODE), NODE)
const environment = () => ({
  ...process.env,
  ...{ GANETI_ROOTDIR: paths().root, GANETI_HOSTNAME: NODE, GANTRY_HOME: directory },
})

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'gi-'))
  const base = `127.${randomInt(16, 250)}.${randomInt(0, 256)}`
  fs.mkdirSync(paths().local('/etc/ganeti'), { recursive: true })
  fs.writeFileSync(paths().local('/etc/hosts'), `${base}.1 ${NODE}\n${base}.254 ${CLUSTER}\n`)
  fs.writeFileSync(paths().local('/etc/ganeti/file-storage-paths'), '/srv/ganeti/file-storage\n')
})
afterEach(async () => {
  await stopDaemons()
  fs.rmSync(directory, { recursive: true, maxRetries: 20, retryDelay: 100 })
})

async function startDaemons(): Promise<void> {
  const child = fork(path.join(BIN, 'gantryd.js'), ['node'], { env: environment(), stdio: 'ignore' })
  daemons = child
  await new Promise<void>((resolve, reject) => {
    child.on('message', (message) => void (typeof message === 'object' && 'ready' in message && resolve()))
    child.once('exit', (code, how) => reject(new Error(`gantryd ended with ${how ?? code}`)))
  })
}

async function stopDaemons(): Promise<void> {
  if (daemons === undefined || daemons.exitCode !== null || daemons.signalCode !== null) return
  const ended = once(daemons, 'exit')
  daemons.kill('SIGTERM')
  await ended
}

async function cluster(...words: string[]) {
  const child = spawn(process.execPath, [path.join(BIN, 'gnt.js'), 'cluster', ...words], {
    ...{ env: environment(), stdio: ['ignore', 'pipe', 'pipe'] as const },
  })
  const result = { code: -1, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (result.stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (result.stderr += chunk))
  const [code] = (await once(child, 'close')) as [number]
  return { ...result, code }
}

test('a cluster is made, served, destroyed, and made again', async () => {
  const made = await cluster('init', ...INIT.split(' '), '--mac-prefix', '02:00:11', CLUSTER)
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(made.stdout).toContain(`GANETI_ROOTDIR=${paths().root} GANETI_HOSTNAME=${NODE} gantryd node\n`)
  expect(await cluster('init', ...INIT.split(' '), CLUSTER)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Cluster is already initialised'),
  })

  await startDaemons()
  expect(await cluster('getmaster')).toEqual({ code: 0, stdout: `${NODE}\n`, stderr: '' })
  const info = await cluster('info')
  expect(info.stdout).toContain(`Cluster name: ${CLUSTER}\n`)
  expect(info.stdout).toContain('mac prefix: 02:00:11\n')
  expect(await cluster('verify')).toMatchObject({ code: 0, stderr: '' })

  const ended = once(daemons ?? process, 'exit')
  expect(await cluster('destroy', '--yes-do-it')).toEqual({ code: 0, stdout: '', stderr: '' })
  await ended
  expect(await cluster('init', ...INIT.split(' '), CLUSTER)).toMatchObject({ code: 0, stderr: '' })
  await startDaemons()
  expect(await cluster('getmaster')).toMatchObject({ code: 0, stdout: `${NODE}\n` })
  await stopDaemons()
})
