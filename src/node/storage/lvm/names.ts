// LVM's rules for tags and for the names of volumes and groups. Volumes in user space follow them too.
import type { DiskDict } from '../../../rpc/node/dicts'
import { fail } from '../../failure'

/** The beginning of the tag that names a volume's owner. */
export const OWNER = 'originstname+'
const TAG_LENGTH_MAX = 128

export function volumeOf(id: DiskDict['logical_id']): { vg: string; name: string } {
  const [vg, name] = id ?? []
  if (typeof vg !== 'string' || typeof name !== 'string' || id?.length !== 2)
    return fail(`A logical volume's id is [group, volume], not ${JSON.stringify(id ?? null)}`)
  return { vg: checkName(vg), name: checkName(name) }
}

/** Follows lvm(8). A valid name cannot be mistaken for an option, and cannot lead to another directory. */
export function checkName(name: string): string {
  const isGood =
    /^[A-Za-z0-9+_.][A-Za-z0-9+_.-]*$/.test(name) &&
    !['.', '..', 'snapshot', 'pvmove'].includes(name) &&
    !/_mlog|_mimage/.test(name)
  return isGood ? name : fail(`'${name}' is not a valid name of a volume or volume group`)
}

export const asTag = (text: string): string =>
  text
    .replaceAll(/[^-A-Za-z0-9_+.]/g, '_')
    .replace(/^-/, '_')
    .slice(0, TAG_LENGTH_MAX)
