// Kills daemons and job processes at moments that a seed chooses, while people use the cluster. The same seed makes the same
// choices, but not the same moments.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { loadConfig } from '../../src/config/upgrade'
import { verifyConfig } from '../../src/config/verify'
import { type Random, seededRandom, systemRandom } from '../../src/lib/random'
import { SEED, tries } from '../support/effort'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import {
  NODES,
  type Role,
  dataDir,
  eventually,
  killHard,
  list,
  masterRun,
  pause,
  processesOf,
  wholeAgain,
  withWconfd,
} from '../support/faults'
import { Ledger } from '../support/faults-ledger'
import { type Stray, strays, unbelievable } from '../support/faults-strays'
import { Users } from '../support/faults-users'
import { qemuTest } from '../support/needs'

const KILLS = tries(25, 400)
/** The longest time of a job in seconds, after the last kill or in the middle of kills. */
const JOB_S = 100

type Victim = Role | 'embedded'
/** How often each is chosen. The parent of all costs a whole start. */
const WEIGHTS: Record<Victim, number> = {
  ...{ wconfd: 13, luxid: 13, job: 14, noded: 10, rapi: 3, node: 3, embedded: 1 },
  ...{ confd: 2, mond: 2, kvmd: 1, metad: 1, maintd: 2 },
}

const SHARED_DISK = {
  mode: 'create',
  disk_template: 'sharedfile',
  disks: [{ size: 4 }],
  nics: [{}],
  os_type: 'gantry-tiny',
  beparams: { memory: 16 },
}

test(`${KILLS} kills of daemons and jobs leave no job, lock, guest or disk behind unnamed`, () =>
  campaign({ hypervisor: 'fake', kills: KILLS, owners: 3, random: seededRandom(SEED), options: SHARED_DISK }))

qemuTest('the same with real guests, and fewer kills', () =>
  campaign({
    ...{ hypervisor: 'kvm', kills: Math.ceil(KILLS / 5), owners: 1, random: seededRandom(SEED + 1) },
    options: { ...SHARED_DISK, beparams: { memory: 64 } },
  }),
)

qemuTest('a migration whose job is killed leaves no guest behind its instance', async () => {
  const cluster = await startCluster(['--hypervisor', 'kvm'])
  const instance_name = 'vm1.gantry.local'
  const processes = (role: string) => processesOf(cluster.root).filter((process) => process.role === role)
  try {
    await cluster.run({ OP_ID: 'OP_INSTANCE_CREATE', instance_name, ...SHARED_DISK, beparams: { memory: 64 } })
    let status: string
    do {
      let isOver = false
      const migrated = cluster.run({ OP_ID: 'OP_INSTANCE_MIGRATE', instance_name }).finally(() => (isOver = true))
      while (!isOver && processes('qemu').length < 2) await pause(0.001)
      for (const { pid } of processes('job')) await killHard(pid)
      status = (await migrated).status
      // If the job ended before the kill, repeats it.
    } while (status === 'success')
    // QEMU starts as two processes, of which one ends.
    await eventually('no guest is on its way', () => (processes('qemu').length <= 2 ? true : undefined))
    const removed = await cluster.run({ OP_ID: 'OP_INSTANCE_REMOVE', instance_name, shutdown_timeout: 2 })
    expect(removed).toMatchObject({ status: 'success' })
    expect(processes('qemu')).toEqual([])
  } finally {
    await cluster.remove()
  }
})

interface Campaign {
  hypervisor: 'fake' | 'kvm'
  kills: number
  owners: number
  random: Random
  options: Record<string, unknown>
}

async function campaign({ hypervisor, kills, owners, random, options }: Campaign): Promise<void> {
  process.stdout.write(`faults: ${kills} kills with hypervisor ${hypervisor}, SEED=${SEED}\n`)
  const cluster = await startCluster(['--hypervisor', hypervisor])
  const ledger = new Ledger(cluster, JOB_S)
  const users = new Users(ledger, seededRandom(random.below(1 << 30)), options)
  const killed: string[] = []
  try {
    users.start(owners)
    while (killed.length < kills) {
      await pause(random.below(700) / 1000)
      const victim = await killOne(cluster, random)
      if (victim === undefined) continue
      killed.push(victim)
      await wholeAgain(cluster)
      await checkConfig(cluster)
      await checkLocks(cluster)
    }
    await users.stop()
    await checkRest(cluster, ledger, users)
  } catch (error) {
    process.stdout.write(`faults: killed so far: ${killed.join(', ')}\n`)
    throw error
  } finally {
    report(killed, ledger)
    await cluster.remove()
  }
  await eventually('every process has ended', () => (processesOf(cluster.root).length === 0 ? true : undefined), 20)
}

function report(killed: readonly string[], ledger: Ledger): void {
  const count = (of: readonly string[]) =>
    [...new Set(of)].map((name) => `${of.filter((other) => other === name).length} ${name}`).join(', ')
  const ends = count([...ledger.ended.values()].map(({ status }) => status))
  process.stdout.write(
    `faults: killed ${count(killed)}; ${ledger.ended.size} jobs (${ends}), ${ledger.unanswered} submissions unanswered\n`,
  )
}

/** Answers the role that was hit; undefined if it has no process at the moment. */
async function killOne(cluster: EmbeddedCluster, random: Random): Promise<string | undefined> {
  const role = choose(random)
  if (role === 'embedded') {
    await killHard(cluster.pid)
    await restart(cluster)
    return role
  }
  const candidates = processesOf(cluster.root).filter((process) => process.role === role)
  const victim = candidates[random.below(Math.max(1, candidates.length))]
  if (victim === undefined) return undefined
  await killHard(victim.pid)
  return role
}

