// Reports of a node's monitoring daemon: all of them, over one kept connection and over many.
import * as http from 'node:http'
import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { PORT } from '../../src/model/constants/daemons'
import type { BenchCluster } from './cluster'
import { measured } from './measured'
import { memoryBelow } from './processes'
import type { Report } from './table'

const NODE = 'node1.gantry.local'
/** Until every collector has looked for the first time. */
const WARM_S = 10

export async function measureMond(cluster: BenchCluster, quick: boolean, report: Report): Promise<void> {
  const address = cluster.rapi.host.replace(/\d+$/, '1')
  await setTimeout(WARM_S * 1000)
  const memory = (when: string) => {
    const mond = memoryBelow(cluster.pid).find(({ name, node }) => name === 'mond' && node === NODE)
    report(`mond ${when}, RSS`, mond?.rss_kib ?? Number.NaN, 'KiB')
    report(`mond ${when}, PSS`, mond?.pss_kib ?? Number.NaN, 'KiB')
  }
  memory('before')
  const count = quick ? 1_000 : 10_000
  for (const connections of [1, 16]) {
    const figure = await load(address, connections, count)
    report(
      `mond, all reports, ${connections} connection${connections === 1 ? '' : 's'}`,
      figure.perSecond,
      '/s',
      figure,
    )
  }
  memory('after that')
}

async function load(host: string, connections: number, count: number) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  const times_ms: number[] = []
  const begun_ms = performance.now()
  const client = async () => {
    while (times_ms.length + connections <= count) {
      const asked_ms = performance.now()
      await get({ host, port: PORT.mond, path: '/1/report/all', agent })
      times_ms.push(performance.now() - asked_ms)
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  agent.destroy()
  return measured(times_ms, performance.now() - begun_ms)
}

const get = (options: http.RequestOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = http.get(options, (response) => response.resume().on('end', resolve))
    request.on('error', reject)
  })
