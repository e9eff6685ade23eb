// The space of a volume group in MiB. Under exclusive storage only whole, empty physical volumes count as free.
import type { StorageInfo } from '../../../rpc/node/dicts'
import { isEmpty, standardSize_mib } from './placing'
import type { VolumeReports } from '../volume-reports'

/** Null if the group does not exist. */
export async function groupSpace(reports: VolumeReports, name: string, exclusive: boolean): Promise<StorageInfo> {
  const group = (await reports.groups()).find((one) => one.name === name)
  const free_mib = group && (exclusive ? await wholeSpace(reports, name) : group.free_mib)
  return {
    ...{ type: 'lvm-vg', name },
    storage_free: free_mib === undefined ? null : Math.round(free_mib),
    storage_size: group === undefined ? null : Math.round(group.size_mib),
  }
}

/** The number of physical volumes. Counted only under exclusive storage. */
export async function spindleSpace(reports: VolumeReports, name: string, exclusive: boolean): Promise<StorageInfo> {
  const volumes = exclusive ? await usable(reports, name) : []
  return { type: 'lvm-pv', name, storage_free: volumes.filter(isEmpty).length, storage_size: volumes.length }
}

/** Counts whole physical volumes, because no disk gets a part of one. */
async function wholeSpace(reports: VolumeReports, name: string): Promise<number> {
  const volumes = await usable(reports, name)
  return volumes.length === 0 ? 0 : standardSize_mib(volumes) * volumes.filter(isEmpty).length
}

const usable = async (reports: VolumeReports, group: string) =>
  (await reports.physical()).filter(({ vg, allocatable }) => vg === group && allocatable)
