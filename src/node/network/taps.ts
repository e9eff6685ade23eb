// Tap devices: the node's ends of guests' NICs, and how they join the NICs' networks. Hypervisors differ in what they
// plug into a tap device, but not in this.
import { accessible, constants, type Files } from '../../lib/files'
import type { Machine } from '../../lib/machine'
import type { Paths } from '../../lib/paths'
import { PATH } from '../../model/constants/paths'
import { NETWORK_PROGRAM_S } from '../../model/limits/node'
import { networkVariables } from '../../model/network'
import type { InstanceDict, NicDict } from '../../rpc/node/dicts'
import { HypervisorFailure } from '../hypervisor/hypervisor'
import { joinBridge } from './bridge'
import { asksNode, connectCommunication, freeTapName, requireRoute } from './communication'
import { nicCommand } from './nic-command'
import { joinSwitch, leaveSwitch, noSwitch } from './open-vswitch'
import { notForwarded, removeRules, routeTo, setGatewayAddress } from './routed'

/** Two starts at the same moment may choose the same free name. */
const TAP_NAME_TRIES = 10

/** Whether this process may create tap devices. */
export const canMakeTaps = async (files: Files): Promise<boolean> =>
  process.geteuid?.() === 0 && (await accessible(files, '/dev/net/tun', constants.R_OK | constants.W_OK))

export class Taps {
  constructor(private readonly node: Pick<Machine, 'files' | 'run'> & { readonly paths: Paths }) {}

  /** Returns why a NIC cannot have a tap device on this node, or undefined if it can. */
  async refusal({ nicparams }: NicDict): Promise<string | undefined> {
    const { files, run } = this.node
    if (!(await canMakeTaps(files))) return 'this process may not create tap devices'
    const { mode = 'bridged', link = '' } = nicparams
    if ((await this.custom(PATH.NIC_SCRIPT)) !== undefined) return undefined
    if (mode === 'openvswitch') return await noSwitch(run, link)
    if (mode !== 'bridged') return undefined
    return (await accessible(files, `/sys/class/net/${link}/bridge`))
      ? undefined
      : `there is no bridge ${link} on this node`
  }

  /** Says that a NIC which can be had leads no further than to this node; undefined if it does, or if a script sees to it. */
  async unreached(nic: NicDict): Promise<string | undefined> {
    if (nic.nicparams.mode !== 'routed' || asksNode(nic) || (await this.custom(PATH.NIC_SCRIPT)) !== undefined)
      return undefined
    return notForwarded(this.node.files, nic)
  }

  /** `user`: the account that may open it. `flags`: the features that its opener wants, in the words of `ip tuntap`. */
  async make(tap: string, user: string | undefined, flags: readonly string[]): Promise<void> {
    const owner = user === undefined ? [] : ['user', user]
    await nicCommand(this.node.run, ['ip', 'tuntap', 'add', 'dev', tap, 'mode', 'tap', ...owner, ...flags])
  }

  /** Makes a device with the special name of communication NICs. Tries again if another start takes the name first. */
  async makeForCommunication(user: string | undefined, flags: readonly string[]): Promise<string> {
    for (let tries = 0; ; tries++) {
      const tap = await freeTapName(this.node.files)
      try {
        await this.make(tap, user, flags)
        return tap
      } catch (error) {
        if (tries >= TAP_NAME_TRIES) throw error
      }
    }
  }

  async remove(tap: string): Promise<void> {
    await removeRules(this.node, tap)
    await leaveSwitch(this.node, tap)
    await this.node.run(['ip', 'link', 'delete', 'dev', tap], { timeout_s: NETWORK_PROGRAM_S })
  }

  /** As in Ganeti, the administrator's script connects NICs of every mode, and ends what is done for a communication NIC. */
  async connect(instance: InstanceDict, nic: NicDict, index: number, tap: string): Promise<void> {
    const runScript = async (script: string) =>
      nicCommand(this.node.run, [script, tap], nicEnvironment(instance, nic, index, tap))
    if (nic.nicparams.mode === 'routed') await setGatewayAddress(this.node.run, nic.mac, tap)
    const asks = asksNode(nic)
    if (asks) {
      const own = await this.custom(PATH.COMMUNICATION_SCRIPT)
      if (own === undefined) await connectCommunication(this.node, nic, tap)
      else await requireRoute(this.node, nic, tap, own, await runScript(own))
    }
    const script = await this.custom(PATH.NIC_SCRIPT)
    if (script !== undefined) await runScript(script)
    else if (!asks) await this.join(nic, tap)
  }

  private async join(nic: NicDict, tap: string): Promise<void> {
    const { mode = 'bridged', link = '', vlan = '' } = nic.nicparams
    if (mode === 'bridged') await joinBridge(this.node, tap, link, vlan)
    else if (mode === 'openvswitch') await joinSwitch(this.node, nic, tap)
    else if (mode !== 'routed')
      throw new HypervisorFailure(
        `NICs of mode '${mode}' are connected by the script ${PATH.NIC_SCRIPT} alone, and this node has none that can be executed`,
      )
    await nicCommand(this.node.run, ['ip', 'link', 'set', 'dev', tap, 'up'])
    if (mode === 'routed') await routeTo(this.node, nic, tap, link)
  }

  private async custom(script: string): Promise<string | undefined> {
    const local = this.node.paths.local(script)
    return (await accessible(this.node.files, local, constants.X_OK)) ? local : undefined
  }
}

function nicEnvironment(instance: InstanceDict, nic: NicDict, index: number, tap: string): Record<string, string> {
  const { mode = 'bridged', link = '', vlan = '' } = nic.nicparams
  return {
    ...{ INSTANCE: instance.name, MAC: nic.mac, MODE: mode, LINK: link, VLAN: vlan },
    ...{
      INTERFACE: tap,
      INTERFACE_INDEX: String(index),
      INTERFACE_UUID: nic.uuid,
      TAGS: (instance.tags ?? []).join(' '),
    },
    ...(nic.ip === undefined ? {} : { IP: nic.ip }),
    ...(nic.name === undefined ? {} : { INTERFACE_NAME: nic.name }),
    ...(mode === 'bridged' ? { BRIDGE: link } : {}),
    ...(nic.netinfo ? networkVariables(nic.netinfo) : {}),
  }
}
