// Switches of Open vSwitch on this node: made, maybe joined to a network device, and joined by the NICs of guests.
import { accessible } from '../../lib/files'
import type { Machine } from '../../lib/machine'
import type { Run } from '../../lib/run-command'
import { SWITCH_S } from '../../model/limits/node'
import type { NicDict } from '../../rpc/node/dicts'
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

/** Its port is marked with the NIC, so that the next one knows it. */
export async function joinSwitch(
  node: Pick<Machine, 'files' | 'run'>,
  { uuid, nicparams: { link = '', vlan = '' } }: Pick<NicDict, 'uuid' | 'nicparams'>,
  tap: string,
): Promise<void> {
  await forgetFormer(node, uuid)
  const mark = ['--', 'set', 'Port', tap, `external_ids:${MARK}=${uuid}`]
  await nicCommand(node.run, ['ovs-vsctl', '--may-exist', 'add-port', link, tap, ...vlanOptions(vlan), ...mark])
}

/** A switch remembers ports whose devices are gone, also when the machine starts again. */
async function forgetFormer({ files, run }: Pick<Machine, 'files' | 'run'>, uuid: string): Promise<void> {
  const find = [
    'ovs-vsctl',
    '--bare',
    '--no-headings',
    '--columns=name',
    'find',
    'Port',
    `external_ids:${MARK}=${uuid}`,
  ]
  const { stdout } = await run(find, { timeout_s: SWITCH_S })
  for (const port of stdout.split(/\s+/).filter((word) => word !== ''))
    if (!(await accessible(files, `/sys/class/net/${port}`))) await run(removal(port), { timeout_s: SWITCH_S })
}

/** Before the device goes. Whether it is in a switch is asked where it is in no bridge of the kernel: not all switches are seen there. */
export async function leaveSwitch({ files, run }: Pick<Machine, 'files' | 'run'>, tap: string): Promise<void> {
  if (await accessible(files, `/sys/class/net/${tap}/brport`)) return
  // Without its daemon each question would wait in vain.
  if (!(await accessible(files, DATABASE_SOCKET))) return
  await run(removal(tap), { timeout_s: SWITCH_S })
}

const MARK = 'gantry-nic'
const DATABASE_SOCKET = '/run/openvswitch/db.sock'
const removal = (port: string): string[] => ['ovs-vsctl', '--if-exists', 'del-port', port]

/** A NIC's VLANs in the words of Open vSwitch. */
export function vlanOptions(vlan: string): string[] {
  const { untagged, tagged } = parseVlans(vlan)
  return [
    ...(untagged === undefined ? [] : [`tag=${untagged}`]),
    ...(tagged.length === 0 ? [] : [`trunks=${tagged.join(',')}`]),
    ...(untagged !== undefined && tagged.length > 0 ? ['vlan_mode=native-untagged'] : []),
  ]
}