function choose(random: Random): Victim {
  const pool = Object.entries(WEIGHTS).flatMap(([role, weight]) => Array<string>(weight).fill(role))
  return pool[random.below(pool.length)] as Victim
}

/** The daemons notice that their parent is gone, and end. A start that comes too early is refused with the reason. */
const restart = (cluster: EmbeddedCluster): Promise<true> =>
  eventually('the cluster starts again after its parent was killed', () => cluster.restart().then(() => true as const))

/** Checks the configuration on the disk and in memory. */
async function checkConfig(cluster: EmbeddedCluster): Promise<void> {
  const file = path.join(dataDir(cluster, NODES[0] ?? ''), 'config.data')
  expect(verifyConfig(loadConfig(fs.readFileSync(file, 'utf8'), systemRandom).config)).toEqual([])
  await withWconfd(cluster, (wconfd) => wconfd.verifyConfig())
}

/** No lock belongs to a job that has ended. */
async function checkLocks(cluster: EmbeddedCluster): Promise<void> {
  let stuck: unknown
  const free = async () => {
    const owned = await withWconfd(cluster, (wconfd) => wconfd.listAllLocksOwners())
    const ids = [...new Set(owned.flatMap(([, owners]) => owners.map(([[job]]) => Number(job))))]
    const rows = ids.length === 0 ? [] : await cluster.master.queryJobs(ids, ['status'])
    const ended = ids.filter((_, index) =>
      ['success', 'error', 'canceled'].includes(String(rows[index]?.[0] ?? 'error')),
    )
    stuck = ended.length === 0 ? undefined : { ended, owned }
    return stuck === undefined ? true : undefined
  }
  await eventually('no lock belongs to a job that has ended', free, 35).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify(stuck)}`)
  })
}

async function checkRest(cluster: EmbeddedCluster, ledger: Ledger, users: Users): Promise<void> {
  await eventually('every job has ended', async () => {
    const rows = await cluster.master.queryJobs(null, ['status'])
    return rows.every((row) => ['success', 'error', 'canceled'].includes(String(row?.[0]))) ? true : undefined
  })
  await ledger.check()
  expect(ledger.defects).toEqual([])
  expect([...ledger.open]).toEqual([])
  const noLocks = async () =>
    (await withWconfd(cluster, (wconfd) => wconfd.listLocksWaitingStatus())).flat().length === 0 ? true : undefined
  await eventually('no lock is held or waited for', noLocks, 35)
  await eventually('no live-lock is left', () =>
    list(path.join(masterRun(cluster), 'livelocks')).length === 0 ? true : undefined,
  )
  expect(await unbelievable(cluster, users)).toEqual([])
  await checkStrays(cluster)
  await removeAll(cluster, ledger)
  await checkReplicas(cluster)
}

/** The report names what is not as it should be. A guest whose node daemon was killed while it started may still be on its way. */
async function checkStrays(cluster: EmbeddedCluster): Promise<void> {
  let unnamed: Stray[] = []
  let report = ''
  const named = async () => {
    const found = await strays(cluster)
    const { stdout, stderr } = await cluster.gnt('cluster', 'verify')
    report = stdout + stderr
    unnamed = found.filter(({ names }) => !names.some((name) => report.includes(name)))
    return unnamed.length === 0 ? true : undefined
  }
  await eventually('what is not as it should be is named', named).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify(unnamed)}\n${report}`)
  })
}

/** Whatever kills have left can be removed. */
async function removeAll(cluster: EmbeddedCluster, ledger: Ledger): Promise<void> {
  const { data } = await cluster.master.query('instance', ['name'], null)
  for (const [cell] of data) {
    const end = await ledger.run({
      ...{ OP_ID: 'OP_INSTANCE_REMOVE', instance_name: cell?.[1], shutdown_timeout: 5 },
    })
    expect(end).toMatchObject({ status: 'success' })
  }
  expect(await strays(cluster)).toEqual([])
}

/** Master candidates have the same configuration and the same jobs. */
async function checkReplicas(cluster: EmbeddedCluster): Promise<void> {
  const inSync = async () => {
    const states = await withWconfd(cluster, (wconfd) => wconfd.gantryReplicas())
    return states.every(({ state }) => state === 'in sync') ? true : undefined
  }
  await eventually('the candidates have the configuration', inSync)
  const [master = '', ...candidates] = NODES
  for (const node of candidates) {
    let missing: string[] = []
    const same = () => {
      const [ours, theirs] = [queueFiles(cluster, master), queueFiles(cluster, node)]
      if (ours.length < 2) throw new Error(`the queue of ${master} is gone`)
      missing = [
        ...ours.filter((file) => !theirs.includes(file)).map((file) => `${node} lacks ${file}`),
        ...theirs.filter((file) => !ours.includes(file)).map((file) => `only ${node} has ${file}`),
      ]
      return missing.length === 0 ? true : undefined
    }
    await eventually(`${node} has the jobs`, same, 40).catch((error: unknown) => missing.push(String(error)))
    expect(missing.map((text) => text.slice(0, 1000))).toEqual([])
  }
  // A clean stop folds the journals.
  expect(await cluster.stop()).toBe(0)
  const config = (node: string) => fs.readFileSync(path.join(dataDir(cluster, node), 'config.data'), 'utf8')
  for (const node of candidates) expect(config(node)).toBe(config(master))
}

function queueFiles(cluster: EmbeddedCluster, node: string): string[] {
  const folder = path.join(dataDir(cluster, node), 'queue')
  return list(folder)
    .filter((name) => /^(job-\d+|serial)$/.test(name))
    .map((name) => `${name} ${fs.readFileSync(path.join(folder, name), 'utf8')}`)
}
