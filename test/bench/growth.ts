// What a job, a reservation, a scoped request and a start cost in clusters of growing size.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { performance } from 'node:perf_hooks'
import { applyChange, type NamedChange } from '../../src/config/changes'
import { Reservations } from '../../src/config/reservations'
import { EMPTY_GANTRY } from '../../src/config/upgrade'
import { ArchivedJobs } from '../../src/jobs/archived-jobs'
import { WholeJobs } from '../../src/jobs/ended-jobs'
import { archivedFile, jobFile, QueueStore } from '../../src/jobs/store'
import { encodeJob } from '../../src/jobs/job-file'
import { dequeued, newJob } from '../../src/jobs/job'
import { noReplicas } from '../../src/jobs/replicas'
import { systemClock } from '../../src/lib/clock'
import { systemDisk } from '../../src/lib/disk'
import { silentLog } from '../../src/lib/log'
import { pathsOf } from '../../src/lib/paths'
import { systemRandom } from '../../src/lib/random'
import type { ConfigData } from '../../src/model/config'
import type { ClientId } from '../../src/model/lock'
import { knownTo } from '../../src/services/access/scope'
import { IdempotencyKeys } from '../../src/services/jobs/idempotency'
import { clusterOfSize, instanceUuidOf, nodeUuidOf } from '../support/cluster-of-size'
import type { BenchCluster } from './cluster'
import { oneJob } from './jobs'
import { Luxi } from './luxi'
import { measured } from './measured'
import { cpuBelow } from './processes'
import { writeState } from './states'
import type { Report } from './table'

export const SIZES = [100, 1_000, 10_000, 100_000]
const NODES_MAX = 1000
const WARM_UP = 5
const ROUNDS = 200

type Start = (name: string, ...options: string[]) => Promise<BenchCluster>

export async function measureGrowth(start: Start, folder: string, jobs: number, report: Report): Promise<void> {
  for (const size of SIZES) {
    measureConfig(size, report)
    await measureQueue(path.join(folder, `queue-${size}`), size, report)
    const state = path.join(folder, `state-growth-${size}`)
    writeState(state, size, Math.min(NODES_MAX, size / 10))
    const cluster = await start(`growth-${size}`, '--state', state)
    await measureModify(cluster, size, jobs, report)
    await cluster.stop()
    fs.rmSync(state, { recursive: true })
  }
}

async function measureModify(cluster: BenchCluster, size: number, jobs: number, report: Report): Promise<void> {
  const luxi = await Luxi.open(cluster.luxiSocket)
  const modify = (n: number) =>
    oneJob(luxi, {
      OP_ID: 'OP_INSTANCE_SET_PARAMS',
      instance_name: `inst${n % size}.gnt.example`,
      beparams: { vcpus: 2 + (n % 2) },
      reason: [],
    })
  for (let n = 0; n < WARM_UP; n++) await modify(n)
  const before_ms = cpuBelow(cluster.pid)
  const begun = performance.now()
  const times: number[] = []
  for (let n = 0; n < jobs; n++) times.push(await modify(n + WARM_UP))
  const figure = measured(times, performance.now() - begun)
  const label = `${count(size)} instances: job that modifies one`
  report(label, figure.p50_ms, 'ms', figure)
  report(`  ${label}: CPU of all daemons for each`, (cpuBelow(cluster.pid) - before_ms) / jobs, 'ms')
  luxi.close()
}

/** Each on a version of the configuration that nobody has asked before, as after another job's change. */
function measureConfig(size: number, report: Report): void {
  let config = clusterOfSize(size)
  const client: ClientId = [1, '', 0]
  const reservations = new Reservations(() => config, systemRandom)
  const works: [string, (n: number, config: ConfigData) => unknown][] = [
    ['new MAC address', () => reservations.generateMac(client, null)],
    ['new DRBD secret', () => reservations.generateSecret(client)],
    ['volume reserved', (n) => reservations.reserveVolume(client, `vg/new${n}`)],
    ['two DRBD minors', (n) => reservations.allocateMinorsFor(client, `new${n}`, [nodeUuidOf(1), nodeUuidOf(2)])],
    ['what a scope of 5 instances knows', (_, now) => knownTo({ tags: ['mine'], groups: [] }, now)],
  ]
  for (const [label, work] of works) {
    const times: number[] = []
    for (let n = -WARM_UP; n < ROUNDS; n++) {
      const change: NamedChange = ['patchInstance', instanceUuidOf(7), { beparams: { vcpus: n + 10 } }]
      config = applyChange({ config, gantry: EMPTY_GANTRY }, change, { now_s: n, random: systemRandom }).documents
        .config
      const begun = performance.now()
      work(n, config)
      if (n >= 0) times.push(performance.now() - begun)
    }
    report(`${count(size)} instances: ${label}`, measured(times, 1).p50_ms, 'ms', measured(times, 1))
  }
}

/** As many jobs in the queue as in the archive, all of today, as a start finds them. */
async function measureQueue(folder: string, size: number, report: Report): Promise<void> {
  const paths = pathsOf(folder, 'node1')
  const store = new QueueStore(systemDisk, paths, silentLog, noReplicas, systemClock)
  const now: [number, number] = [Math.floor(Date.now() / 1000), 0]
  const ended = (id: number) =>
    encodeJob(dequeued(newJob(id, [{ OP_ID: 'OP_TEST_DELAY', duration: 1, reason: [] }], now), now))
  fs.mkdirSync(paths.queueDir, { recursive: true })
  for (let id = 1; id <= size; id++) {
    const file = archivedFile(paths, id)
    if (id === 1 || id % 10_000 === 0) fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, ended(id))
    fs.writeFileSync(jobFile(paths, size + id), ended(size + id))
  }
  fs.mkdirSync(path.dirname(paths.domainSecret), { recursive: true })
  fs.writeFileSync(paths.domainSecret, 'secret')
  const timed = async (label: string, work: () => Promise<unknown>) => {
    const begun = performance.now()
    await work()
    report(`${count(size)} jobs: ${label}`, performance.now() - begun, 'ms')
  }
  await timed('the queue is read', () => store.load())
  const queue = { archived: new ArchivedJobs(store, new WholeJobs()), all: () => [] }
  const parts = { queue, clock: systemClock, disk: systemDisk, paths }
  const keys = new IdempotencyKeys(parts as unknown as ConstructorParameters<typeof IdempotencyKeys>[0])
  await timed('the first Idempotency-Key after a start', () => keys.once('anna', 'key', 'body', async () => 1))
  fs.rmSync(folder, { recursive: true })
}

const count = (size: number): string => size.toLocaleString('en-US')
