// A disk's object in the configuration.
import type { Params, Stamped } from './common'
import type { DiskUuid, NodeUuid } from './ids'
import type { DiskTemplate } from './templates'

export type DiskMode = 'rw' | 'ro'

/**
 * The shape depends on the template: plain `[vg, lv]`; drbd `[node a, node b, port, minor a, minor b, secret]`;
 * file, sharedfile, gluster `[driver, path]`; blockdev `['manual', path]`; rbd `['rbd', image]`; ext `[provider, name]`.
 */
export type LogicalId = readonly (string | number)[]

export interface Disk extends Stamped {
  readonly logical_id: LogicalId
  readonly dev_type: DiskTemplate
  /** The data volume and the metadata volume, for DRBD. */
  readonly children: readonly Disk[]
  readonly nodes: readonly NodeUuid[]
  /** `disk/<index>` at the top level, empty for children. */
  readonly iv_name: string
  readonly size: number
  readonly mode: DiskMode
  readonly name?: string
  readonly spindles?: number
  readonly params?: Params
  readonly uuid: DiskUuid
  readonly forthcoming?: true
}

/** The record of a disk that does not exist yet, with its parts. */
export const toCome = (disk: Disk): Disk => ({ ...disk, children: disk.children.map(toCome), forthcoming: true })

/** The record of the same disk when it exists. */
export function asReal({ forthcoming: _, ...disk }: Disk): Disk {
  return { ...disk, children: disk.children.map(asReal) }
}

/** The parts of a DRBD disk's logical id, by name. */
export interface DrbdId {
  readonly nodeA: NodeUuid
  readonly nodeB: NodeUuid
  readonly port: number
  readonly minorA: number
  readonly minorB: number
  readonly secret: string
}
