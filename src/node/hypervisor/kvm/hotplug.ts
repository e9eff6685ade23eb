// Adds and removes disks and NICs while the guest runs, and tells it that a disk has grown. The runtime data follow, so
// that the next reboot or migration has the same devices.
import { HypervisorFailure } from '../hypervisor'
import type { HotplugAction, HotplugDevice, HotplugTarget, LinkedDisk, Plugged } from '../hypervisor'
import type { DiskDict, InstanceDict, NicDict } from '../../../rpc/node/dicts'
import { errorText } from '../../../lib/system-failure'
import { UNPLUG_S } from '../../../model/limits/hypervisor'
import {
  type BlockOptions,
  type NicBackend,
  PlaceAllocator,
  asRuntimeDisk,
  deviceId,
  diskSetup,
  isScsi,
  nicSetup,
} from './devices'
import { backingOf } from './host'
import { optionAfter, userOf } from './launch'
import type { KvmMachines } from './machines'
import { remarksOn } from './nics'
import { KvmParams } from './params'
import { PciBus } from './pci'
import { QmpError } from './qmp'
import type { Qmp } from './qmp'
import type { DevicePlace, KvmRuntime } from './runtime'
import { lent, lentDevices } from './security'
import { seedPlace } from './cloud-init-seed'

export async function checkHotplug(
  machines: KvmMachines,
  instance: InstanceDict,
  action?: HotplugAction,
  target?: HotplugTarget,
): Promise<void> {
  await machines.running(instance.name, `Instance ${instance.name} is not running`)
  const runtime = await machines.runtime(instance.name)
  if (!busOf(runtime).takesMore)
    throw new HypervisorFailure(
      'Hotplug is not possible: the machine of this instance has no free port for a new device. One that was started by an earlier version ' +
        'or by Ganeti gets its ports when it is stopped and started',
    )
  const params = new KvmParams(runtime.hvparams)
  const disk = params.text('disk_type')
  const nic = params.text('nic_type')
  if (target !== undefined && action !== 'hotremove' && params.flag('use_chroot'))
    throw new HypervisorFailure(
      `Hotplug of ${target === 'disk' ? 'disks' : 'NICs'} is not supported with use_chroot: QEMU cannot see ` +
        `${target === 'disk' ? 'them' : 'their devices'} any more. It does when the instance is stopped and started`,
    )
  if (target === 'disk' && disk !== 'paravirtual' && !isScsi(disk))
    throw new HypervisorFailure(`Hotplug is not supported for device type ${disk}`)
  if (target === 'nic' && nic !== 'paravirtual')
    throw new HypervisorFailure(`Hotplug is not supported for device type ${nic}`)
}

export async function hotplug(
  machines: KvmMachines,
  instance: InstanceDict,
  action: HotplugAction,
  device: HotplugDevice,
  index: number,
): Promise<Plugged> {
  await checkHotplug(machines, instance, action, device.target)
  const runtime = await machines.runtime(instance.name)
  if (device.target === 'disk') {
    if (action === 'hotadd') return { place: await addDisk(machines, instance, runtime, device.disk, index) }
    if (action === 'hotremove') return { place: await removeDisk(machines, instance, runtime, device.disk.disk) }
    throw new HypervisorFailure('A disk cannot be changed while the instance runs, only added or removed')
  }
  if (action === 'hotadd') return await addNic(machines, instance, runtime, device.nic, index)
  const place = await removeNic(machines, instance, runtime, device.nic)
  if (action === 'hotremove') return { place }
  return await replaceNic(machines, instance, runtime, device.nic, index, place)
}

/** If the guest does not take the changed NIC, it gets the former one back. */
async function replaceNic(
  machines: KvmMachines,
  instance: InstanceDict,
  before: KvmRuntime,
  nic: NicDict,
  index: number,
  place: DevicePlace | undefined,
) {
  const former = before.nics.find((entry) => entry.uuid === nic.uuid)
  const add = async (one: NicDict) =>
    addNic(machines, instance, await machines.runtime(instance.name), one, index, place)
  try {
    return await add(nic)
  } catch (error) {
    if (former) await restored(add(former), error)
    throw error
  }
}

