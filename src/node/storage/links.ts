// The stable names of an instance's disks: links `<instance>:<index>` in the run directory, which hypervisors open and keep
// through changes of the device below.
import type { Paths } from '../../lib/paths'
import { PATH } from '../../model/constants/paths'
import type { DiskDict, InstanceDict } from '../../rpc/node/dicts'
import type { LinkedDisk } from '../hypervisor/hypervisor'
import { Disks } from './disks'
import type { Device, StorageContext } from './storage'

type Places = Pick<StorageContext, 'paths' | 'files'>

/** A disk, its link, and the device to which the link leads. */
export interface DeviceLink extends LinkedDisk {
  readonly device: Device
}

/**
 * Opens all disks of an instance, which must be assembled, and links them in order: for a guest that begins, for programs that read or
 * write them, or for callers that only report them.
 */
export async function linkDisks(
  context: StorageContext,
  instance: InstanceDict,
  use: 'guest' | 'programs' | 'telling',
): Promise<DeviceLink[]> {
  const disks = new Disks(context)
  const linked: DeviceLink[] = []
  for (const [index, disk] of instance.disks_info.entries()) {
    const open = { guest: 'forGuest', programs: 'reached', telling: 'opened' } as const
    linked.push(await linkDisk(context, instance.name, disk, index, await disks[open[use]](disk)))
  }
  return linked
}

export async function linkDisk(
  context: Places,
  instanceName: string,
  disk: DiskDict,
  index: number,
  device: Device,
): Promise<DeviceLink> {
  const link = await makeLink(context, instanceName, index, device)
  return { disk, device, link, ...(device.uri === undefined ? {} : { uri: device.uri }) }
}

export const linkPath = (paths: Paths, instanceName: string, index: number): string =>
  `${paths.local(PATH.DISK_LINKS_DIR)}/${instanceName}:${index}`

let counter = 0

async function makeLink(
  { paths, files }: Places,
  instanceName: string,
  index: number,
  device: Device,
): Promise<string> {
  const link = linkPath(paths, instanceName, index)
  // If only a hypervisor can reach the disk, there is no device to link.
  if (device.path === '') {
    await files.rm(link, { force: true })
    return link
  }
  if ((await files.readlink(link).catch(() => undefined)) === device.path) return link
  await files.mkdir(paths.local(PATH.DISK_LINKS_DIR), { recursive: true, mode: 0o755 })
  // Several calls may link the same disk at the same time.
  const temporary = `${link}.${process.pid}.${counter++}.new`
  await files.symlink(device.path, temporary)
  await files.rename(temporary, link)
  return link
}

export async function removeLinks({ paths, files }: Places, instanceName: string, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await files.rm(linkPath(paths, instanceName, index), { force: true })
}
