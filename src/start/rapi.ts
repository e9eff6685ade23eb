// Starts the remote API with all that it needs.
import { startRapi } from '../daemons/rapi/server'
import { systemClock as clock } from '../lib/clock'
import type { Paths } from '../lib/paths'
import { systemFiles as files } from '../lib/files'
import { systemRandom as random } from '../lib/random'
import { PORT } from '../model/constants/daemons'
import { ownedDisk as disk } from '../model/owners'
import { LuxiClient } from '../rpc/luxi/client'
import { masterNodes } from './master'
import { ownAddress } from './own-address'
import type { Start } from './start'

export const start: Start = async (surroundings) => {
  const { paths, log, options } = surroundings
  await masterNodes(surroundings)
  return startRapi({
    ...{ paths, log, clock, random, files, accessLog: options.accessLog },
    master: new LuxiClient({ path: paths.socket('query'), clock }),
    ...(options.bind ? { addresses: options.bind } : await ownAddresses(paths)),
    port: options.port ?? PORT.rapi,
    requireAuthentication: options['no-require-authentication'] !== true,
  })
}

/** The node's and the cluster's address in a virtual cluster, else all. */
async function ownAddresses(paths: Paths): Promise<{ addresses: string[]; clusterAddress?: string }> {
  const own = await ownAddress(paths)
  if (own === undefined) return { addresses: ['0.0.0.0'] }
  const clusterAddress = (await disk.read(paths.ssconf('master_ip')))?.toString('utf8').trim()
  return { addresses: [own], ...(clusterAddress && clusterAddress !== own ? { clusterAddress } : {}) }
}