/** If restoring the former NIC fails, the error contains both failures. */
async function restored(work: Promise<unknown>, cause: unknown): Promise<void> {
  await work.catch((error: unknown) => {
    throw new HypervisorFailure(
      `${errorText(cause)}; the former NIC could not be given back, so the guest has none: ${errorText(error)}`,
      { cause },
    )
  })
}

export async function resizeDisk(machines: KvmMachines, instance: InstanceDict, disk: DiskDict, size_bytes: number) {
  if (!(await machines.find(instance.name))) return
  const node = deviceId('disk', disk)
  const { disks, hvparams } = await machines.runtime(instance.name)
  const entry = disks.find((one) => one.disk.uuid === disk.uuid)
  const link = entry && machines.layout.localLink(entry.link)
  const backing = link === undefined ? undefined : await backingOf(machines.context.files, link)
  await machines.qmp(instance.name, async (qmp) => {
    if (entry !== undefined && link !== undefined && backing?.kind === 'server')
      await reopen(qmp, node, diskSetup(entry, link, new KvmParams(hvparams), backing).blockdev)
    await qmp.run('block_resize', { 'node-name': node, size: size_bytes })
  })
}

/**
 * A server tells the size of its disk only when the disk is opened. So the guest's device gets another node, and then a
 * new one under the old name, by which everything else finds it. It always has one of them.
 */
async function reopen(qmp: Qmp, node: string, blockdev: BlockOptions): Promise<void> {
  const between = `${node}-new`
  const use = (drive: string) =>
    qmp.run('qom-set', { path: `/machine/peripheral/${node}`, property: 'drive', value: drive })
  const drop = (name: string) => qmp.run('blockdev-del', { 'node-name': name })
  // The device may still have one from an attempt that did not end.
  await qmp.run('blockdev-add', { ...blockdev, 'node-name': between }).catch((error: unknown) => {
    if (!/^Duplicate/.test(errorText(error))) throw error
  })
  await undoing(
    () => use(between),
    () => drop(between),
  )
  await ifThere(drop(node), NO_NODE)
  await qmp.run('blockdev-add', blockdev)
  await use(node)
  await drop(between)
}

async function addDisk(
  machines: KvmMachines,
  instance: InstanceDict,
  runtime: KvmRuntime,
  entry: LinkedDisk,
  index: number,
) {
  const place = allocator(runtime).disk(entry.disk)
  const disk = asRuntimeDisk(entry, place, machines.layout.virtualLink(entry.link))
  const params = new KvmParams(runtime.hvparams)
  const setup = diskSetup(
    { ...entry, disk: disk.disk },
    entry.link,
    params,
    await backingOf(machines.context.files, entry.link),
  )
  const { command } = await machines.running(instance.name, `Instance ${instance.name} is not running`)
  await machines.qmp(instance.name, async (qmp) => {
    await lent(machines.context, entry.link, userOf(command), () => qmp.run('blockdev-add', setup.blockdev))
    await undoing(
      () => qmp.run('device_add', setup.device),
      () => qmp.run('blockdev-del', { 'node-name': place['id'] }),
    )
  })
  await machines.save(instance.name, { ...runtime, disks: runtime.disks.toSpliced(index, 0, disk) })
  return place
}

async function removeDisk(machines: KvmMachines, instance: InstanceDict, runtime: KvmRuntime, disk: DiskDict) {
  const found = runtime.disks.find((entry) => entry.disk.uuid === disk.uuid)
  const id = String(found?.disk.hvinfo?.['id'] ?? deviceId('disk', disk))
  await machines.qmp(instance.name, async (qmp) => {
    await unplug(qmp, id)
    // A disk that Ganeti plugged in has no block node of its own: its backend goes with the device.
    await ifThere(qmp.run('blockdev-del', { 'node-name': id }), NO_NODE)
  })
  await machines.save(instance.name, { ...runtime, disks: runtime.disks.filter((entry) => entry !== found) })
  return found?.disk.hvinfo
}

