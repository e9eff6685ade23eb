// Files of the configuration and of the queue that were lost or damaged while the cluster was down: `npm start` names its way out, and
// the way leads out.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

const ENTRY = path.join(__dirname, '../../bin/gantryd.js')

let cluster: EmbeddedCluster
beforeAll(async () => {
  cluster = await startCluster(['--hypervisor', 'fake', '--nodes', '2'])
  const made = await cluster.rapi('POST', '/3/tokens', { name: 'precious', permissions: ['*'] })
  expect(made.status).toBeLessThan(300)
  await cluster.stop()
})
afterAll(() => cluster.remove())

const file = (node: number, name: string) => path.join(cluster.root, `node${node}.gantry.local/var/lib/ganeti`, name)
const start = (...args: string[]) =>
  spawnSync(process.execPath, [ENTRY, 'embedded', '--root', cluster.root, ...args], {
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, GANTRY_HOME: cluster.root },
  })
const tokens = async () => JSON.stringify((await cluster.rapi('GET', '/3/tokens')).body)

test('a lost gantry.data is noticed, and taken from the other node', async () => {
  fs.rmSync(file(1, 'gantry.data'))
  const refused = start()
  expect(refused.status).toBe(1)
  const command = `npm start -- --root ${cluster.root} --take-files node1.gantry.local, or name there another node`
  expect(refused.stderr).toContain(command)
  expect(start('--take-files', 'node9').stderr).toContain(
    '--take-files needs one of node1.gantry.local, node2.gantry.local',
  )
  await cluster.restart('--take-files', 'node2')
  expect(await tokens()).toContain('precious')
  const kept = fs.readdirSync(path.dirname(file(1, 'config.data'))).filter((name) => name.includes('.rejected-'))
  expect(kept).toContainEqual(expect.stringMatching(/^config\.data\.rejected-\d+$/))
  const verified = await cluster.gnt('cluster', 'verify')
  for (const name of kept) expect(verified.stdout + verified.stderr).toContain(name)
  const events = await cluster.rapi('GET', '/3/events/past?types=node')
  expect(JSON.stringify(events.body)).toContain('a person has said that the files of the configuration are right')
})

test('a lost queue is taken back from the other node, and says so', async () => {
  const job = async (duration: number) => {
    const { stdout, stderr } = await cluster.gnt('debug', 'delay', '--submit', String(duration))
    return Number(/\d+/.exec(stdout + stderr)?.[0])
  }
  const id = await job(0.01)
  await cluster.gnt('job', 'watch', String(id))
  await cluster.stop()
  fs.rmSync(file(1, 'queue'), { recursive: true })
  await cluster.restart()
  const { body } = await cluster.rapi('GET', `/3/jobs/${id}`)
  expect(body).toMatchObject({ id, status: 'success' })
  expect(await job(0.01)).toBeGreaterThan(id)
  const events = await cluster.rapi('GET', '/3/events/past?types=node')
  expect(JSON.stringify(events.body)).toMatch(new RegExp(`the master had lost jobs, .*these had ended: [^"]*\\b${id}"`))
})
