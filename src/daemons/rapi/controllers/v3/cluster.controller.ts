import { Get, Route, Security, Tags } from '@tsoa/runtime'
import { etag, V3Resource } from './resource'

/** What the cluster is and how it is set up. */
export interface ClusterView {
  name: string
  uuid: string
  serial_no: number
  /** Seconds since the epoch. @isDouble */
  ctime: number
  /** @isDouble */
  mtime: number
  /** The name of the master node. */
  master: string | null
  software_version: string
  protocol_version: number
  config_version: number
  /** New jobs are refused. */
  drained: boolean
  tags: string[]
  enabled_hypervisors: string[]
  default_hypervisor: string | null
  enabled_disk_templates: string[]
  default_iallocator: string | null
  volume_group_name: string | null
  candidate_pool_size: number
  max_running_jobs: number
  max_tracked_jobs: number
  hvparams: { [hypervisor: string]: unknown }
  beparams: { [group: string]: unknown }
  nicparams: { [group: string]: unknown }
  ndparams: { [name: string]: unknown }
  osparams: { [os: string]: unknown }
  diskparams: { [template: string]: unknown }
  ipolicy: { [name: string]: unknown }
  /** What else there is to know. */
  [more: string]: unknown
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
    // The master describes the cluster; this interface lists what every version tells.
    return info as ClusterView
  }
}
