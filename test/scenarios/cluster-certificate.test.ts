// A new certificate for a whole embedded cluster, while all its daemons run and the master asks the nodes all the time.
import * as fs from 'node:fs'
import { systemClock } from '../../src/lib/clock'
import { systemFiles } from '../../src/lib/files'
import { nodePaths, readSettings } from '../../src/embedded/layout'
import { readServerPem } from '../../src/lib/server-pem'
import { nodeUuid } from '../../src/model/ids'
import { openNodeClient, type NodeTarget } from '../../src/rpc/node/client'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { pause } from '../support/faults'

let cluster: EmbeddedCluster

beforeAll(async () => {
  cluster = await startCluster(['--hypervisor', 'fake'])
})

afterAll(() => cluster.remove())

const members = () => readSettings(cluster.root)?.nodes ?? []
const pathsOf = (name: string) => nodePaths(cluster.root, name)
const serverPem = (name: string) => fs.readFileSync(pathsOf(name).serverCert, 'utf8')
const displayed = (name: string) => readServerPem(serverPem(name)).shown.certificate
const MASTER = 'node1.gantry.local'
const renew = () => cluster.gnt('cluster', 'renew-crypto', '--new-cluster-certificate', '-f')

/** Asks all nodes, over new connections and over those that it has, until it is told to stop; answers how often, and what failed. */
function askAlways(): () => Promise<{ asked: number; failures: string[] }> {
  let goesOn = true
  const kept = openNodeClient({ files: systemFiles, clock: systemClock, paths: pathsOf(MASTER) })
  const targets = members().map(({ name, address }): NodeTarget => ({
    uuid: nodeUuid(name),
    name,
    primary_ip: address,
    offline: false,
  }))
  const failures: string[] = []
  let requested = 0
  const ask = async (): Promise<void> => {
    while (goesOn) {
      const fresh = openNodeClient({ files: systemFiles, clock: systemClock, paths: pathsOf(MASTER) })
      for (const client of [kept, fresh]) {
        const answers = await client.all(targets, 'version', [])
        requested += answers.size
        for (const answer of answers.values()) if (!answer.ok) failures.push(answer.error)
      }
      fresh.close()
      // So that the nodes have time for something else as well: new connections to all of them take most of it.
      await pause(0.1)
    }
    kept.close()
  }
  const asking = ask()
  return async () => {
    goesOn = false
    await asking
    return { asked: requested, failures }
  }
}

test('the certificate is renewed without a moment in which the master cannot talk to a node', async () => {
  const before = displayed(MASTER)
  const stop = askAlways()
  expect(await renew()).toMatchObject({ code: 0, stdout: expect.stringContaining('trust no other than the new') })
  const { asked: requested, failures } = await stop()
  expect(failures).toEqual([])
  expect(requested).toBeGreaterThan(members().length)
  const after = members().map(({ name }) => serverPem(name))
  expect(new Set(after).size).toBe(1)
  expect(readServerPem(after[0] ?? '')).toMatchObject({ next: undefined, trusted: [] })
  expect(after[0]).not.toContain(before)
  expect(await cluster.gnt('cluster', 'verify')).toMatchObject({ code: 0 })
  // Daemons that begin anew use it as well.
  await cluster.stop()
  await cluster.restart()
  expect(await cluster.gnt('cluster', 'verify')).toMatchObject({ code: 0 })
})

/** Whether a renewal has begun, by the master's file. */
function hasBegun(): boolean {
  const { next, trusted } = readServerPem(serverPem(MASTER))
  return next !== undefined || trusted.length > 0
}

/** Begins a renewal and kills its job in the middle; false when it was over before that. */
async function interrupted(): Promise<boolean> {
  let isOver = false
  const running = renew().finally(() => (isOver = true))
  while (!isOver && !hasBegun()) await pause(0.002)
  const job = fs.readdirSync(pathsOf(MASTER).livelockDir).find((name) => name.startsWith('job_'))
  if (job !== undefined) process.kill(Number(job.split('_').at(-1)), 'SIGKILL')
  const { code } = await running
  return code === 1 && hasBegun()
}

test('a renewal whose job was killed goes on when it is repeated', async () => {
  const stop = askAlways()
  while (!(await interrupted()));
  const { next, shown: now } = readServerPem(serverPem(MASTER))
  expect(await cluster.gnt('node', 'list', '--no-headers', '-o', 'name,mfree')).toMatchObject({ code: 0 })
  expect(await renew()).toMatchObject({ code: 0, stdout: expect.stringContaining('interrupted goes on') })
  expect((await stop()).failures).toEqual([])
  const desired = (next ?? now).certificate
  expect(members().map(({ name }) => displayed(name))).toEqual(members().map(() => desired))
  expect(hasBegun()).toBe(false)
  expect(await cluster.gnt('cluster', 'verify')).toMatchObject({ code: 0 })
})
