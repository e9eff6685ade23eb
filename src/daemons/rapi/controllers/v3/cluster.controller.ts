// Requests of /3 about the cluster.
import { Get, Route, Security, Tags } from '../../../../http/decorators'
import { clusterShape } from '../../../../query/object-shapes'
import type { ClusterInfo } from '../../../../model/cluster-info'
import type { MaintenanceInfo } from '../../../../model/maintenance'
import { etag } from '../../v3/if-match'
import { V3Resource } from './resource'

/** The cluster and its settings. */
export interface ClusterView extends Omit<ClusterInfo, 'ctime' | 'mtime'>, MaintenanceInfo {
  /** @format date-time */
  ctime: string
  /** @format date-time */
  mtime: string
  serial_no: number
  /** New jobs are refused. */
  drained: boolean
  /** By kind of question, the allocators to ask, in this order. A kind without a list uses `default_iallocator`. */
  default_iallocators: { [kind: string]: string[] }
  /** Disks of `plain` and `drbd` are files and processes of the nodes, instead of volumes of LVM and devices of DRBD. */
  user_space_storage: boolean
}

@Route('3/cluster')
@Tags('cluster')
@Security('basic')
@Security('bearer')
export class ClusterV3Controller extends V3Resource {
  /** The cluster. */
  @Get('')
  async get(): Promise<ClusterView> {
    const { identity, gantry, reply } = this.v3
    const info = await gantry.cluster(identity)
    reply.headers['ETag'] = etag('cluster', info['uuid'], info['serial_no'])
    // clusterInfo in src/query/ makes this form.
    return clusterShape(info) as unknown as ClusterView
  }
}
