// Answers of `/3`'s calls about storage and tags.
import type { NodeUuid } from '../../model/ids'
import type { ObjectKind } from '../../model/object-kinds'
import type { StorageType } from '../../model/templates'

/** A node's volume group, physical volume or folder for disks. Sizes are MiB; null if the node does not report them. */
export interface StorageUnit {
  readonly name: string
  readonly size: number | null
  readonly used: number | null
  readonly free: number | null
  /** Whether it accepts new volumes. */
  readonly allocatable: boolean
}

/** A node's units of one type of storage. */
export interface NodeStorage {
  readonly type: StorageType
  readonly units: readonly StorageUnit[]
  /** Why the node did not answer; null if it did. */
  readonly problem: string | null
}

/** A tag, and the objects that have it. */
export interface TagUse {
  readonly tag: string
  readonly objects: readonly { readonly kind: ObjectKind; readonly name: string }[]
}

/** The copy of the queue on a master candidate. */
export interface QueueCopy {
  readonly node: NodeUuid
  readonly name: string
  readonly in_sync: boolean
  /** Why it is not. */
  readonly reason: string | null
}
