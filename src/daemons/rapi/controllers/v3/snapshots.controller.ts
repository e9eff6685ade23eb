// Requests of /3 about the snapshots of instances' disks. They are made and deleted by verbs of instances.
import { Get, Path, Route, Security, Tags } from '../../../../http/decorators'
import { snapshotShape } from '../../../../query/object-shapes'
import { V3Resource } from './resource'

/** A snapshot of one disk. */
export interface SnapshotView {
  /** The index of the disk. @isInt */
  disk: number
  name: string
  /** What the disk had when it was made. @isInt */
  size_mib: number
  /** The only node that has it; null where every node reaches it. */
  node: string | null
  /** What it is called in its storage: as volume group and volume, or as image. */
  logical_id: string[]
  /** @format date-time */
  created: string
}

/** All snapshots of an instance's disks. */
export interface SnapshotList {
  items: SnapshotView[]
}

@Route('3/instances')
@Tags('instances')
@Security('basic')
@Security('bearer')
export class SnapshotsV3Controller extends V3Resource {
  /**
   * Snapshots of the disks of an instance.
   * @param name The name of the instance.
   */
  @Get('{name}/snapshots')
  async list(@Path() name: string): Promise<SnapshotList> {
    const snapshots = await this.v3.gantry.snapshots(this.v3.identity, name)
    return { items: snapshots.map(snapshotShape) }
  }
}
