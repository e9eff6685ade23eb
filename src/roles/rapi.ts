// The remote API.
import { startRapi } from '../daemons/rapi/server'
import { systemClock as clock } from '../lib/clock'
import type { Paths } from '../lib/paths'
import { PORT } from '../model/constants/daemons'
import { ownedDisk as disk } from '../model/owners'
import { LuxiClient } from '../rpc/luxi/client'
import { masterNodes } from './common/master-nodes'
import { ownAddress } from './common/own-address'
import type { Running, Start } from './common/start'

export async function rapi(start: Start): Promise<Running> {
  await masterNodes(start)
  const { paths, log, options } = start
  return startRapi({
    ...{ paths, log, clock },
    master: new LuxiClient({ path: paths.socket('query') }),
    ...(options.bind ? { addresses: options.bind } : await rapiAddresses(paths)),
    port: options.port ?? PORT.rapi,
    requireAuthentication: options['no-require-authentication'] !== true,
    accessLog: options.accessLog,
  })
}

/** The node's and the cluster's address in a virtual cluster, else all. */
async function rapiAddresses(paths: Paths): Promise<{ addresses: string[]; clusterAddress?: string }> {
  const own = await ownAddress(paths)
  if (own === undefined) return { addresses: ['0.0.0.0'] }
  const clusterAddress = (await disk.read(paths.ssconf('master_ip')))?.toString('utf8').trim()
  return { addresses: [own], ...(clusterAddress && clusterAddress !== own ? { clusterAddress } : {}) }
}
