// Configuration changes of the size of `instance modify`, sent to a real wconfd as job processes send them.
import * as path from 'node:path'
import { performance } from 'node:perf_hooks'
import { systemClock } from '../../src/lib/clock'
import { systemRandom } from '../../src/lib/random'
import type { Instance } from '../../src/model/config'
import { openWconfd } from '../../src/rpc/wconfd/client'
import { type Measured, measured } from './measured'

export async function loadWconfd(
  luxiSocket: string,
  instances: readonly string[],
  clients: number,
  duration_s: number,
): Promise<Measured> {
  const socket = path.join(path.dirname(luxiSocket), 'ganeti-wconfd')
  const times: number[] = []
  const started = performance.now()
  const until = started + duration_s * 1000
  const one = async (client: number) => {
    const wconfd = openWconfd({ clock: systemClock, random: systemRandom, path: socket })
    for (let round = 0; performance.now() < until; round++) {
      const own = instances.filter((_, at) => at % clients === client)
      const uuid = own[round % own.length] ?? ''
      const begun = performance.now()
      await wconfd.gantryChange([client, '', process.pid], null, [change(uuid, round)])
      times.push(performance.now() - begun)
    }
    wconfd.close()
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => one(client)))
  return measured(times, performance.now() - started)
}

/** One change of the size of `instance modify`. */
export const change = (uuid: string, round: number): [string, string, Partial<Instance>] => [
  'patchInstance',
  uuid,
  { beparams: { maxmem: 128 + (round % 128), minmem: 64, vcpus: 1, auto_balance: true } },
]
