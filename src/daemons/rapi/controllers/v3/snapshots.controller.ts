// Requests of /3 about the snapshots of instances' disks. Requests about instances make and delete them.
import { Get, Path, Route, Security, Tags } from '../../../../http/decorators'
import { snapshotShape } from '../../../../query/object-shapes'
import { V3Resource } from './resource'

/** A snapshot of one disk. */
interface SnapshotView {
  /** The index of the disk. @isInt */
  disk: number
  name: string
  /** The size of the disk when the snapshot was made. @isInt */
  size_mib: number
  /** The only node that has it. Null if every node can reach it. */
  node: string | null
  /** Its name in its storage: volume group and volume, or image. */
  logical_id: string[]
  /** @format date-time */
  created: string
  /**
   * As its node finds it now. Invalid: a snapshot on LVM that has run full, so its data is lost. Restoring: its disk has only a part of its
   * data again. Unknown: its storage is not asked, or its node does not answer.
   */
  status: 'ok' | 'invalid' | 'missing' | 'restoring' | 'unknown'
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
