// Starts the remote API with all that it needs.
import { startRapi } from '../daemons/rapi/server'
import { systemClock as clock } from '../lib/clock'
import { isServed } from '../lib/net/json-socket'
import type { Paths } from '../lib/paths'
import { systemFiles as files } from '../lib/files'
import { systemRandom as random } from '../lib/random'
import type { CertificateFiles } from '../lib/tls'
import { RAPI_AWAITS_LUXID_S } from '../model/limits/daemons'
import { ownedDisk as disk } from '../model/owners'
import { LuxiClient } from '../rpc/luxi/client'
import type { Options } from '../roles/options'
import { givenAddresses, listenAddress, ownAddress } from './own-address'
import type { Start } from './start'

export const start: Start = async ({ paths, log, options }) => {
  const addresses = givenAddresses(options)
  await luxidServes(paths)
  return startRapi({
    ...{ paths, log, clock, random, files, accessLog: options.accessLog },
    master: new LuxiClient({ path: paths.socket('query'), clock }),
    ...(addresses ? { addresses } : await ownAddresses(paths)),
    port: options.port,
    requireAuthentication: options['no-require-authentication'] !== true,
    certificate: certificateOf(options, paths),
    connections: options.maxClients,
  })
}

/** A chain begins with the server's certificate, so it replaces the certificate. */
function certificateOf(options: Options, paths: Paths): CertificateFiles | 'none' {
  if (options['no-ssl'] === true) return 'none'
  const { 'ssl-key': key = paths.rapiCert, 'ssl-cert': cert = paths.rapiCert, 'ssl-chain': chain = cert } = options
  return { key, cert: chain }
}

/** In a virtual cluster the node's and the cluster's address, otherwise all. */
async function ownAddresses(paths: Paths): Promise<{ addresses: string[]; clusterAddress?: string }> {
  const own = await ownAddress(paths)
  if (own === undefined) return { addresses: [await listenAddress(paths)] }
  const clusterAddress = (await disk.read(paths.ssconf('master_ip')))?.toString('utf8').trim()
  return { addresses: [own], ...(clusterAddress && clusterAddress !== own ? { clusterAddress } : {}) }
}

/**
 * luxid has asked for the votes. The remote API cannot, because its account may not read the keys for node calls. luxid
 * may be restarting.
 */
async function luxidServes(paths: Paths): Promise<void> {
  const end_ms = clock.monotonic_ms() + RAPI_AWAITS_LUXID_S * 1000
  while (!(await isServed(paths.socket('query')))) {
    if (clock.monotonic_ms() > end_ms)
      throw new Error('luxid does not answer on this node, so the remote API cannot answer')
    await clock.sleep(100)
  }
}
