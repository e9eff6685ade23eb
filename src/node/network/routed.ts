// Routed NICs: the node answers ARP requests for the instance's address and forwards its packets.
import { accessible } from '../../lib/files'
import type { Machine } from '../../lib/machine'
import type { Run } from '../../lib/programs/run-command'
import { NETWORK_PROGRAM_S } from '../../model/limits/node'
import type { NicDict } from '../../rpc/node/dicts'
import { HypervisorFailure } from '../hypervisor/hypervisor'
import { nicCommand } from './nic-command'

/**
 * A guest knows its gateway by the hardware address of its tap device. On the node to which the guest moves, it finds the same one, and with it
 * the same router of IPv6. The device must not be up yet. It is in no bridge, so the guest alone sees this address.
 */
export async function setGatewayAddress(run: Run, mac: string, tap: string): Promise<void> {
  await nicCommand(run, ['ip', 'link', 'set', 'dev', tap, 'address', gatewayAddress(mac)])
}

/** Never the NIC's own address, or the guest would take the gateway for itself. */
const gatewayAddress = (mac: string): string =>
  mac.toLowerCase().replace(/^../, (first) => (first === 'fe' ? 'fa' : 'fe'))

/** `table`: the routing table that the NIC's link names. If it is empty, the main table is used. */
export async function routeTo(
  { files, run }: Pick<Machine, 'files' | 'run'>,
  nic: NicDict,
  tap: string,
  table: string,
): Promise<void> {
  if (nic.ip === undefined) throw new HypervisorFailure(`Routed NIC ${nic.uuid} has no IP address`)
  const family = nic.ip.includes(':') ? '-6' : '-4'
  // The guest may also have addresses of the other IP version, which other machines route to it. The kernel may support only one version.
  for (const [version, proxy] of [
    ['ipv4', 'proxy_arp'],
    ['ipv6', 'proxy_ndp'],
  ] as const) {
    const settings = `/proc/sys/net/${version}/conf/${tap}`
    if ((family === '-6') !== (version === 'ipv6') && !(await accessible(files, settings))) continue
    for (const name of [proxy, 'forwarding']) await files.writeFile(`${settings}/${name}`, '1')
  }
  const where = table === '' ? [] : ['table', table]
  // The guest's own packets use the same table.
  if (table !== '') await nicCommand(run, ['ip', family, 'rule', 'add', 'dev', tap, ...where])
  await nicCommand(run, ['ip', family, 'route', 'replace', nic.ip, 'proto', 'static', 'dev', tap, ...where])
}

/**
 * Says that nobody but the node reaches the NIC, if so. The kernel forwards IPv4 packets that come from an interface which forwards, and IPv6
 * packets if the whole node does.
 */
export async function notForwarded(files: Machine['files'], { ip = '' }: NicDict): Promise<string | undefined> {
  const [version, cure] = ip.includes(':') ? [6, 'net.ipv6.conf.all.forwarding=1'] : [4, 'net.ipv4.ip_forward=1']
  const settings = `/proc/sys/net/ipv${version}/conf`
  const forwards = async (name: string) =>
    (await files.readFile(`${settings}/${name}/forwarding`, 'utf8').catch(() => '0')).trim() === '1'
  const outward = version === 6 ? ['all'] : (await files.readdir(settings).catch(() => [])).filter(isOutward)
  if ((await Promise.all(outward.map(forwards))).includes(true)) return undefined
  return `is reached by its node only, since this node forwards no packets of IPv${version} (sysctl -w ${cure})`
}

/** A new interface begins with what `default` says. Guests' interfaces always forward. */
const isOutward = (name: string): boolean => !/^(all|default|lo|tap.*|gnt\.com\..*)$/.test(name)

/** Removes the rule for the NIC's table. Unlike the route, it outlives the tap device. */
export async function removeRules({ files, run }: Pick<Machine, 'files' | 'run'>, tap: string): Promise<void> {
  const answersFor = async (version: string, name: string) =>
    (await files.readFile(`/proc/sys/net/${version}/conf/${tap}/${name}`, 'utf8').catch(() => '')).trim() === '1'
  if (await answersFor('ipv4', 'proxy_arp'))
    await run(['ip', '-4', 'rule', 'del', 'dev', tap], { timeout_s: NETWORK_PROGRAM_S })
  if (await answersFor('ipv6', 'proxy_ndp'))
    await run(['ip', '-6', 'rule', 'del', 'dev', tap], { timeout_s: NETWORK_PROGRAM_S })
}
