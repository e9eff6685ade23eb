// Open vSwitch on this node: makes switches, connects them to a network device, and connects the NICs of guests to them.
import { accessible } from '../../lib/files'
import type { Machine } from '../../lib/machine'
import { NOT_STARTED, type Run } from '../../lib/programs/run-command'
import { SWITCH_S } from '../../model/limits/node'
import type { NicDict } from '../../rpc/node/dicts'
import { fail } from '../failure'
import { HypervisorFailure } from '../hypervisor/hypervisor'
import { checkInterfaceName } from './addresses'
import { nicCommand } from './nic-command'
import { parseVlans } from './vlans'

/** An existing switch stays as it is, so that an administrator can choose its kind. */
export async function configureOpenvSwitch(run: Run, name: string, link: string | null): Promise<void> {
  const joined = link !== null && link !== ''
  for (const interfaceName of [name, ...(joined ? [link] : [])]) checkInterfaceName(interfaceName)
  const bridge = { args: ['add-br', name], undo: ['del-br', name], hint: withoutKernel(name) }
  await add(run, bridge, `create openvswitch ${name}`)
  if (!joined) return
  const port = { args: ['add-port', name, link], undo: ['del-port', name, link] }
  await add(run, port, `connect openvswitch to interface ${link}`)
}

interface Addition {
  readonly args: readonly string[]
  readonly undo: readonly string[]
  /** The advice to show if the daemon could not make the change. */
  readonly hint?: string
}

async function add(run: Run, { args, undo, hint = '' }: Addition, what: string): Promise<void> {
  const { problem, isHalfDone } = await vsctl(run, ['--may-exist', ...args])
  if (problem === undefined) return
  // ovs-vsctl complains only about what this call has added, so this removes it again.
  if (isHalfDone) await vsctl(run, ['--if-exists', ...undo])
  fail(`Failed to ${what}: ${problem}${isHalfDone ? hint : ''}`)
}

const withoutKernel = (name: string): string =>
  ' Load its module of the kernel (modprobe openvswitch), or first make a switch that needs none: ' +
  `ovs-vsctl add-br ${name} -- set Bridge ${name} datapath_type=netdev`

/** Returns why there is no usable switch, or undefined if there is one. */
export async function noSwitch(run: Run, name: string): Promise<string | undefined> {
  const { code, problem } = await vsctl(run, ['br-exists', name])
  if (code !== 2) return problem
  return `there is no switch ${name} of Open vSwitch on this node (ovs-vsctl add-br ${name} makes it)`
}

/** Marks the port with the NIC's uuid, so that a port whose device is gone can be recognized as ours. */
export async function joinSwitch(
  node: Pick<Machine, 'files' | 'run'>,
  { uuid, nicparams: { link = '', vlan = '' } }: Pick<NicDict, 'uuid' | 'nicparams'>,
  tap: string,
): Promise<void> {
  await forgetFormer(node)
  // A switch takes the smallest MTU of its ports. A starting guest must not change it.
  const mtu = (await node.files.readFile(`/sys/class/net/${link}/mtu`, 'utf8').catch(() => '')).trim()
  if (mtu !== '') await nicCommand(node.run, ['ip', 'link', 'set', 'dev', tap, 'mtu', mtu])
  const mark = ['--', 'set', 'Port', tap, `external_ids:${MARK}=${uuid}`]
  const { problem } = await vsctl(node.run, ['--may-exist', 'add-port', link, tap, ...vlanOptions(vlan), ...mark])
  if (problem !== undefined) throw new HypervisorFailure(`Failed to join the switch ${link}: ${problem}`)
}

/** Removes ports whose devices are gone. A switch remembers them even after the machine restarts, when the guest may run elsewhere. */
async function forgetFormer({ files, run }: Pick<Machine, 'files' | 'run'>): Promise<void> {
  const find = ['--bare', '--no-headings', '--columns=name', 'find', 'Port', `external_ids:${MARK}!=""`]
  const { stdout } = await vsctl(run, find)
  for (const port of stdout.split(/\s+/).filter((word) => word !== ''))
    if (!(await accessible(files, `/sys/class/net/${port}`))) await vsctl(run, removal(port))
}

/**
 * Runs before the device is removed. Asks the switch only if the device is in no kernel bridge, because some switches do not show their
 * ports there.
 */
export async function leaveSwitch({ files, run }: Pick<Machine, 'files' | 'run'>, tap: string): Promise<void> {
  if (await accessible(files, `/sys/class/net/${tap}/brport`)) return
  if (!(await accessible(files, DATABASE_SOCKET))) return
  await vsctl(run, removal(tap))
}

const MARK = 'gantry-nic'
const DATABASE_SOCKET = '/run/openvswitch/db.sock'
/** Does not wait until the daemon has made the change, because a dead daemon would delay the end of every guest. */
const removal = (port: string): string[] => ['--no-wait', '--if-exists', 'del-port', port]

interface Answer {
  readonly code: number | null
  readonly stdout: string
  /** The failure, and what to do about it. */
  readonly problem?: string
  /** The change is in the database, but the daemon could not carry it out. */
  readonly isHalfDone?: boolean
}

async function vsctl(run: Run, args: readonly string[]): Promise<Answer> {
  const { code, stdout, output, timedOut } = await run(['ovs-vsctl', ...args], { timeout_s: SWITCH_S })
  const answer = { code, stdout }
  if (code === NOT_STARTED) return { ...answer, problem: `Open vSwitch is not installed here (${INSTALL})` }
  if (timedOut)
    return { ...answer, problem: `the daemon of Open vSwitch did not answer within ${SWITCH_S} s (${RESTART})` }
  // ovs-vsctl reports this failure with exit code 0.
  const [, halfDone] =
    /^ovs-vsctl: (Error detected while setting up .*?)(?: +See ovs-vswitchd log.*)?$/m.exec(output) ?? []
  if (halfDone !== undefined) return { ...answer, problem: halfDone, isHalfDone: true }
  if (code === 0) return answer
  const isDown = /database connection failed/.test(output)
  return { ...answer, problem: `${output.trim() || `ovs-vsctl ended with ${code}`}${isDown ? ` (${RESTART})` : ''}` }
}

const INSTALL = 'apt-get install -y --no-install-recommends openvswitch-switch'
const RESTART = 'systemctl restart openvswitch-switch'

/** Writes a NIC's VLANs as options of Open vSwitch. */
export function vlanOptions(vlan: string): string[] {
  const { untagged, tagged } = parseVlans(vlan)
  return [
    ...(untagged === undefined ? [] : [`tag=${untagged}`]),
    ...(tagged.length === 0 ? [] : [`trunks=${tagged.join(',')}`]),
    ...(untagged !== undefined && tagged.length > 0 ? ['vlan_mode=native-untagged'] : []),
  ]
}
