// Switches of Open vSwitch on this node: made, maybe joined to a network device, and joined by the NICs of guests.
import type { Run } from '../../lib/run-command'
import { fail } from '../failure'
import { checkInterfaceName } from './addresses'
import { nicCommand } from './nic-command'
import { parseVlans } from './vlans'

export async function configureOpenvSwitch(run: Run, name: string, link: string | null): Promise<void> {
  const joined = link !== null && link !== ''
  for (const interfaceName of [name, ...(joined ? [link] : [])]) checkInterfaceName(interfaceName)
  await vsctl(run, ['add-br', name], 'create openvswitch')
  if (joined) await vsctl(run, ['add-port', name, link], `connect openvswitch to interface ${link}`)
}

async function vsctl(run: Run, args: readonly string[], what: string): Promise<void> {
  const { code, output } = await run(['ovs-vsctl', '--may-exist', ...args])
  if (code !== 0) fail(`Failed to ${what}. Script return value: ${code}, output: '${output.trim()}'`)
}

export async function joinSwitch(run: Run, tap: string, name: string, vlan: string): Promise<void> {
  await nicCommand(run, ['ovs-vsctl', '--may-exist', 'add-port', name, tap, ...vlanOptions(vlan)])
}

/** A NIC's VLANs in the words of Open vSwitch. */
export function vlanOptions(vlan: string): string[] {
  const { untagged, tagged } = parseVlans(vlan)
  return [
    ...(untagged === undefined ? [] : [`tag=${untagged}`]),
    ...(tagged.length === 0 ? [] : [`trunks=${tagged.join(',')}`]),
    ...(untagged !== undefined && tagged.length > 0 ? ['vlan_mode=native-untagged'] : []),
  ]
}
