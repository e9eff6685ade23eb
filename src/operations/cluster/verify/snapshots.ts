// Finds snapshots of users that no longer exist.
import { instanceDisks } from '../../../config/lookup'
import type { Instance } from '../../../model/config'
import { type DiskSnapshot, snapshotsOf } from '../../../model/snapshots'
import { diskIdOf } from '../../../model/templates'
import { fileOf } from './file-storage'
import type { GroupState } from './group-state'
import type { VerifyReport } from './report'

/** Checks only what nodes can list: volumes of the cluster's group, and files. */
export function verifySnapshots(report: VerifyReport, state: GroupState, instance: Instance): void {
  for (const [index, disk] of instanceDisks(state.config, instance).entries())
    for (const snapshot of snapshotsOf(state.snapshots, disk.uuid)) {
      const where = missingOn(state, instance, snapshot)
      if (where === undefined) continue
      const forget = `gnt-instance remove-snapshot --disk ${index}:snapshot_name=${snapshot.name} ${instance.name}`
      const text = `snapshot '${snapshot.name}' of disk/${index} missing on node ${where}; "${forget}" forgets it`
      report.error('EINSTANCEMISSINGDISK', instance.name, text, 'WARNING')
    }
}

function missingOn(state: GroupState, instance: Instance, snapshot: DiskSnapshot): string | undefined {
  const { node: only, dev_type, logical_id } = snapshot
  const uuid = only ?? instance.primary_node
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
