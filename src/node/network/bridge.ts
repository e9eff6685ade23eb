// Joins a NIC's tap device to its bridge as Ganeti's scripts do, with the NIC's VLANs.
import * as path from 'node:path'
import type { Files } from '../../lib/files'
import type { Machine } from '../../lib/machine'
import { HypervisorFailure } from '../hypervisor/hypervisor'
import { nicCommand } from './nic-command'
import { parseVlans, type Vlans } from './vlans'

export interface BridgeFacts {
  readonly name: string
  readonly vlanFiltering: boolean
  /** The VLAN that the bridge gives to every new port, or 0. */
  readonly defaultPvid: number
  /** The ports that lead to other machines. */
  readonly uplinks: readonly string[]
  /** The interfaces of this node that take a VLAN from an uplink before the bridge sees it. */
  readonly takenVlans: readonly { readonly vid: string; readonly by: string }[]
}

export async function joinBridge(
  { files, run }: Pick<Machine, 'files' | 'run'>,
  tap: string,
  bridge: string,
  vlan: string,
): Promise<void> {
  // A bridge takes the lowest address and the smallest MTU of its ports. A starting guest must change neither.
  const address = (await files.readFile(`/sys/class/net/${tap}/address`, 'utf8')).trim()
  await nicCommand(run, ['ip', 'link', 'set', 'dev', tap, 'address', address.replace(/^../, 'fe')])
  const mtu = (await files.readFile(`/sys/class/net/${bridge}/mtu`, 'utf8')).trim()
  await nicCommand(run, ['ip', 'link', 'set', 'dev', tap, 'mtu', mtu])
  await nicCommand(run, ['ip', 'link', 'set', 'dev', tap, 'master', bridge])
  if (vlan === '') return
  for (const argv of vlanCommands(tap, parseVlans(vlan), await bridgeFacts(files, bridge))) await nicCommand(run, argv)
}

/** Refuses a bridge that would let all VLANs through. Pure. */
export function vlanCommands(tap: string, { untagged, tagged }: Vlans, bridge: BridgeFacts): string[][] {
  if (!bridge.vlanFiltering)
    throw new HypervisorFailure(
      `A NIC asks for VLANs, and bridge ${bridge.name} does not tell them apart (make it: ip link set dev ${bridge.name} type bridge vlan_filtering 1)`,
    )
  const desired = [...(untagged === undefined ? [] : [untagged]), ...tagged]
  const taken = bridge.takenVlans.find(({ vid }) => desired.includes(vid))
  if (taken !== undefined)
    throw new HypervisorFailure(
      `A NIC asks for VLAN ${taken.vid}, which the interface ${taken.by} of this node takes, so that bridge ${bridge.name} would never hear it`,
    )
  const add = (port: string, vid: string, ...how: string[]) =>
    ['bridge', 'vlan', 'add', 'dev', port, 'vid', vid, ...how, 'master'] // prettier-ignore
  const preset = String(bridge.defaultPvid)
  return [
    ...(untagged === undefined ? [] : [add(tap, untagged, 'pvid', 'untagged')]),
    ...tagged.map((vid) => add(tap, vid)),
    // Without this, the guest would also see the VLAN of every new port.
    ...(preset === '0' || desired.includes(preset)
      ? []
      : [['bridge', 'vlan', 'del', 'dev', tap, 'vid', preset, 'master']]),
    ...bridge.uplinks.flatMap((uplink) => desired.map((vid) => add(uplink, vid))),
  ]
}

/** Read from the kernel's files below `net`. */
export async function bridgeFacts(files: Files, name: string, net = '/sys/class/net'): Promise<BridgeFacts> {
  const folder = path.join(net, name)
  const read = async (file: string) =>
    (await files.readFile(`${folder}/bridge/${file}`, 'utf8').catch(() => '0')).trim()
  const ports = await files.readdir(`${folder}/brif`)
  const outward = await Promise.all(ports.map((port) => leadsOut(files, path.join(net, port))))
  return {
    name,
    vlanFiltering: (await read('vlan_filtering')) === '1',
    defaultPvid: Number(await read('default_pvid')),
    uplinks: ports.filter((_, index) => outward[index]),
    takenVlans: await takenVlans(files, net),
  }
}

/** Reads lines of the form `name | vid | device`. */
async function takenVlans(files: Files, net: string): Promise<BridgeFacts['takenVlans']> {
  const table = await files.readFile('/proc/net/vlan/config', 'utf8').catch(() => '')
  const entries = table.split('\n').flatMap((line) => {
    const [by = '', vid = '', device = ''] = line.split('|').map((word) => word.trim())
    return /^\d+$/.test(vid) ? [{ vid, by, device }] : []
  })
  const outward = await Promise.all(entries.map(({ device }) => leadsOut(files, path.join(net, device))))
  return entries.filter((_, index) => outward[index])
}

/**
 * Hardware has a device, stacked interfaces have lower ones, and tunnels have a type. The port of a guest or container
 * has none of these, whatever its name.
 */
async function leadsOut(files: Files, port: string): Promise<boolean> {
  const names = await files.readdir(port).catch(() => [])
  const event = await files.readFile(`${port}/uevent`, 'utf8').catch(() => '')
  return names.some((file) => file === 'device' || file.startsWith('lower_')) || /^DEVTYPE=/m.test(event)
}
