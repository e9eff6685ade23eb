// A defect that nothing handles, in the daemons of a running cluster: each ends with an error, is started again, and a job that runs meanwhile ends well.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { nodePaths } from '../../src/embedded/layout'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

/** The defect: in every process of the cluster, but only the one that gets the signal shows it. */
const DEFECT = `process.on('SIGUSR2', () => void Promise.reject(new Error('a defect of the test')))`

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gd-'))
let cluster: EmbeddedCluster
beforeAll(async () => {
  const script = path.join(folder, 'defect.js')
  fs.writeFileSync(script, DEFECT)
  cluster = await startCluster(['--nodes', '1', '--hypervisor', 'fake'], {
    env: { NODE_OPTIONS: `--require=${script}` },
  })
})
afterAll(async () => {
  await cluster.remove()
  fs.rmSync(folder, { recursive: true })
})

const paths = () => nodePaths(cluster.root, 'node1.gantry.local')
const pidOf = (role: string): number | undefined => {
  const file = paths().pidFile(role)
  return fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : undefined
}
const pause = () => new Promise((resolve) => setTimeout(resolve, 50))

/** Resolves when another process plays the role. */
async function showDefect(role: string): Promise<void> {
  const pid = pidOf(role)
  if (pid === undefined) throw new Error(`${role} does not run`)
  process.kill(pid, 'SIGUSR2')
  while ([undefined, pid].includes(pidOf(role))) await pause()
}

/** The last argument of the job's newest message of this kind. */
async function toldBy(id: number): Promise<string> {
  for (let observed: unknown = null; ;) {
    const change = await cluster.master.waitForJobChange(id, ['oplog'], observed, null, 30)
    if (change === 'nochange') continue
    observed = change[0]
    const logs = (change[0] as [[number, unknown, string, unknown][][]])[0].flat()
    const reported = logs.find(([, , kind]) => kind === 'delay-test')?.[3]
    if (Array.isArray(reported)) return String(reported[0])
  }
}

async function endOf(id: number): Promise<unknown> {
  for (let observed: unknown = null; ;) {
    const change = await cluster.master.waitForJobChange(id, ['status'], observed, null, 30)
    if (change === 'nochange') continue
    observed = change[0]
    if (['success', 'error', 'canceled'].includes(String(change[0][0]))) return change[0][0]
  }
}

test.each([
  ['wconfd', 'wconf-daemon'],
  ['luxid', 'luxi-daemon'],
])('%s', async (role, log) => {
  const delay = {
    OP_ID: 'OP_TEST_DELAY',
    reason: [],
    duration: 3600,
    interruptible: true,
    on_master: true,
    on_nodes: [],
  }
  const id = await cluster.master.submitJob([delay])
  const socket = await toldBy(id)
  await showDefect(role)
  expect(fs.readFileSync(paths().logFile(log), 'utf8')).toMatch(
    /a defect of the test.*ends because of a defect|ends because of a defect[^]*a defect of the test/,
  )
  expect(cluster.output()).toMatch(new RegExp(`${role}.*exit code 1`))
  expect((await cluster.master.queryJobs([id], ['status']))[0]).toEqual(['running'])
  net.connect(socket).end('go on')
  expect(await endOf(id)).toBe('success')
})
