// Finds snapshots of users that no longer exist or have run full, and disks that are rolled back only in part.
import { instanceDisks } from '../../../config/lookup'
import { diskDict } from '../../../config/rpc-dicts'
import type { Disk, Instance } from '../../../model/config'
import { LOCAL_DISK_STATUS } from '../../../model/constants/disks'
import { type DiskSnapshot, snapshotDisk, snapshotsOf } from '../../../model/snapshots'
import { diskIdOf } from '../../../model/templates'
import type { UnitContext } from '../../unit-context'
import { fileOf } from './file-storage'
import type { GroupState, Scope } from './group-state'
import type { VerifyReport } from './report'

/** Looks only for what nodes can list: volumes of the cluster's group, and files. */
export function verifySnapshots(report: VerifyReport, state: GroupState, instance: Instance): void {
  for (const [index, disk] of instanceDisks(state.config, instance).entries())
    for (const snapshot of snapshotsOf(state.snapshots, disk.uuid)) {
      const { name } = instance
      const title = `snapshot '${snapshot.name}' of disk/${index}`
      const option = `--disk ${index}:snapshot_name=${snapshot.name} ${name}`
      const remove = `"gnt-instance remove-snapshot ${option}"`
      const missing = missingOn(state, instance, snapshot)
      const isInvalid = state.invalidSnapshots.has(keyOf(instance, snapshot))
      if (missing !== undefined)
        report.error(
          'EINSTANCEMISSINGDISK',
          name,
          `${title} missing on node ${missing}; ${remove} forgets it`,
          'WARNING',
        )
      if (isInvalid)
        report.error(
          ...(['EINSTANCEFAULTYDISK', name] as const),
          `${title} is invalid: more has changed since than it has room for, and its data is lost; ${remove} removes it`,
          'WARNING',
        )
      if (snapshot.restoring !== true || state.busy.has(name)) continue
      const repeat =
        missing === undefined && !isInvalid ? `"gnt-instance rollback-snapshot ${option}" does the rest, and ` : ''
      const text = `disk/${index} is rolled back to snapshot '${snapshot.name}' only in part, so the instance does not start`
      report.error('EINSTANCEFAULTYDISK', name, `${text}; ${repeat}${remove} keeps the disk as it is`)
    }
}

/** The snapshots that have run full, of instances of this group. Only those on LVM can. */
export async function askSnapshots(
  ctx: UnitContext,
  { config, group, nodes, instances }: Scope,
  section: GroupState['snapshots'],
): Promise<ReadonlySet<string>> {
  const requested = instances.flatMap((instance) =>
    instanceDisks(config, instance).flatMap((disk) =>
      snapshotsOf(section, disk.uuid)
        .filter(({ dev_type }) => diskIdOf(dev_type) === 'volume')
        .map((snapshot): Asked => ({ instance, disk, snapshot })),
    ),
  )
  const on = ({ uuid }: { readonly uuid: string }) =>
    requested.filter(({ instance, snapshot }) => holderOf(instance, snapshot) === uuid)
  const holders = nodes.filter((node) => on(node).length > 0)
  const results = await ctx.nodes.many(holders, 'blockdev_getmirrorstatus_multi', (node) => [
    on(node).map(({ disk, snapshot }) => diskDict(config, snapshotDisk(disk, snapshot), group)),
  ])
  const invalid = holders.flatMap((node) => {
    const result = results.get(node.uuid)
    const states = result?.ok === true ? result.payload : []
    return on(node).filter((_, position) => {
      const [ok, state] = states[position] ?? [false, '']
      return ok && state.ldisk_status === LOCAL_DISK_STATUS.faulty
    })
  })
  return new Set(invalid.map(({ instance, snapshot }) => keyOf(instance, snapshot)))
}

interface Asked {
  readonly instance: Instance
  readonly disk: Disk
  readonly snapshot: DiskSnapshot
}

const holderOf = (instance: Instance, { node }: DiskSnapshot): string => node ?? instance.primary_node

const keyOf = (instance: Instance, snapshot: DiskSnapshot): string =>
  JSON.stringify([holderOf(instance, snapshot), ...snapshot.logical_id])

function missingOn(state: GroupState, instance: Instance, snapshot: DiskSnapshot): string | undefined {
  const { node: only, dev_type, logical_id } = snapshot
  const uuid = holderOf(instance, snapshot)
  if (diskIdOf(dev_type) === 'volume') {
    const [vg, lv] = logical_id
    const image = state.images.find(({ node }) => node.uuid === uuid)
    return image?.volumes?.has(`${vg}/${lv}`) === false ? image.node.name : undefined
  }
  const file = fileOf(snapshot)
  const listing = state.listings.find(
    ({ node, template, directory }) =>
      template === dev_type && (only === null || node.uuid === uuid) && file?.startsWith(`${directory}/`),
  )
  return file !== undefined && listing?.files.has(file) === false ? listing.node.name : undefined
}
