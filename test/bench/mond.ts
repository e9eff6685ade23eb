// Reports of a node's monitoring daemon: all of them, over one kept connection and over many.
import * as http from 'node:http'
import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { PORT } from '../../src/model/constants/daemons'
import { measured } from './measured'
import { type AskedNode, reportMemoryOf } from './processes'
import type { Report } from './table'

/** Until every collector has looked for the first time. */
const WARM_S = 10

/** `count`: of requests, for each number of connections. */
export async function measureMond(node: AskedNode, count: number, report: Report): Promise<void> {
  await setTimeout(WARM_S * 1000)
  reportMemoryOf('mond', node, 'before', report)
  for (const connections of [1, 16]) {
    const figure = await load(node.address, connections, count)
    report(
      `mond, all reports, ${connections} connection${connections === 1 ? '' : 's'}`,
      figure.perSecond,
      '/s',
      figure,
    )
  }
  reportMemoryOf('mond', node, 'after that', report)
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
