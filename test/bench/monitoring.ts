// The central view of two hundred nodes, which are simulated: gathered anew, told once more, and as metrics.
import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { MONITORING_FRESH_S } from '../../src/model/limits/monitoring'
import type { BenchCluster } from './cluster'
import type { LoopWatch } from './loops'
import { measured } from './measured'
import { cpuBelow } from './processes'
import { get } from './rapi-load'
import type { Report } from './table'

export const MONITORED = { instances: 2000, nodes: 200 }

const PATHS = [
  ['GET /3/monitoring', '/3/monitoring?limit=1000'],
  ['the same without reports', '/3/monitoring?limit=1000&fields=node,status,problems,figures'],
  ['GET /metrics', '/metrics'],
] as const

export async function measureMonitoring(
  cluster: BenchCluster,
  loops: LoopWatch,
  quick: boolean,
  report: Report,
): Promise<void> {
  const rounds = quick ? 3 : 15
  /** Far enough apart for the nodes to be asked each time; what the daemons do besides is taken off. */
  const pause = () => setTimeout((MONITORING_FRESH_S + 0.1) * 1000)
  const cpuOf = async (action: () => Promise<unknown>) => {
    const before_ms = cpuBelow(cluster.pid)
    for (let round = 0; round < rounds; round++) {
      await pause()
      await action()
    }
    return (cpuBelow(cluster.pid) - before_ms) / rounds
  }
  for (const [, path] of PATHS) await get(cluster.rapi, path)
  const idle_ms = await cpuOf(() => Promise.resolve())
  for (const [title, path] of PATHS) {
    const label = `monitoring of ${MONITORED.nodes} nodes, ${title}`
    const [anew, again]: [number[], number[]] = [[], []]
    await loops.longest(cluster.pid)
    const begun = performance.now()
    const cpu_ms = await cpuOf(async () => {
      anew.push(await get(cluster.rapi, path))
    })
    const figure = measured(anew, performance.now() - begun)
    report(`${label}, asked anew`, figure.p50_ms, 'ms', figure)
    report(`  ${label}: CPU of all daemons for each`, cpu_ms - idle_ms, 'ms')
    for (const [daemon, { block_ms }] of await loops.longest(cluster.pid))
      if (daemon === 'luxid' || daemon === 'rapi') report(`  ${label}: longest block of ${daemon}`, block_ms, 'ms')
    for (let round = 0; round < rounds; round++) again.push(await get(cluster.rapi, path))
    const kept = measured(again, 1)
    report(`${label}, told again`, kept.p50_ms, 'ms', kept)
  }
}
