// The noted snapshots of an instance's disks.
import { findInstance, instanceDisks } from '../config/lookup'
import { recordGet } from '../config/records'
import type { ConfigData, GantryData } from '../model/config'
import { ECODE, OpPrereqError } from '../model/errors'
import { SNAPSHOTS_SECTION, type ShownSnapshot, snapshotsOf } from '../model/snapshots'

/** `config` is the part that the caller may know. */
export function shownSnapshots(config: ConfigData, gantry: GantryData, name: string): ShownSnapshot[] {
  const instance = findInstance(config, name)
  if (instance === undefined) throw new OpPrereqError(`Instance '${name}' not known`, ECODE.NOENT)
  const section = gantry.sections[SNAPSHOTS_SECTION] ?? {}
  return instanceDisks(config, instance).flatMap(({ uuid }, disk) =>
    snapshotsOf(section, uuid).map(({ name: own, logical_id, size, ctime, node }) => ({
      ...{ disk, name: own, logical_id, size, ctime },
      node: node === null ? null : (recordGet(config.nodes, node)?.name ?? node),
    })),
  )
}
