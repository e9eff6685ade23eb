// The figures that any cluster behind RAPI and LUXI has, Gantry's or Ganeti's: requests, queries, jobs.
import { performance } from 'node:perf_hooks'
import { delayOp, manyJobs, oneJob } from './jobs'
import { LoadClients } from './load-clients'
import { Luxi } from './luxi'
import { measured } from './measured'
import { cpuBelow } from './processes'
import { CONNECTIONS, type RapiTarget } from './rapi-load'
import type { Report } from './table'

export interface Subject {
  readonly rapi: RapiTarget
  readonly luxiSocket: string
  /** The parent of all its processes. */
  readonly pid: number
}

export interface Scale {
  /** Seconds for each figure of requests. */
  readonly seconds: number
  /** Single jobs, of which the median counts. */
  readonly singleJobs: number
  /** How many jobs are submitted at once. */
  readonly batches: readonly number[]
}

/** So many are never slower than the server. */
const CLIENT_PROCESSES = 2

export async function measureRequests({ rapi, pid }: Subject, scale: Scale, report: Report, ownKeepAlive: boolean) {
  const clients = await LoadClients.start(CLIENT_PROCESSES)
  for (const path of ['/2/info', '/2/instances?bulk=1', '/2/nodes?bulk=1'])
    for (const connections of [1, 16])
      for (const how of ownKeepAlive ? CONNECTIONS : CONNECTIONS.filter((one) => one === 'new connection each')) {
        const before_ms = cpuBelow(pid)
        const figure = await clients.load(rapi, { path, connections, how, seconds: scale.seconds })
        const label = `GET ${path}, ${connections} at once, ${how}`
        report(label, figure.perSecond, '/s', figure)
        report(`  ${label}: CPU of all daemons for each`, (cpuBelow(pid) - before_ms) / figure.count, 'ms')
      }
  clients.stop()
}

export async function measureQueries({ luxiSocket }: Subject, scale: Scale, report: Report): Promise<void> {
  const luxi = await Luxi.open(luxiSocket)
  const calls: [string, string, unknown[]][] = [
    ['LUXI Query of node names', 'Query', ['node', ['name'], null]],
    ['LUXI Query of all instances, with state', 'Query', ['instance', ['name', 'status', 'oper_ram'], null]],
    ['LUXI QueryClusterInfo', 'QueryClusterInfo', []],
  ]
  for (const [label, method, args] of calls) {
    await luxi.call(method, args)
    const times: number[] = []
    const started = performance.now()
    while (performance.now() - started < scale.seconds * 1000) {
      const begun = performance.now()
      await luxi.call(method, args)
      times.push(performance.now() - begun)
    }
    const figure = measured(times, performance.now() - started)
    report(label, figure.p50_ms, 'ms', figure)
  }
  luxi.close()
}

export async function measureJobs(
  { luxiSocket, pid }: Subject,
  scale: Scale,
  report: Report,
  note = '',
): Promise<void> {
  const luxi = await Luxi.open(luxiSocket)
  await oneJob(luxi, delayOp)
  const times: number[] = []
  for (let n = 0; n < scale.singleJobs; n++) times.push(await oneJob(luxi, delayOp))
  report(`one job, submission to success${note}`, measured(times, 1).p50_ms, 'ms')
  for (const count of scale.batches) {
    const before_ms = cpuBelow(pid)
    const total_ms = await manyJobs(luxi, count, delayOp)
    report(`${count} jobs at once, CPU of all daemons for each${note}`, (cpuBelow(pid) - before_ms) / count, 'ms')
    report(`${count} jobs at once, until all have ended${note}`, total_ms, 'ms')
    report(`${count} jobs at once${note}`, (count / total_ms) * 1000, '/s')
  }
  luxi.close()
}

/** The memory tells what a running job costs. */
export async function withRunningJobs(subject: Subject, count: number, look: () => void): Promise<void> {
  const luxi = await Luxi.open(subject.luxiSocket)
  const op = { ...delayOp, duration: 4 }
  const all = manyJobs(luxi, count, op)
  await new Promise((resolve) => setTimeout(resolve, 3000))
  look()
  await all
  luxi.close()
}

/** Resolves to false when instances cannot be created yet. */
export async function createInstances({ luxiSocket }: Subject, count: number): Promise<boolean> {
  const luxi = await Luxi.open(luxiSocket)
  try {
    for (let n = 1; n <= count; n++)
      await oneJob(luxi, {
        OP_ID: 'OP_INSTANCE_CREATE',
        mode: 'create',
        instance_name: `bench${n}.gantry.local`,
        disk_template: 'diskless',
        disks: [],
        nics: [],
        beparams: { memory: 64, vcpus: 1 },
        pnode: `node${((n - 1) % 3) + 1}.gantry.local`,
        no_install: true,
        os_type: 'gantry-tiny',
        start: true,
        reason: [],
      })
    return true
  } catch (error) {
    process.stderr.write(`instances cannot be created: ${error instanceof Error ? error.message : String(error)}\n`)
    return false
  } finally {
    luxi.close()
  }
}
