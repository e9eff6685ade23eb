// The address of a virtual node. A real one listens on all of its addresses.
import { hostAddress } from '../lib/hosts-file'
import type { Paths } from '../lib/paths'
import { PATH } from '../model/constants/paths'
import { ownedDisk as disk } from '../model/owners'

export async function ownAddress(paths: Paths): Promise<string | undefined> {
  if (paths.root === '') return undefined
  const text = async (file: string) => ((await disk.read(file)) ?? '').toString('utf8')
  const lines = (await text(paths.ssconf('node_primary_ips'))).split('\n')
  const known = lines.map((line) => line.split(' ')).find(([name]) => name === paths.hostname)?.[1]
  // A node that is only about to join is in no list yet.
  return known ?? hostAddress(await text(paths.local(PATH.ETC_HOSTS)), paths.hostname)
}
