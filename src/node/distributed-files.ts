// Files that an administrator has sent from the master to all nodes: those of hypervisors, and those of a list. A node writes, and as
// the master reads, only what its own administrator allows. A master that was taken over cannot replace a node's other files.
import * as path from 'node:path'
import { isMissing } from '../lib/disk'
import { fileOwner, ownerNames } from '../lib/file/accounts'
import { changeableByOthers } from '../lib/file/changeable'
import { PATH } from '../model/constants/paths'
import { isBelow } from '../model/file-storage'
import { DISTRIBUTED_BYTES_MAX } from '../model/limits/node'
import type { DistributedFile } from '../rpc/node/dicts'
import { ledOutside, placesIn, realPlace } from './allowed-places'
import type { NodeContext } from './context'
import { fail } from './failure'

/** Every node takes these, as Ganeti's nodes do. */
const ALWAYS: readonly string[] = [PATH.NIC_SCRIPT, PATH.VNC_PASSWORD_FILE]
/** What decides over this node, so nobody can allow it. */
const NEVER: readonly string[] = [PATH.DISTRIBUTE_ALLOWED, PATH.FILE_STORAGE_PATHS_FILE, PATH.DATA_DIR, PATH.RUN_DIR]

/** `file` is local. Null if this node does not have it. */
export async function readDistributed(context: NodeContext, file: string): Promise<DistributedFile | null> {
  const { files, paths } = context
  await checkAllowed(context, file)
  try {
    const stat = await files.stat(file)
    if (!stat.isFile()) fail(`'${paths.virtual(file)}' is not a plain file`)
    if (stat.size > DISTRIBUTED_BYTES_MAX)
      fail(`'${paths.virtual(file)}' is larger than ${DISTRIBUTED_BYTES_MAX} bytes, the most that is distributed`)
    const { user, group } = ownerNames(files, stat)
    const base64 = (await files.readFile(file)).toString('base64')
    return { base64, owner: user, group, mode: stat.mode & 0o777 }
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** `file` is local. Replaces the file as a whole, durably. */
export async function writeDistributed(context: NodeContext, file: string, copy: DistributedFile): Promise<void> {
  const { disk, files, paths } = context
  const { owner, group, mode, base64 } = copy
  await checkAllowed(context, file)
  if ((mode & ~0o777) !== 0) fail(`Mode ${mode.toString(8)} of '${paths.virtual(file)}' lends rights to its callers`)
  const content = Buffer.from(base64, 'base64')
  if (content.length > DISTRIBUTED_BYTES_MAX)
    fail(`'${paths.virtual(file)}' is larger than ${DISTRIBUTED_BYTES_MAX} bytes, the most that is distributed`)
  const account = fileOwner(files, owner, group)
  if (account === undefined && process.getuid?.() === 0)
    fail(
      `'${paths.virtual(file)}' belongs to ${owner}:${group} on the master, and this node has no such account: add it`,
    )
  await disk.makeDirectory(path.dirname(file))
  await disk.write(file, content, { mode, ...(account && { owner: account }) })
}

async function checkAllowed(context: NodeContext, file: string): Promise<void> {
  const { files, paths } = context
  const displayed = paths.virtual(file)
  if (ALWAYS.includes(displayed)) return
  const real = paths.virtual(await realPlace(files, file))
  if ([displayed, real].some((one) => NEVER.some((place) => isBelow(one, place))))
    fail(`'${displayed}' is never distributed: it decides over the node`)
  const list = paths.local(PATH.DISTRIBUTE_ALLOWED)
  const others = await changeableByOthers(files, list, paths.root || '/')
  if (others !== undefined)
    fail(`${PATH.DISTRIBUTE_ALLOWED} does not count: ${paths.virtual(others)}; give it to root, and use chmod go-w`)
  const allowed = await placesIn(context, PATH.DISTRIBUTE_ALLOWED)
  const way = `add it or its directory to ${PATH.DISTRIBUTE_ALLOWED} on node ${context.hostname}`
  if (!allowed.some((place) => isBelow(displayed, place))) fail(`Files like '${displayed}' are not accepted: ${way}`)
  const outside = await ledOutside(context, file, allowed)
  if (outside !== undefined) fail(`Files like '${displayed}' are not accepted: a link leads to '${outside}'; ${way}`)
}
