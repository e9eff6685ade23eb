// A cluster of 10,000 instances on 1,000 simulated nodes: its lists, what they block, and many small requests besides.
import { performance } from 'node:perf_hooks'
import type { BenchCluster } from './cluster'
import { oneJob } from './jobs'
import { LoadClients } from './load-clients'
import type { LoopWatch } from './loops'
import { Luxi } from './luxi'
import { type Measured, measured } from './measured'
import { cpuBelow } from './processes'
import { loadRapi, post, sendAtRate } from './rapi-load'
import type { Report } from './table'

export const LARGE = { instances: 10_000, nodes: 1000 }
const MIXED_PER_SECOND = 200
const MODIFIED = 20

export async function measureLarge(
  cluster: BenchCluster,
  loops: LoopWatch,
  seconds: number,
  report: Report,
): Promise<void> {
  const watched = async (label: string, action: () => Promise<Measured>) => {
    await loops.longest(cluster.pid)
    const before_ms = cpuBelow(cluster.pid)
    const figure = await action()
    const count = Math.max(1, figure.count)
    report(label, figure.p50_ms, 'ms', figure)
    report(`  ${label}: CPU of all daemons for each`, (cpuBelow(cluster.pid) - before_ms) / count, 'ms')
    for (const [daemon, { block_ms, worked_ms }] of await loops.longest(cluster.pid)) {
      report(`  ${label}: longest block of ${daemon}`, block_ms, 'ms')
      report(`  ${label}: longest work of ${daemon} without a break`, worked_ms, 'ms')
    }
  }
  const load = (label: string, path: string, seconds: number) =>
    watched(`large: ${label} ${path}`, () => loadRapi(cluster.rapi, { path, connections: 1, how: 'kept', seconds }))
  // The first request also pays for work that the daemons still do after their start.
  await load('first GET', '/2/instances?bulk=1', 0.01)
  await load('GET', '/2/instances?bulk=1', seconds)
  await load('GET', '/2/nodes?bulk=1', seconds)
  const luxi = await Luxi.open(cluster.luxiSocket)
  const { fields } = (await luxi.call('QueryFields', ['instance', null])) as { fields: { name: string }[] }
  const names = fields.map(({ name }) => name)
  await watched(`large: LUXI Query of all ${names.length} fields of instances, to the last byte`, async () => {
    const begun = performance.now()
    await luxi.text('Query', ['instance', names, null])
    const took_ms = performance.now() - begun
    return measured([took_ms], took_ms)
  })
  await watched('large: job that modifies an instance', async () => {
    const begun = performance.now()
    const times: number[] = []
    for (let n = 0; n < MODIFIED; n++) times.push(await oneJob(luxi, modifyOp(n)))
    return measured(times, performance.now() - begun)
  })
  luxi.close()
  for (const [label, path, body] of QUESTIONS)
    await watched(`large: POST ${path}, ${label}`, async () => {
      const took_ms = await post(cluster.rapi, path, body)
      return measured([took_ms], took_ms)
    })
  await watched(`large: ${MIXED_PER_SECOND} mixed requests/s`, async () =>
    measured(await sendAtRate(cluster.rapi, mixedPath, MIXED_PER_SECOND, seconds), seconds * 1000),
  )
  const readers = await LoadClients.start(1)
  await watched(`large: ${MIXED_PER_SECOND} mixed requests/s while lists are written`, async () => {
    const lists = readers.load(cluster.rapi, { path: '/2/instances?bulk=1', connections: 2, how: 'kept', seconds })
    const times = await sendAtRate(cluster.rapi, mixedPath, MIXED_PER_SECOND, seconds)
    await lists
    return measured(times, seconds * 1000)
  })
  readers.stop()
}

const modifyOp = (n: number) => ({
  OP_ID: 'OP_INSTANCE_SET_PARAMS',
  instance_name: `inst${n}.gnt.example`,
  beparams: { vcpus: 2 + (n % 2) },
  reason: [],
})

const SPEC = { disk_template: 'sharedfile', memory_mib: 1024, vcpus: 1, disks_mib: [1024] }

function dying(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `big${100 + at}.gnt.example`)
}

/** To the allocation, which thinks in threads: the event loops go on meanwhile. */
const QUESTIONS: readonly (readonly [label: string, path: string, body: object])[] = [
  ['a node dies', '/3/whatif', { nodes: dying(1) }],
  ['20 nodes die', '/3/whatif', { nodes: dying(20) }],
  ['100 instances arrive', '/3/whatif', { instances: [{ spec: SPEC, count: 100 }] }],
  ['as many as fit, up to 1,000', '/3/capacity', { spec: SPEC, max_instances: 1000 }],
  ['20 moves', '/3/balance', { max_moves: 20 }],
]

/** Paths that consoles and scripts request: the cluster, single objects, names, jobs. */
function mixedPath(n: number): string {
  const instance = `inst${(n * 7919) % LARGE.instances}.gnt.example`
  const paths = ['/2/info', `/2/instances/${instance}`, '/2/nodes', '/2/jobs', `/2/instances/${instance}/tags`]
  return paths[n % paths.length] ?? '/2/info'
}
