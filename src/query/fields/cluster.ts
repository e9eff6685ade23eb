import { ProgrammerError } from '../../model/errors'
import { CONFIG_VERSION, EXPORT_VERSION, OS_API_VERSIONS, RELEASE_VERSION } from '../../model/constants/versions'
import { type Field, cell, field, optional } from '../field'
import type { Resource } from '../resource'
import type { ClusterFacts } from '../source'
import type { ConfigData } from '../../model/config'

interface ClusterRow {
  readonly config: ConfigData
  readonly facts: ClusterFacts
}

const name = (title: string): Field<ClusterRow> =>
  field(title, 'text', 'cluster name', ({ config }) => cell(config.cluster.cluster_name))

export const clusterResource: Resource<ClusterRow> = {
  nameField: 'name',
  all({ config, cluster }) {
    if (cluster === undefined) throw new ProgrammerError('a query of the cluster needs its facts')
    return [{ config, facts: cluster }]
  },
  fields: {
    tags: field('Tags', 'other', 'cluster tags', ({ config }) => cell(config.cluster.tags)),
    architecture: field('ArchInfo', 'other', '[word size, machine]', ({ facts }) => cell(facts.architecture)),
    drain_flag: field('QueueDrained', 'bool', 'queue drained', ({ facts }) => cell(facts.drained)),
    watcher_pause: field('WatcherPause', 'timestamp', 'pause end or unavailable', ({ facts }) =>
      optional(facts.watcherPause),
    ),
    master_node: field('Master', 'text', 'master name', ({ config }) =>
      optional(config.nodes[config.cluster.master_node]?.name),
    ),
    cluster_name: name('Name'),
    volume_group_name: field('VgName', 'text', 'LVM volume group', ({ config }) =>
      optional(config.cluster.volume_group_name),
    ),
    software_version: field('SoftwareVersion', 'text', 'release version', () => cell(RELEASE_VERSION)),
    protocol_version: field('ProtocolVersion', 'number', 'RPC protocol version', () => cell(CONFIG_VERSION)),
    config_version: field('ConfigVersion', 'number', 'config format version', () => cell(CONFIG_VERSION)),
    os_api_version: field('OsApiVersion', 'number', 'newest OS API', () => cell(Math.max(...OS_API_VERSIONS))),
    export_version: field('ExportVersion', 'number', 'export format version', () => cell(EXPORT_VERSION)),
    vcs_version: field('VCSVersion', 'text', 'VCS version', () => cell(RELEASE_VERSION)),
    ctime: field('CTime', 'timestamp', 'when the object was created', ({ config }) => cell(config.cluster.ctime)),
    mtime: field('MTime', 'timestamp', 'when the object last changed', ({ config }) => cell(config.cluster.mtime)),
    name: name('Name'),
  },
}
