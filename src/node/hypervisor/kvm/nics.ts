// NICs of KVM instances on this node: a tap device joined to the NIC's network. On a virtual node, where this process may not make one or
// the network is not here, it is QEMU's own user-mode network (the guest reaches out through the node, nobody reaches in).
import { accessible, constants } from '../../../lib/files'
import { COMMUNICATION, isCommunicationAddress } from '../../../model/constants/communication'
import { USER_MODE_LINK } from '../../../model/constants/params'
import type { Paths } from '../../../lib/paths'
import { errorText } from '../../../lib/system-failure'
import type { InstanceDict, NicDict } from '../../../rpc/node/dicts'
import { isVirtualNode } from '../../network/addresses'
import { asksNode, relaySocket } from '../../network/communication'
import { canMakeTaps, Taps } from '../../network/taps'
import { type HypervisorContext, HypervisorFailure } from '../hypervisor'
import type { NicBackend } from './devices'
import type { KvmLayout } from './layout'
import type { KvmParams } from './params'

const NO_VHOST =
  "runs without vhost_net, so QEMU passes its packets on, which takes more of the node's processors: " +
  'there is no /dev/vhost-net on this node (modprobe vhost_net makes it)'

/** Noted for a NIC instead of its tap device's name. */
export const USER_MODE = 'user'

/** Says how the NIC is otherwise than was asked for. */
export function remarksOn(backend: NicBackend, index: number): string[] {
  if (backend.kind === 'tap') return backend.remarks.map((remark) => `NIC ${index} ${remark}`)
  if (backend.reason === undefined) return []
  const what = "has QEMU's user-mode network, through which the guest reaches out and nobody reaches in"
  return [`NIC ${index} ${what}: ${backend.reason}`]
}

export class KvmNics {
  private readonly taps: Taps

  constructor(
    private readonly context: HypervisorContext,
    private readonly layout: KvmLayout,
  ) {
    this.taps = new Taps(context)
  }

  /** Makes the NIC's unconnected end on this node, and notes it in the runtime files. */
  async prepare(instance: InstanceDict, nic: NicDict, index: number, params: KvmParams, user?: string) {
    const backend = await this.makeBackend(nic, params, user)
    if (backend.kind === 'user' && backend.reason !== undefined && !isVirtualNode(this.context.paths))
      throw new HypervisorFailure(
        `${nicName(nic, index)} of instance ${instance.name} cannot be had on node ${this.context.paths.hostname}: ${backend.reason}. Set that right on ` +
          `the node, or give the NIC what is there: gnt-instance modify --net ${index}:modify,link=LINK ${instance.name}`,
      )
    await this.context.files.mkdir(this.layout.nicDir(instance.name), { recursive: true, mode: 0o775 })
    const note = backend.kind === 'tap' ? backend.interface : USER_MODE
    await this.context.files.writeFile(this.layout.nicFile(instance.name, index), note)
    return backend
  }

  async connect(instance: InstanceDict, nic: NicDict, index: number, backend: NicBackend): Promise<void> {
    if (backend.kind === 'user') return
    const { hostname } = this.context.paths
    await this.taps.connect(instance, nic, index, backend.interface).catch((error: unknown) => {
      throw new HypervisorFailure(
        `${nicName(nic, index)} of instance ${instance.name} on node ${hostname}: ${errorText(error)}`,
        {
          cause: error,
        },
      )
    })
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

  /** Before a NIC is plugged in: the numbers of later NICs move up. */
  async makeRoom(instanceName: string, index: number): Promise<void> {
    const later = [...(await this.notes(instanceName)).keys()].filter((key) => key >= index).sort((a, b) => b - a)
    for (const key of later)
      await this.context.files.rename(
        this.layout.nicFile(instanceName, key),
        this.layout.nicFile(instanceName, key + 1),
      )
  }

  /** After a NIC was unplugged: removes its tap; the numbers of later NICs move down, as in the runtime data. */
  async forget(instanceName: string, index: number): Promise<void> {
    await this.release(instanceName, index)
    for (const later of [...(await this.notes(instanceName)).keys()].filter((key) => key > index).sort((a, b) => a - b))
      await this.context.files.rename(
        this.layout.nicFile(instanceName, later),
        this.layout.nicFile(instanceName, later - 1),
      )
  }

  /** Removes the tap devices of a dead instance, or of one NIC. */
  async release(instanceName: string, only?: number): Promise<void> {
    for (const [index, note] of await this.notes(instanceName)) {
      if (only !== undefined && index !== only) continue
      if (note !== USER_MODE) await this.taps.remove(note)
      await this.context.files.rm(this.layout.nicFile(instanceName, index), { force: true })
    }
  }

  private async makeBackend(nic: NicDict, params: KvmParams, user?: string): Promise<NicBackend> {
    const { paths, files } = this.context
    const asks = asksNode(nic)
    // Virtual nodes share one kernel, in which the metadata address would belong to all of them.
    if (asks && (isVirtualNode(paths) || !(await canMakeTaps(files)))) return userModeMetadata(paths, nic)
    const reason = await this.taps.refusal(nic)
    if (reason !== undefined) return { kind: 'user', ...(nic.nicparams.link === USER_MODE_LINK ? {} : { reason }) }
    const vhostHere = await accessible(this.context.files, '/dev/vhost-net', constants.R_OK)
    const { vhost, queues, flags } = tapFeatures(params, vhostHere)
    const slower = !vhostHere && params.flag('vhost_net') && params.text('nic_type') === 'paravirtual'
    const owner = user?.split(':')[0]
    const tap = asks ? await this.taps.makeForCommunication(owner, flags) : await this.makeTap(owner, flags)
    const unreached = await this.taps.unreached(nic)
    const remarks = [...(slower ? [NO_VHOST] : []), ...(unreached === undefined ? [] : [unreached])]
    return { kind: 'tap', interface: tap, vhost, queues, remarks }
  }

  private async makeTap(owner: string | undefined, flags: readonly string[]): Promise<string> {
    // Random, not counted: several virtual nodes share one kernel's names.
    const tap = `tap${this.context.random.hex(4)}`
    await this.taps.make(tap, owner, flags)
    return tap
  }
}

const nicName = (nic: NicDict, index: number): string => `NIC ${index} (${nic.name ?? nic.uuid})`

/** QEMU's network must be the default one, since it must contain the metadata address. */
function userModeMetadata(paths: Paths, { ip = '' }: NicDict): NicBackend {
  if (isCommunicationAddress(ip)) return { kind: 'user', metadata: { ip, socket: relaySocket(paths, ip) } }
  return { kind: 'user', reason: `${ip} is not in ${COMMUNICATION.network}, so the instance cannot ask for metadata` }
}

/** The features of a NIC's tap device; only paravirtual NICs use them. */
export function tapFeatures(params: KvmParams, vhostHere: boolean) {
  const paravirtual = params.text('nic_type') === 'paravirtual'
  const queues = paravirtual ? Math.max(1, params.number('virtio_net_queues')) : 1
  const flags = [
    ...(paravirtual && params.flag('vnet_hdr') ? ['vnet_hdr'] : []),
    ...(queues > 1 ? ['multi_queue'] : []),
  ]
  return { vhost: paravirtual && params.flag('vhost_net') && vhostHere, queues, flags }
}
