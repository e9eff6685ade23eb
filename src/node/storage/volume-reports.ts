// What this node reports about its volumes. They are volumes of LVM, or volumes in user space if the node uses these instead.
import type { NodeContext } from '../context'
import { mirrorList } from '../mirror/client'
import {
  type LogicalVolume,
  type PhysicalVolume,
  type VolumeGroup,
  logicalVolumes,
  modifyStorageUnit,
  physicalVolumes,
  repairStorageUnit,
  volumeGroups,
} from './lvm/units'
import { modifyUserUnit, repairUserUnit, userGroups, userPhysicalVolumes, userVolumes } from './user/volumes'

export interface VolumeReports {
  groups(): Promise<VolumeGroup[]>
  physical(): Promise<PhysicalVolume[]>
  /** The volumes of the given groups, or of all. */
  logical(groups?: readonly string[]): Promise<LogicalVolume[]>
  /** Changes a storage unit. */
  modify(type: string, name: string, changes: Readonly<Record<string, unknown>>): Promise<void>
  repair(type: string, name: string, operation: string): Promise<void>
}

type Source = Pick<NodeContext, 'run' | 'disk' | 'files' | 'userVolumes' | 'hostname' | 'paths' | 'clock'>

export function reportsOf(context: Source): VolumeReports {
  const { run, disk, files, userVolumes: folder, hostname } = context
  if (folder === undefined)
    return {
      groups: () => volumeGroups(run),
      physical: () => physicalVolumes(run),
      logical: (groups = []) => logicalVolumes(run, groups),
      modify: (type, name, changes) => modifyStorageUnit(run, type, name, changes),
      repair: (type, name, operation) => repairStorageUnit(run, type, name, operation),
    }
  const place = { files, userVolumes: folder, hostname }
  return {
    groups: () => userGroups(place),
    physical: () => userPhysicalVolumes(place),
    logical: async (groups = []) => {
      const mirrors = [...(await mirrorList(context)).values()]
      return userVolumes(place, groups, new Set(mirrors.flatMap(({ data, meta }) => [data ?? '', meta ?? ''])))
    },
    modify: (type, name, changes) => modifyUserUnit({ ...place, disk }, type, name, changes),
    repair: (type, name, operation) => repairUserUnit(place, type, name, operation),
  }
}

/** Keyed by `group/name`: the size as LVM writes it, whether the volume is inactive, and whether it is open. */
export type VolumeStates = Record<string, [size: string, inactive: boolean, open: boolean]>

/** A virtual volume is left out, because it cannot hold data. */
export async function volumeStates(reports: VolumeReports, groups: readonly string[]): Promise<VolumeStates> {
  const volumes = (await reports.logical(groups)).filter(({ attributes }) => !attributes.startsWith('v'))
  const entry = ({ vg, name, size, attributes }: LogicalVolume): [string, VolumeStates[string]] => [
    `${vg}/${name}`,
    [size, attributes[4] === '-', attributes[5] === 'o'],
  ]
  return Object.fromEntries(volumes.map(entry))
}
