// Small configurations and a store on a disk in memory.
import { systemClock } from '../../../src/lib/clock'
import { silentLog } from '../../../src/lib/log'
import { pathsOf } from '../../../src/lib/paths'
import { seededRandom } from '../../../src/lib/random'
import { applyChange } from '../../../src/config/changes'
import { initialConfig } from '../../../src/config/init'
import { EMPTY_GANTRY } from '../../../src/config/upgrade'
import { createConfig, type StoreOptions } from '../../../src/config/store-files'
import type { ConfigData, Disk, Instance, Network, Node, NodeGroup } from '../../../src/model/config'
import { diskUuid, groupUuid, instanceUuid, networkUuid, nodeUuid } from '../../../src/model/ids'
import { MemoryDisk } from './memory-disk'

export const at = (now_s: number) => ({ now_s, random: seededRandom(7) })

/** 00000000-0000-4000-8000-00000000000n */
export const id = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`

export const smallConfig = (): ConfigData =>
  initialConfig(
    {
      clusterName: 'cluster.example.com',
      masterIp: '192.0.2.1',
      masterName: 'node1.example.com',
      primaryIp: '192.0.2.11',
      masterCertDigest: 'AA:BB',
      cluster: { enabled_hypervisors: ['fake'], enabled_disk_templates: ['sharedfile', 'drbd'] },
    },
    at(1000.5),
  )

const stamps = { ctime: 0, mtime: 0, serial_no: 0, tags: [] }

export const master = (config: ConfigData): Node => {
  const node = config.nodes[config.cluster.master_node]
  if (!node) throw new Error('no master')
  return node
}

export const buildInstance = (config: ConfigData, n: number, fields: Partial<Instance> = {}): Instance => ({
  name: `inst${n}.example.com`,
  primary_node: master(config).uuid,
  os: 'tiny',
  hypervisor: 'fake',
  hvparams: {},
  beparams: {},
  osparams: {},
  osparams_private: {},
  admin_state: 'down',
  admin_state_source: 'admin',
  nics: [],
  disks: [],
  disks_active: false,
  ...stamps,
  uuid: instanceUuid(id(0x1000000 + n)),
  ...fields,
})

export const buildDisk = (n: number, fields: Partial<Disk> = {}): Disk => ({
  logical_id: ['loop', `/srv/ganeti/shared-file-storage/disk${n}`],
  dev_type: 'sharedfile',
  children: [],
  nodes: [],
  iv_name: 'disk/0',
  size: 128,
  mode: 'rw',
  params: {},
  uuid: diskUuid(id(0x2000000 + n)),
  ctime: 0,
  mtime: 0,
  serial_no: 0,
  ...fields,
})

export const buildNode = (config: ConfigData, n: number, fields: Partial<Node> = {}): Node => ({
  ...master(config),
  name: `node${n}.example.com`,
  primary_ip: `192.0.2.${10 + n}`,
  secondary_ip: `192.0.2.${10 + n}`,
  master_candidate: false,
  uuid: nodeUuid(id(0x3000000 + n)),
  ...fields,
})

export const buildGroup = (n: number, fields: Partial<NodeGroup> = {}): NodeGroup => ({
  name: `group${n}`,
  members: [],
  ndparams: {},
  alloc_policy: 'preferred',
  ipolicy: {},
  diskparams: {},
  networks: {},
  ...stamps,
  uuid: groupUuid(id(0x4000000 + n)),
  ...fields,
})

export const buildNetwork = (n: number, fields: Partial<Network> = {}): Network => ({
  name: `net${n}`,
  network: `10.${n}.0.0/28`,
  ...stamps,
  uuid: networkUuid(id(0x5000000 + n)),
  ...fields,
})

export async function storeOptions(
  config: ConfigData,
  disk = new MemoryDisk(),
): Promise<StoreOptions & { disk: MemoryDisk }> {
  const options = { disk, paths: pathsOf('/r/n1', 'n1'), clock: systemClock, random: seededRandom(3), log: silentLog }
  if (!disk.files.has(options.paths.configFile)) await createConfig(options, config)
  return options
}

/** The small cluster with more nodes. */
export function configOfNodes(count: number, fields: Partial<Node> = {}): ConfigData {
  let documents = { config: smallConfig(), gantry: EMPTY_GANTRY }
  for (let n = 2; n <= count; n++)
    documents = applyChange(documents, ['addNode', buildNode(documents.config, n, fields)], at(1)).documents
  return documents.config
}
