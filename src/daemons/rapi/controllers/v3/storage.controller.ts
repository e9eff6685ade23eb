// Requests of /3 about what nodes keep disks on.
import { Get, Path, Route, Security, Tags } from '../../../../http/decorators'
import { storageShape } from '../../../../query/object-shapes'
import { V3Resource } from './resource'

/** A volume group, a physical volume or a folder in which a node keeps disks. Sizes are null where the node does not tell. */
export interface StorageUnitView {
  name: string
  size_mib: number | null
  used_mib: number | null
  free_mib: number | null
  /** Whether new volumes are put there. */
  allocatable: boolean
}

/** The units of one type of storage that a node has. */
export interface NodeStorageView {
  /** `file`, `sharedfile`, `gluster`, `lvm-vg`, or `lvm-pv` for the physical volumes of volume groups. */
  type: string
  units: StorageUnitView[]
  /** Why the node did not tell; null when it did. */
  problem: string | null
}

/** All that a node keeps disks on. */
export interface NodeStorageList {
  items: NodeStorageView[]
}

@Route('3/nodes/{name}/storage')
@Tags('nodes')
@Security('basic')
@Security('bearer')
export class StorageV3Controller extends V3Resource {
  /**
   * What a node keeps disks on: one item for each type of storage that an enabled disk template uses. The node is asked; one that does not
   * answer within 5 seconds says so in `problem`.
   */
  @Get('')
  async list(@Path() name: string): Promise<NodeStorageList> {
    const found = await this.v3.gantry.storage(this.v3.identity, name)
    return { items: found.map(storageShape) }
  }
}
