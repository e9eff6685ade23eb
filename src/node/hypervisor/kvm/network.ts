// NICs of KVM instances on this node: a tap device joined to the NIC's network, or, where this process may not make one or the
// network is not here, QEMU's own user-mode network (the guest reaches out through the node, nobody reaches in).
import { constants } from '../../../lib/files'
import { USER_MODE_LINK } from '../../../model/constants/params'
import type { InstanceDict, NicDict } from '../../../rpc/node/dicts'
import { HypervisorFailure } from '../hypervisor'
import type { HypervisorContext } from '../hypervisor'
import { joinBridge, parseVlans } from '../../network/bridge'
import type { NicBackend } from './devices'
import { accessible, canMakeTaps } from './host'
import type { KvmLayout } from './layout'
import { nicCommand } from '../../network/nic-command'
import type { KvmParams } from './params'

/** Noted for a NIC in the place of its tap device's name. */
export const USER_MODE = 'user'
/** An administrator's own way to connect a NIC; in Ganeti's place, with Ganeti's environment. */
const CUSTOM_SCRIPTS: Readonly<Record<string, string>> = {
  bridged: '/etc/ganeti/kvm-vif-bridge',
  routed: '/etc/ganeti/kvm-vif-routed',
  openvswitch: '/etc/ganeti/kvm-vif-openvswitch',
  ext: '/etc/ganeti/kvm-vif-ext',
}

export class KvmNetwork {
  constructor(
    private readonly context: HypervisorContext,
    private readonly layout: KvmLayout,
  ) {}

  /** Makes the NIC's end on this node, not yet connected, and notes it in the runtime files. */
  async prepare(instance: InstanceDict, nic: NicDict, index: number, params: KvmParams, user?: string) {
    const backend = await this.makeBackend(instance, nic, params, user)
    await this.context.files.mkdir(this.layout.nicDir(instance.name), { recursive: true, mode: 0o775 })
    const note = backend.kind === 'tap' ? backend.interface : USER_MODE
    await this.context.files.writeFile(this.layout.nicFile(instance.name, index), note)
    return backend
  }

  async connect(instance: InstanceDict, nic: NicDict, index: number, backend: NicBackend): Promise<void> {
    if (backend.kind === 'user') return
    const tap = backend.interface
    const { mode = 'bridged', link = '', vlan = '' } = nic.nicparams
    const custom = this.customScript(mode)
    if (custom !== undefined && (await accessible(this.context.files, custom, constants.X_OK)))
      return await nicCommand(this.context.run, [custom, tap], nicEnvironment(instance, nic, index, tap))
    if (mode === 'bridged') await joinBridge(this.context, tap, link, vlan)
    else if (mode === 'openvswitch')
      await nicCommand(this.context.run, ['ovs-vsctl', '--may-exist', 'add-port', link, tap, ...vlanOptions(vlan)])
    else if (mode !== 'routed') throw new HypervisorFailure(`NIC mode '${mode}' needs a script ${custom ?? ''}`)
    await nicCommand(this.context.run, ['ip', 'link', 'set', 'dev', tap, 'up'])
    if (mode === 'routed') await this.route(nic, tap, link)
  }

  /** The backends of a running instance's NICs, by number: names of tap devices, or `user`. */
  async notes(instanceName: string): Promise<Map<number, string>> {
    const directory = this.layout.nicDir(instanceName)
    const entries = await this.context.files.readdir(directory).catch(() => [])
    const notes = new Map<number, string>()
    for (const entry of entries)
      notes.set(Number(entry), (await this.context.files.readFile(`${directory}/${entry}`, 'utf8')).trim())
    return notes
  }

  /** Before a NIC is plugged in: the numbers of those that will be behind it move up. */
  async makeRoom(instanceName: string, index: number): Promise<void> {
    const later = [...(await this.notes(instanceName)).keys()].filter((key) => key >= index).sort((a, b) => b - a)
    for (const key of later)
      await this.context.files.rename(
        this.layout.nicFile(instanceName, key),
        this.layout.nicFile(instanceName, key + 1),
      )
  }

