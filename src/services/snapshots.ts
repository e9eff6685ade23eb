// The noted snapshots of an instance's disks, with what their nodes say of them.
import { findInstance, instanceDisks } from '../config/lookup'
import { diskDict } from '../config/rpc-dicts'
import { recordGet } from '../config/records'
import { mapBounded } from '../lib/work/bounded'
import type { ConfigData, Disk, GantryData, Instance } from '../model/config'
import { ECODE, OpPrereqError } from '../model/errors'
import { DISKS_AT_ONCE } from '../model/limits/storage'
import {
  type DiskSnapshot,
  isSeenByNodes,
  SNAPSHOTS_SECTION,
  type ShownSnapshot,
  snapshotDisk,
  snapshotsOf,
  snapshotStatus,
} from '../model/snapshots'
import type { MasterContext } from './master-context'

type Ask = Pick<MasterContext['questions'], 'ask'>

/** `config` is the part that the caller may know. */
export async function shownSnapshots(
  questions: Ask,
  config: ConfigData,
  gantry: GantryData,
  name: string,
): Promise<ShownSnapshot[]> {
  const instance = findInstance(config, name)
  if (instance === undefined) throw new OpPrereqError(`Instance '${name}' not known`, ECODE.NOENT)
  const section = gantry.sections[SNAPSHOTS_SECTION] ?? {}
  const noted = instanceDisks(config, instance).flatMap((disk, index) =>
    snapshotsOf(section, disk.uuid).map((snapshot) => ({ disk, index, snapshot })),
  )
  return mapBounded(noted, DISKS_AT_ONCE, async ({ disk, index, snapshot }): Promise<ShownSnapshot> => {
    const { name: own, logical_id, size, ctime, node } = snapshot
    const found = await foundOn(questions, config, instance, disk, snapshot)
    return {
      ...{ disk: index, name: own, logical_id, size, ctime },
      node: node === null ? null : (recordGet(config.nodes, node)?.name ?? node),
      status: snapshotStatus(snapshot, found),
    }
  })
}

/** Null if it is missing; undefined if its node does not tell. */
async function foundOn(
  questions: Ask,
  config: ConfigData,
  instance: Instance,
  disk: Disk,
  snapshot: DiskSnapshot,
): Promise<{ readonly ldisk_status: number } | null | undefined> {
  const node = recordGet(config.nodes, snapshot.node ?? instance.primary_node)
  if (node === undefined || !isSeenByNodes(snapshot)) return undefined
  const dict = diskDict(config, snapshotDisk(disk, snapshot), recordGet(config.nodegroups, node.group))
  const answer = await questions.ask(node, 'blockdev_find', [dict])
  return answer.ok ? answer.payload : undefined
}
