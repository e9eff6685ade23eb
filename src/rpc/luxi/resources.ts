// What the calls of /3 about storage and tags answer.
import type { ObjectKind } from '../../model/object-kinds'
import type { StorageType } from '../../model/templates'

/** A volume group, a physical volume or a folder in which a node keeps disks. Sizes are MiB; null where the node does not tell. */
export interface StorageUnit {
  readonly name: string
  readonly size: number | null
  readonly used: number | null
  readonly free: number | null
  /** Whether new volumes are put there. */
  readonly allocatable: boolean
}

/** The units of one type of storage that a node has. */
export interface NodeStorage {
  readonly type: StorageType
  readonly units: readonly StorageUnit[]
  /** Why the node did not tell; null when it did. */
  readonly problem: string | null
}

/** A tag, and what has it. */
export interface TagUse {
  readonly tag: string
  readonly objects: readonly { readonly kind: ObjectKind; readonly name: string }[]
}