async function addNic(
  machines: KvmMachines,
  instance: InstanceDict,
  runtime: KvmRuntime,
  nic: NicDict,
  index: number,
  formerPlace?: DevicePlace,
) {
  const place = formerPlace ?? allocator(runtime).nic(nic)
  const placed = { ...nic, hvinfo: place }
  const { command } = await machines.running(instance.name, `Instance ${instance.name} is not running`)
  // A NIC that was added only for the next start has no number in the running guest.
  const at = Math.min(index, runtime.nics.length)
  let remarks: readonly string[] = []
  const params = new KvmParams(runtime.hvparams)
  await machines.nics.makeRoom(instance.name, at)
  await undoing(
    async () => {
      const backend = await machines.nics.prepare(instance, nic, at, params, userOf(command))
      remarks = remarksOn(backend, at)
      await machines.nics.connect(instance, nic, at, backend)
      const setup = nicSetup(placed, backend)
      await machines.qmp(instance.name, async (qmp) => {
        const add = () => qmp.run('netdev_add', setup.netdev)
        await lentDevices(machines.context, devicesOf(backend), userOf(command), add)
        await undoing(
          () => qmp.run('device_add', setup.device),
          () => qmp.run('netdev_del', { id: place['id'] }),
        )
      })
    },
    () => machines.nics.forget(instance.name, at),
  )
  await machines.save(instance.name, { ...runtime, nics: runtime.nics.toSpliced(at, 0, placed) })
  return { place, remarks }
}

/** Without the second one QEMU would do with less and say nothing. */
const devicesOf = (backend: NicBackend): string[] =>
  backend.kind === 'user' ? [] : ['/dev/net/tun', ...(backend.vhost ? ['/dev/vhost-net'] : [])]

async function removeNic(machines: KvmMachines, instance: InstanceDict, runtime: KvmRuntime, nic: NicDict) {
  const index = runtime.nics.findIndex((entry) => entry.uuid === nic.uuid)
  const place = runtime.nics[index]?.hvinfo
  const id = String(place?.['id'] ?? deviceId('nic', nic))
  await machines.qmp(instance.name, async (qmp) => {
    await unplug(qmp, id)
    await ifThere(qmp.run('netdev_del', { id }), NO_DEVICE)
  })
  if (index !== -1) await machines.nics.forget(instance.name, index)
  await machines.save(instance.name, { ...runtime, nics: runtime.nics.filter((_, at) => at !== index) })
  return place
}

/**
 * The guest decides when it releases a device; one without a working system never does. A device that was added for the
 * next start is missing. A device that the guest released after our time limit is already gone.
 */
async function unplug(qmp: Qmp, id: string): Promise<void> {
  const observed = qmp.eventAfter(
    'DEVICE_DELETED',
    (data) => data['device'] === id,
    UNPLUG_S,
    () => qmp.run('device_del', { id }),
  )
  await ifThere(observed, NO_DEVICE)
}

const NO_DEVICE = (error: QmpError): boolean => error.qmpClass === 'DeviceNotFound' || /not found/.test(error.message)
const NO_NODE = (error: QmpError): boolean => /Failed to find node/.test(error.message)

async function ifThere(work: Promise<unknown>, isMissing: (error: QmpError) => boolean): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof QmpError && isMissing(error))) throw error
  }
}

async function undoing(action: () => Promise<unknown>, undo: () => Promise<unknown>): Promise<void> {
  try {
    await action()
  } catch (error) {
    await undo().catch(() => undefined)
    throw error
  }
}

function allocator(runtime: KvmRuntime): PlaceAllocator {
  const pci = busOf(runtime)
  return new PlaceAllocator(new KvmParams(runtime.hvparams), (first) => pci.hotPlace(first), placesOf(runtime))
}

const busOf = (runtime: KvmRuntime): PciBus => new PciBus(machineOf(runtime), runtime.command, placesOf(runtime))

const placesOf = (runtime: KvmRuntime): (DevicePlace | undefined)[] => [
  ...runtime.disks.map((entry) => entry.disk.hvinfo),
  ...runtime.nics.map((nic) => nic.hvinfo),
  seedPlace(runtime),
]

const machineOf = (runtime: KvmRuntime): string => optionAfter(runtime.command, '-machine') ?? ''
