import { Get, Route, Security, Tags } from '@tsoa/runtime'
import type { ClusterInfo } from '../../../../model/cluster-info'
import { etag, V3Resource } from './resource'

/** What the cluster is and how it is set up. */
export interface ClusterView extends ClusterInfo {
  serial_no: number
  /** New jobs are refused. */
  drained: boolean
  /** By kind of question, the allocators that are asked in order; those without a list have `default_iallocator`. */
  default_iallocators: { [kind: string]: string[] }
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
    // As clusterInfo in src/query/ makes it.
    return info as unknown as ClusterView
  }
}
