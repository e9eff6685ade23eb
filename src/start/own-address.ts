// The addresses that a daemon listens on: those that it was given, or the one of a virtual node. A real one listens on all.
import { networkInterfaces } from 'node:os'
import { hostAddress } from '../lib/hosts-file'
import type { Paths } from '../lib/paths'
import { PATH } from '../model/constants/paths'
import { ownedDisk as disk } from '../model/owners'
import type { Options } from '../roles/options'

export async function ownAddress(paths: Paths): Promise<string | undefined> {
  if (paths.root === '') return undefined
  const text = async (file: string) => ((await disk.read(file)) ?? '').toString('utf8')
  const lines = (await text(paths.ssconf('node_primary_ips'))).split('\n')
  const known = lines.map((line) => line.split(' ')).find(([name]) => name === paths.hostname)?.[1]
  // A node that is only about to join is in no list yet.
  return known ?? hostAddress(await text(paths.local(PATH.ETC_HOSTS)), paths.hostname)
}

/** What --bind and --interface say; undefined without them. */
export function givenAddresses({ bind, interface: name }: Options): string[] | undefined {
  if (bind !== undefined || name === undefined) return bind
  const known = networkInterfaces()
  const address = known[name]?.find(({ family }) => family === 'IPv4')?.address
  if (address !== undefined) return [address]
  throw new Error(
    `the network interface ${name} has no IPv4 address; those that have one: ${Object.keys(known).join(', ')}`,
  )
}
