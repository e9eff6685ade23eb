// How much room a volume group has, in MiB, or in physical volumes where these are given away as a whole.
import type { Run } from '../../../lib/run-command'
import type { StorageInfo } from '../../../rpc/node/dicts'
import { isEmpty, standardSize_mib } from './placing'
import { physicalVolumes, volumeGroups } from './units'

/** Null stands for a group that is not there. */
export async function groupSpace(run: Run, name: string, exclusive: boolean): Promise<StorageInfo> {
  const group = (await volumeGroups(run)).find((one) => one.name === name)
  const free_mib = group && (exclusive ? await wholeSpace(run, name) : group.free_mib)
  return {
    ...{ type: 'lvm-vg', name },
    storage_free: free_mib === undefined ? null : Math.round(free_mib),
    storage_size: group === undefined ? null : Math.round(group.size_mib),
  }
}

/** Numbers of physical volumes, where anybody counts them. */
export async function spindleSpace(run: Run, name: string, exclusive: boolean): Promise<StorageInfo> {
  const volumes = exclusive ? await usable(run, name) : []
  return { type: 'lvm-pv', name, storage_free: volumes.filter(isEmpty).length, storage_size: volumes.length }
}

/** No disk gets a part of a physical volume. */
async function wholeSpace(run: Run, name: string): Promise<number> {
  const volumes = await usable(run, name)
  return volumes.length === 0 ? 0 : standardSize_mib(volumes) * volumes.filter(isEmpty).length
}

const usable = async (run: Run, group: string) =>
  (await physicalVolumes(run)).filter(({ vg, allocatable }) => vg === group && allocatable)
