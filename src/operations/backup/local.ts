// An instance's disks as files on a node of the same cluster, with a file that describes them.
import * as path from 'node:path'
import { instanceDisks } from '../../config/lookup'
import type { Node } from '../../model/config'
import { PATH } from '../../model/constants/paths'
import { carriedTo } from '../../model/disk-parameters'
import { copyDisks } from '../transfer/copy'
import type { ImpExpEnd } from '../../rpc/node/dicts'
import { dictOf, diskDicts, diskDictOf, type InstanceView } from '../instance/view'
import type { UnitContext } from '../unit-context'

/** Whether the export is complete, and whether each disk is. */
export type ExportResult = [finalized: boolean, disks: boolean[]]

export async function copyToNode(
  ctx: UnitContext,
  view: InstanceView,
  to: Node,
  compress: string,
  title = 'disk',
): Promise<ExportResult> {
  const { instance, primary } = view
  const dict = dictOf(view)
  const directory = path.posix.join(PATH.EXPORT_DIR, `${instance.name}.new`)
  const transfers = view.disks.map((disk, index) => ({
    name: `${title}/${index}`,
    source: diskEnd(view, index),
    target: ['file', [path.posix.join(directory, disk.uuid)]] as const,
  }))
  const disks = await copyDisks(ctx, { from: primary, to, instance: dict, compress }, transfers)
  if (!disks.every((ok) => ok)) {
    ctx.log.warning(
      `Some disk exports have failed; there may be leftover data for instance ${instance.name} on node ${to.name}`,
    )
    return [false, disks]
  }
  ctx.log.say(`Finalizing export on ${to.name}`)
  // The export's description keeps each disk's own parameters, not those of its group.
  const ownOfDisks = instanceDisks(view.config, instance).map(({ params, dev_type }) => carriedTo(params, dev_type))
  const own = diskDicts(view).map((disk, index) => ({ ...disk, params: ownOfDisks[index] ?? {} }))
  const result = await ctx.nodes.attempt(to, 'finalize_export', [dict, own])
  if (!result.ok)
    ctx.log.warning(`Could not finalize export for instance ${instance.name} on node ${to.name}: ${result.error}`)
  return [result.ok, disks]
}

/**
 * The scripts of its OS know which data of a disk matters, so the disk goes through them. Without an OS it is copied as
 * it is.
 */
export function diskEnd(view: InstanceView, index: number): ImpExpEnd {
  const disk = view.disks[index]
  if (disk === undefined) throw new Error(`instance ${view.instance.name} has no disk ${index}`)
  const dict = diskDictOf(view, disk)
  return view.instance.os === '' ? ['raw', [dict]] : ['script', [dict, index]]
}