  /** After a NIC was unplugged: its tap goes, and the numbers of those behind it move down as in the runtime data. */
  async forget(instanceName: string, index: number): Promise<void> {
    await this.release(instanceName, index)
    for (const later of [...(await this.notes(instanceName)).keys()].filter((key) => key > index).sort((a, b) => a - b))
      await this.context.files.rename(
        this.layout.nicFile(instanceName, later),
        this.layout.nicFile(instanceName, later - 1),
      )
  }

  /** Removes the tap devices of an instance that is gone, or of one NIC. */
  async release(instanceName: string, only?: number): Promise<void> {
    for (const [index, note] of await this.notes(instanceName)) {
      if (only !== undefined && index !== only) continue
      if (note !== USER_MODE) await this.context.run(['ip', 'link', 'delete', 'dev', note], { timeout_s: 30 })
      await this.context.files.rm(this.layout.nicFile(instanceName, index), { force: true })
    }
  }

  private async makeBackend(
    instance: InstanceDict,
    nic: NicDict,
    params: KvmParams,
    user?: string,
  ): Promise<NicBackend> {
    const reason = await this.userModeReason(nic)
    if (reason !== undefined) return { kind: 'user', ...(nic.nicparams.link === USER_MODE_LINK ? {} : { reason }) }
    const { vhost, queues, flags } = tapFeatures(
      params,
      await accessible(this.context.files, '/dev/vhost-net', constants.R_OK),
    )
    if (!vhost && params.flag('vhost_net'))
      this.context.log.info({ instance: instance.name, nic: nic.uuid }, 'NIC runs without vhost_net')
    // Random, not counted: several virtual nodes share one kernel's names.
    const tap = `tap${this.context.random.hex(4)}`
    const owner = user === undefined ? [] : ['user', user.split(':')[0] ?? user]
    await nicCommand(this.context.run, ['ip', 'tuntap', 'add', 'dev', tap, 'mode', 'tap', ...owner, ...flags])
    return { kind: 'tap', interface: tap, vhost, queues }
  }

  private async userModeReason(nic: NicDict): Promise<string | undefined> {
    if (!(await canMakeTaps(this.context.files))) return 'this process may not create tap devices'
    const { mode = 'bridged', link = '' } = nic.nicparams
    const custom = this.customScript(mode)
    if (mode !== 'bridged' || (custom !== undefined && (await accessible(this.context.files, custom, constants.X_OK))))
      return undefined
    return (await accessible(this.context.files, `/sys/class/net/${link}/bridge`))
      ? undefined
      : `there is no bridge ${link} on this node`
  }

  private customScript(mode: string): string | undefined {
    const script = CUSTOM_SCRIPTS[mode]
    return script === undefined ? undefined : this.context.paths.local(script)
  }

  /** The node answers for the instance's address and hands its packets on, by the routing table that `link` names. */
  private async route(nic: NicDict, tap: string, table: string): Promise<void> {
    if (nic.ip === undefined) throw new HypervisorFailure(`Routed NIC ${nic.uuid} has no IP address`)
    const family = nic.ip.includes(':') ? '-6' : '-4'
    const names = family === '-4' ? ['proxy_arp', 'forwarding'] : ['proxy_ndp', 'forwarding']
    const version = family === '-4' ? 'ipv4' : 'ipv6'
    for (const name of names) await this.context.files.writeFile(`/proc/sys/net/${version}/conf/${tap}/${name}`, '1')
    await nicCommand(this.context.run, [
      'ip',
      family,
      'route',
      'replace',
      nic.ip,
      'dev',
      tap,
      ...(table === '' ? [] : ['table', table]),
    ])
  }
}

/** The features of a NIC's tap device; only paravirtual NICs make use of them. */
export function tapFeatures(params: KvmParams, vhostHere: boolean) {
  const paravirtual = params.text('nic_type') === 'paravirtual'
  const queues = paravirtual ? Math.max(1, params.number('virtio_net_queues')) : 1
  const flags = [
    ...(paravirtual && params.flag('vnet_hdr') ? ['vnet_hdr'] : []),
    ...(queues > 1 ? ['multi_queue'] : []),
  ]
  return { vhost: paravirtual && params.flag('vhost_net') && vhostHere, queues, flags }
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
    ...(nic.netinfo ? { NETWORK_NAME: nic.netinfo.name, NETWORK_SUBNET: nic.netinfo.network } : {}),
  }
}
