// Node calls that change the devices of a running instance.
import type { DiskDict, InstanceDict, NicDict } from '../../rpc/node/dicts'
import type { Handlers, NodeContext } from '../context'
import { fail } from '../failure'
import { HypervisorFailure } from '../hypervisor/hypervisor'
import type { HotplugAction, HotplugDevice, LinkedDisk } from '../hypervisor/hypervisor'
import { isList } from '../hypervisor/kvm/qmp'
import { Disks } from '../storage/disks'
import { linkDisk } from '../storage/links'
import { orFail } from './instance'

export const instanceHotplugHandlers = {
  async hotplug_supported(context, instance) {
    await checked(context.hypervisor(instance.hypervisor).checkHotplug(instance))
    return null
  },

  async hotplug_device(context, instance, action, target, device, extra, index) {
    const hypervisor = context.hypervisor(instance.hypervisor)
    const desired = actionOf(action)
    const described = await deviceOf(context, instance, target, device, extra, index)
    await checked(hypervisor.checkHotplug(instance, desired, described.target))
    const { remarks = [] } = await orFail('Hotplug failed', hypervisor.hotplug(instance, desired, described, index))
    return remarks.length === 0 ? null : remarks
  },

  async resize_disk(context, instance, disk, size_bytes) {
    const work = context.hypervisor(instance.hypervisor).resizeDisk(instance, disk, size_bytes)
    await orFail(`Failed to resize disk ${disk.iv_name ?? disk.uuid} of the running instance`, work)
    return null
  },
} satisfies Partial<Handlers>

async function checked(check: Promise<void>): Promise<void> {
  try {
    await check
  } catch (error) {
    if (error instanceof HypervisorFailure) fail(`Hotplug is not supported: ${error.message}`)
    throw error
  }
}

function actionOf(action: string): HotplugAction {
  if (action === 'hotadd' || action === 'hotremove' || action === 'hotmod') return action
  return fail(`Unknown hotplug action '${action}'`)
}

async function deviceOf(
  context: NodeContext,
  instance: InstanceDict,
  target: string,
  device: DiskDict | NicDict,
  extra: unknown,
  index: number,
): Promise<HotplugDevice> {
  if (target === 'nic' && 'mac' in device) return { target, nic: device }
  if (target !== 'disk' || !('dev_type' in device)) return fail(`Not a device that can be plugged: ${target}`)
  const known = linkOf(context, device, extra)
  if (known !== undefined) return { target, disk: known }
  const assembled = await new Disks(context).assemble(device)
  return { target, disk: await linkDisk(context, instance.name, device, index, assembled) }
}

/** The link and the URI from `blockdev_assemble`; the disk is assembled here if the caller has none. */
function linkOf(context: NodeContext, disk: DiskDict, extra: unknown): LinkedDisk | undefined {
  if (!isList(extra)) return undefined
  const [link, uri] = extra
  if (typeof link !== 'string') return undefined
  return { disk, link: context.paths.fromWire(link), ...(typeof uri === 'string' && uri !== '' ? { uri } : {}) }
}
