// Routed NICs: the node answers for the instance's address and hands its packets on.
import type { Machine } from '../../lib/machine'
import type { NicDict } from '../../rpc/node/dicts'
import { HypervisorFailure } from '../hypervisor/hypervisor'
import { nicCommand } from './nic-command'

/** `table`: the routing table that the NIC's link names; the main one when that is empty. */
export async function routeTo(
  { files, run }: Pick<Machine, 'files' | 'run'>,
  nic: NicDict,
  tap: string,
  table: string,
): Promise<void> {
  if (nic.ip === undefined) throw new HypervisorFailure(`Routed NIC ${nic.uuid} has no IP address`)
  const family = nic.ip.includes(':') ? '-6' : '-4'
  const names = family === '-4' ? ['proxy_arp', 'forwarding'] : ['proxy_ndp', 'forwarding']
  const version = family === '-4' ? 'ipv4' : 'ipv6'
  for (const name of names) await files.writeFile(`/proc/sys/net/${version}/conf/${tap}/${name}`, '1')
  const where = table === '' ? [] : ['table', table]
  await nicCommand(run, ['ip', family, 'route', 'replace', nic.ip, 'dev', tap, ...where])
}
