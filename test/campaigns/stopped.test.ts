// Stops daemons and lets them go on, each in turn, while people use the cluster and do not all wait for an answer: what somebody saw end
// with success stays.
import * as https from 'node:https'
import { seededRandom } from '../../src/lib/random'
import type { Master } from '../../src/rpc/luxi/master'
import { SEED, tries } from '../support/effort'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { pause, processesOf, wholeAgain } from '../support/faults'
import { Owner, luxiDoor, rapiDoor } from '../support/faults-memory'

const STOP_S = 1.2
const ROUNDS = tries(1)
const TURNS = ['rapi', 'wconfd', 'luxid', 'job', 'noded', 'node'] as const

const OPTIONS = {
  mode: 'create',
  disk_template: 'sharedfile',
  disks: [{ size: 4 }],
  nics: [{}],
  os_type: 'gantry-tiny',
  beparams: { memory: 32 },
}

test('a success that somebody saw stays, whichever daemon is stopped and goes on later', async () => {
  process.stdout.write(`faults: each daemon is stopped for ${STOP_S} s, SEED=${SEED}\n`)
  const random = seededRandom(SEED)
  const cluster = await startCluster(['--hypervisor', 'fake'])
  try {
    const doors = [
      ...[luxiDoor(cluster, 60), luxiDoor(cluster, STOP_S / 3), luxiDoor(cluster, STOP_S / 3)],
      ...[rapiDoor(cluster, STOP_S / 3), rapiDoor(cluster, STOP_S / 3)],
    ]
    const owners = doors.map(
      (door, index) => new Owner(`vm${index + 1}`, cluster, door, seededRandom(random.below(1 << 30)), OPTIONS),
    )
    const work = owners.map((owner) => owner.work())
    for (let round = 0; round < ROUNDS; round++)
      for (const role of TURNS) {
        await pause(random.below(500) / 1000)
        await stopFor(cluster.root, role)
      }
    for (const owner of owners) owner.stop()
    await Promise.all(work)
    await wholeAgain(cluster)
    // Jobs of clients that are gone may still run.
    await allJobsEnd(cluster.master)
    for (const owner of owners) await owner.lookAtAll()
    const sum = (of: (owner: Owner) => number) => owners.reduce((total, owner) => total + of(owner), 0)
    const counts = [sum(({ changes }) => changes), sum(({ unanswered }) => unanswered)]
    process.stdout.write(`faults: ${counts[0]} changes seen, ${counts[1]} submissions without an answer\n`)
    const wrong = owners.flatMap((owner) => owner.wrong)
    if (wrong.length > 0) process.stdout.write(`${await jobsOf(cluster.master)}\n`)
    expect(wrong).toEqual([])
    expect(counts[0]).toBeGreaterThan(0)
  } finally {
    await cluster.remove()
  }
})

test('nothing is done for people who left before a stopped daemon heard of them', async () => {
  const cluster = await startCluster(['--hypervisor', 'fake'])
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false })
  const tag = (name: string) => ({ OP_ID: 'OP_TAGS_SET', kind: 'cluster', name: null, tags: [name], reason: [] })
  const hasty = [
    () => luxiDoor(cluster, HASTY_S).submit(tag('luxi')),
    () => tagOverHttps(cluster, agent, 'https'),
    () => tagOverHttps(cluster, agent, 'https'),
  ]
  const jobs = async () => (await cluster.master.queryJobs(null, ['id'])).length
  try {
    // So that a connection is there that needs no more than the request itself.
    await tagOverHttps(cluster, agent, 'first')
    const before = await jobs()
    for (const [role, doors] of [
      ['luxid', hasty],
      ['rapi', hasty.slice(1)],
    ] as const) {
      // prettier-ignore
      const left = stopFor(cluster.root, role, 3 * HASTY_S)
      await pause(HASTY_S / 2)
      for (const outcome of await Promise.allSettled(doors.map((submit) => submit())))
        expect(outcome.status).toBe('rejected')
      await left
      await wholeAgain(cluster)
      // Late requests are handled by now, because each step takes milliseconds.
      await pause(0.5)
      expect({ role, jobs: await jobs() }).toEqual({ role, jobs: before })
    }
  } finally {
    agent.destroy()
    await cluster.remove()
  }
})

const HASTY_S = 0.5

function tagOverHttps(cluster: EmbeddedCluster, agent: https.Agent, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { method: 'PUT', agent, auth: `admin:${cluster.password}` }
    const request = https.request(new URL(`/2/tags?tag=${name}`, cluster.url), options, (response) => {
      response.resume().once('end', resolve)
    })
    const limit = setTimeout(() => request.destroy(new Error('nobody waits any more')), HASTY_S * 1000)
    request
      .once('error', reject)
      .once('close', () => clearTimeout(limit))
      .end()
  })
}

/** All processes of a role, wherever they run. */
async function stopFor(root: string, role: (typeof TURNS)[number], time_s = STOP_S): Promise<void> {
  const pids = processesOf(root).flatMap((process) => (process.role === role ? [process.pid] : []))
  for (const pid of pids) signal(pid, 'SIGSTOP')
  await pause(time_s)
  for (const pid of pids) signal(pid, 'SIGCONT')
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name)
  } catch {
    // A job process may have ended by itself.
  }
}

/** For somebody who examines a failure. */
async function jobsOf(master: Master): Promise<string> {
  const rows = await master.queryJobs(null, ['id', 'ops', 'status', 'received_ts', 'start_ts', 'end_ts'])
  return rows.map((row) => JSON.stringify(row)).join('\n')
}

async function allJobsEnd(master: Master): Promise<void> {
  for (;;) {
    const rows = await master.queryJobs(null, ['status'])
    if (rows.every((row) => ['success', 'error', 'canceled'].includes(String(row?.[0])))) return
    await pause(0.2)
  }
}
