// Disk files are sparse: they take room only as the guest writes, so more can be promised than exists.
import type { Cluster, Node } from '../../../model/config'
import { ECODE, OpPrereqError } from '../../../model/errors'
import type { UnitContext } from '../../unit-context'
import { sizeText } from './files'
import { directoryOf, type DiskTemplate, isInFileSystem } from '../../../model/templates'

/**
 * Refuses more than the file system's whole size. If only the free space is too small, writes that to the job's log.
 */
export async function checkFileSpace(
  ctx: UnitContext,
  { cluster, node, template }: { cluster: Cluster; node: Node; template: DiskTemplate },
  wanted_mib: number,
  ignore: boolean,
): Promise<void> {
  const directory = directoryOf(cluster, template)
  if (directory === undefined || !isInFileSystem(template) || wanted_mib <= 0) return
  const info = await ctx.nodes.attempt(node, 'node_info', [[[template, directory, []]], []])
  const space = info.ok ? info.payload[1]?.[0] : undefined
  const [free_mib, size_mib] = [space?.storage_free ?? null, space?.storage_size ?? null]
  if (free_mib === null || size_mib === null) return
  const [free, size] = [sizeText(free_mib), sizeText(size_mib)]
  const text = `The new disk space (${sizeText(wanted_mib)}) is more than ${directory} on node ${node.name}`
  if (wanted_mib > size_mib && !ignore)
    throw new OpPrereqError(
      `${text} can ever hold: ${size}, of which ${free} are free; ignore_ipolicy makes it nevertheless`,
      ECODE.NORES,
    )
  if (wanted_mib > free_mib)
    ctx.log.warning(`${text} has free now: ${free} of ${size}; writing fails when these are used up`)
}
