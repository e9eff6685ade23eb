// The cluster on which instances with logical volumes and DRBD were recorded, before the first instance. node0 is the master and has no
// instances. node1 to node3 have a volume group.
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { ConfigData } from '../../src/model/config'
import { type FakeCluster, simulatedCluster } from './fake-cluster'

export interface StorageStep {
  readonly name: string
  readonly op: Readonly<Record<string, unknown>> & { readonly OP_ID: string }
  readonly result: unknown
  readonly log: readonly string[]
  readonly calls: readonly string[]
  /** What was made on each node: the device, its size, the owner, whether it is the primary, the note, exclusive storage, parameters. */
  readonly made?: readonly string[]
  readonly config?: Pick<ConfigData, 'disks' | 'instances'> & {
    readonly highest_used_port: number
    readonly tcpudp_port_pool: readonly number[]
  }
}

export const recordedStorage = JSON.parse(
  fs.readFileSync(path.join(__dirname, '../golden/storage/flows.json'), 'utf8'),
) as { readonly config: unknown; readonly steps: readonly StorageStep[] }

export const storageCluster = (): FakeCluster => simulatedCluster(JSON.stringify(recordedStorage.config))

/** Parameters of OP_INSTANCE_CREATE. */
export const plainInstance = {
  instance_name: 'inst1.gnt.example',
  mode: 'create',
  disk_template: 'plain',
  disks: [{ size: 64 }, { size: 32 }],
  nics: [],
  os_type: 'noop',
  hypervisor: 'fake',
  beparams: { memory: 64 },
  name_check: false,
  ip_check: false,
  pnode: 'node1.gnt.example',
} as const

export const drbdInstance = {
  ...plainInstance,
  instance_name: 'inst2.gnt.example',
  disk_template: 'drbd',
  disks: [{ size: 128 }],
  snode: 'node2.gnt.example',
} as const
