// Query fields of the cluster.
import { ConfigIndex } from '../config-index'
import { ProgrammerError } from '../../model/errors'
import { CONFIG_VERSION, EXPORT_VERSION, OS_API_VERSIONS, RELEASE_VERSION } from '../../model/constants/versions'
import { type Field, cell, field, optional, TEXTS } from '../field'
import type { Resource } from '../resource'
import type { ClusterFacts } from '../source'
import type { ConfigData } from '../../model/config'

interface ClusterRow {
  readonly config: ConfigData
  readonly facts: ClusterFacts
}

const name = (title: string): Field<ClusterRow> =>
  field(title, 'text', 'Cluster name', ({ config }) => cell(config.cluster.cluster_name))

export const clusterResource: Resource<ClusterRow> = {
  nameField: 'name',
  all({ config, cluster }) {
    if (cluster === undefined) throw new ProgrammerError('a query of the cluster needs its facts')
    return [{ config, facts: cluster }]
  },
  fields: {
    tags: field('Tags', 'other', 'Tags', ({ config }) => cell(config.cluster.tags), { shape: TEXTS }),
    architecture: field('ArchInfo', 'other', 'Architecture information', ({ facts }) => cell(facts.architecture)),
    drain_flag: field('QueueDrained', 'bool', 'Flag whether job queue is drained', ({ facts }) => cell(facts.drained)),
    watcher_pause: field('WatcherPause', 'timestamp', 'Until when watcher is paused', ({ facts }) =>
      optional(facts.watcherPause),
    ),
    master_node: field('Master', 'text', 'Master node name', ({ config }) =>
      optional(ConfigIndex.of(config).master()?.name),
    ),
    cluster_name: name('Name'),
    volume_group_name: field('VgName', 'text', 'LVM volume group name', ({ config }) =>
      optional(config.cluster.volume_group_name),
    ),
    software_version: field('SoftwareVersion', 'text', 'Software version', () => cell(RELEASE_VERSION)),
    protocol_version: field('ProtocolVersion', 'number', 'RPC protocol version', () => cell(CONFIG_VERSION)),
    config_version: field('ConfigVersion', 'number', 'Configuration format version', () => cell(CONFIG_VERSION)),
    os_api_version: field('OsApiVersion', 'number', 'API version for OS template scripts', () =>
      cell(Math.max(...OS_API_VERSIONS)),
    ),
    export_version: field('ExportVersion', 'number', 'Import/export file format version', () => cell(EXPORT_VERSION)),
    vcs_version: field('VCSVersion', 'text', 'VCS version', () => cell(RELEASE_VERSION)),
    ctime: field('CTime', 'timestamp', 'Creation timestamp', ({ config }) => cell(config.cluster.ctime)),
    mtime: field('MTime', 'timestamp', 'Modification timestamp', ({ config }) => cell(config.cluster.mtime)),
    name: name('Name'),
  },
}
