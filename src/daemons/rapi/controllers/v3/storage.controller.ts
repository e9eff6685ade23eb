// Requests of /3 about the storage of nodes.
import { Get, Path, Route, Security, Tags } from '../../../../http/decorators'
import { storageShape } from '../../../../query/object-shapes'
import { V3Resource } from './resource'

/** A volume group, a physical volume or a folder in which a node keeps disks. Sizes are null if the node does not report them. */
interface StorageUnitView {
  name: string
  size_mib: number | null
  used_mib: number | null
  free_mib: number | null
  /** Whether new volumes may be put there. */
  allocatable: boolean
}

/** The units of one type of storage that a node has. */
interface NodeStorageView {
  /** `file`, `sharedfile`, `gluster`, `lvm-vg`, or `lvm-pv` for the physical volumes of volume groups. */
  type: string
  units: StorageUnitView[]
  /** Why the node did not answer. Null if it did. */
  problem: string | null
}

/** All storage units of a node. */
export interface NodeStorageList {
  items: NodeStorageView[]
}

@Route('3/nodes/{name}/storage')
@Tags('nodes')
@Security('basic')
@Security('bearer')
export class StorageV3Controller extends V3Resource {
  /**
   * The storage of a node: one item for each type of storage that an enabled disk template uses. The node is asked. If it does not answer
   * within 5 seconds, `problem` says so.
   */
  @Get('')
  async list(@Path() name: string): Promise<NodeStorageList> {
    const found = await this.v3.gantry.storage(this.v3.identity, name)
    return { items: found.map(storageShape) }
  }
}
