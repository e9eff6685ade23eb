// The addresses on which a daemon listens: the given ones, or that of a virtual node. A real node's daemon listens on
// all.
import { networkInterfaces } from 'node:os'
import { hostAddress } from '../lib/file/hosts-file'
import type { Paths } from '../lib/paths'
import { PATH } from '../model/constants/paths'
import { versionOf } from '../model/ip'
import { ownedDisk as disk } from '../model/owners'
import type { Options } from '../roles/options'

export async function ownAddress(paths: Paths): Promise<string | undefined> {
  if (paths.root === '') return undefined
  const text = async (file: string) => ((await disk.read(file)) ?? '').toString('utf8')
  const lines = (await text(paths.ssconf('node_primary_ips'))).split('\n')
  const known = lines.map((line) => line.split(' ')).find(([name]) => name === paths.hostname)?.[1]
  // A node that is about to join is in no list yet.
  return known ?? hostAddress(await text(paths.local(PATH.ETC_HOSTS)), paths.hostname)
}

/** The default address: in an IPv6 cluster both versions, as Ganeti's daemons. */
export async function listenAddress(paths: Paths): Promise<string> {
  const own = await ownAddress(paths)
  if (own !== undefined) return own
  const family = (await disk.read(paths.ssconf('primary_ip_family')))?.toString('utf8').trim()
  return versionOf(Number(family)) === 6 ? '::' : '0.0.0.0'
}

/** The addresses of --bind and --interface; undefined without them. */
export function givenAddresses({ bind, interface: name }: Options): string[] | undefined {
  if (bind !== undefined || name === undefined) return bind
  const known = networkInterfaces()
  // Skips link-local addresses, which other machines cannot use.
  const addresses = known[name]?.filter(({ address }) => !/^fe80:/i.test(address)) ?? []
  const found = addresses.find(({ family }) => family === 'IPv4') ?? addresses[0]
  if (found !== undefined) return [found.address]
  throw new Error(`the network interface ${name} has no address; those that have one: ${Object.keys(known).join(', ')}`)
}
