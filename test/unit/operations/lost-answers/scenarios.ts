// A scenario for each unit that changes something, in which answers get lost.
import { change } from '../../../../src/config/changes'
import { readServerPem, writeServerPem } from '../../../../src/lib/server-pem'
import { createCertificate } from '../../../../src/lib/tls'
import type { OpcodeId } from '../../../../src/opcodes/index'
import type { FakeCluster } from '../../../support/fake-cluster'
import type { Outside } from './outside'
import { drbdInstance, plainInstance } from '../../../support/storage-cluster'

const SERVER_PEM = '/var/lib/ganeti/server.pem'
const KNOWN_HOSTS = '/var/lib/ganeti/known_hosts'
type Params = Readonly<Record<string, unknown>>
export interface Scenario {
  readonly op: string
  readonly params: Params
  /** What ran before. */
  readonly before?: readonly (readonly [op: string, params: Params])[]
  /** Whether the volumes of the first node are gone. */
  readonly broken?: true
  readonly prepare?: (cluster: FakeCluster, outside: Outside) => void | Promise<void>
}

const plain = { instance_name: plainInstance.instance_name }
const drbd = { instance_name: drbdInstance.instance_name }
const stoppedPlain = { ...plainInstance, start: false }
const stoppedDrbd = { ...drbdInstance, start: false }
const replace = { ...drbd, early_release: false, ignore_ipolicy: false }
const having = (instance: Params) => [['OP_INSTANCE_CREATE', instance]] as const
const GROUP = { group_name: 'default' }
const NODE = { node_name: 'node3.gnt.example' }
const OTHER = { group_name: 'other' }
const TAGS = { kind: 'cluster', tags: ['one'], name: null }
const SNAPSHOT = { ...plain, disks: [[0, { snapshot_name: 'one' }]] }
const NET = { network_name: 'net1' }
const NEW_NET = { ...NET, network: '192.0.2.0/24' }
const CONNECTED = { ...NET, ...GROUP, network_mode: 'bridged', network_link: 'br0' }

const EXPORT = { ...plain, mode: 'local', target_node: NODE.node_name, shutdown: false }
const NEW_NODE = { node_name: 'node9.gnt.example', primary_ip: '198.51.100.29', node_setup: true }
const fileInstance = { ...plainInstance, disk_template: 'file' }

const ofCluster = (cluster: FakeCluster, settings: Params): void => void cluster.change('patchCluster', settings)

function unassembled(cluster: FakeCluster): void {
  cluster.world.node('node2.gnt.example').minors.clear()
  let probes = 0
  cluster.answers.blockdev_getmirrorstatus_multi = ({ name }, [disks]) =>
    probes++ < 2 && name === 'node2.gnt.example' ? disks.map(() => [false, "Can't find device"]) : undefined
}

function demoted(cluster: FakeCluster): void {
  const { uuid } = cluster.node('node3')
  cluster.given(
    change('patchNode', uuid, { offline: true, master_candidate: false }),
    change('removeCandidateCert', uuid),
  )
}

function switchedOff(cluster: FakeCluster): void {
  demoted(cluster)
  cluster.change('patchNode', cluster.node('node3').uuid, { ndparams: { oob_program: '/bin/oob' } })
}

function addressIsFree(cluster: FakeCluster): void {
  cluster.files.set(KNOWN_HOSTS, cluster.config.cluster.cluster_name)
  cluster.answers.node_verify = () => ({ 'master-ip': false })
}

function grown(cluster: FakeCluster): void {
  for (const { name } of Object.values(cluster.config.nodes))
    for (const disk of cluster.world.node(name).disks.values()) disk.size += 4
}

function alone(cluster: FakeCluster): void {
  for (const name of ['node1', 'node2', 'node3']) cluster.change('removeNode', cluster.node(name).uuid)
}

/** All nodes trust the next certificate already, since making one takes longer than all else. */
async function halfRenewed(cluster: FakeCluster): Promise<void> {
  pems ??= Promise.all([createCertificate(), createCertificate({ unit: 'next' })])
  const [displayed, next] = (await pems).map((pem) => readServerPem(pem).shown)
  if (displayed !== undefined) cluster.files.set(SERVER_PEM, writeServerPem({ shown: displayed, next, trusted: [] }))
}
let pems: Promise<[string, string]> | undefined

export const SCENARIOS: readonly Scenario[] = [
  { op: 'OP_INSTANCE_CREATE', params: plainInstance },
  { op: 'OP_INSTANCE_CREATE', params: drbdInstance },
  { op: 'OP_INSTANCE_REMOVE', params: { ...drbd, ignore_failures: false }, before: having(drbdInstance) },
  { op: 'OP_INSTANCE_STARTUP', params: drbd, before: having(stoppedDrbd) },
  { op: 'OP_INSTANCE_SHUTDOWN', params: drbd, before: having(drbdInstance) },
  { op: 'OP_INSTANCE_REBOOT', params: { ...drbd, reboot_type: 'hard' }, before: having(drbdInstance) },
  { op: 'OP_INSTANCE_REBOOT', params: { ...drbd, reboot_type: 'full' }, before: having(drbdInstance) },
  { op: 'OP_INSTANCE_RENAME', params: { ...plain, new_name: 'inst9.gnt.example', name_check: false, ip_check: false }, before: having(stoppedPlain) }, // prettier-ignore
  ...['replace_on_primary', 'replace_on_secondary'].map((mode) => ({ op: 'OP_INSTANCE_REPLACE_DISKS', params: { ...replace, mode }, before: having(drbdInstance) })), // prettier-ignore
  { op: 'OP_INSTANCE_REPLACE_DISKS', params: { ...replace, mode: 'replace_new_secondary', remote_node: NODE.node_name }, before: having(drbdInstance) }, // prettier-ignore
  { op: 'OP_INSTANCE_FAILOVER', params: { ...drbd, ignore_consistency: false }, before: having(drbdInstance) },
  { op: 'OP_INSTANCE_MOVE', params: { ...plain, target_node: NODE.node_name }, before: having(stoppedPlain) },
  { op: 'OP_INSTANCE_MOVE', params: { ...plain, target_node: NODE.node_name }, before: having(plainInstance) },
  { op: 'OP_INSTANCE_ACTIVATE_DISKS', params: drbd, before: having(stoppedDrbd) },
  { op: 'OP_INSTANCE_DEACTIVATE_DISKS', params: drbd, before: having(stoppedDrbd) },
  { op: 'OP_INSTANCE_RECREATE_DISKS', params: { ...plain, nodes: [] }, before: having(stoppedPlain), broken: true },
  { op: 'OP_INSTANCE_SET_PARAMS', params: { ...plain, disk_template: 'drbd', remote_node: NODE.node_name }, before: having(stoppedPlain) }, // prettier-ignore
  { op: 'OP_INSTANCE_SET_PARAMS', params: { ...drbd, disk_template: 'plain' }, before: having(stoppedDrbd) },
  { op: 'OP_INSTANCE_SET_PARAMS', params: { ...drbd, disks: [['add', { size: 32 }]] }, before: having(stoppedDrbd) },
  { op: 'OP_INSTANCE_CREATE', params: drbdInstance, prepare: (cluster) => ofCluster(cluster, { prealloc_wipe_disks: true }) }, // prettier-ignore
  { op: 'OP_INSTANCE_SET_PARAMS', params: { ...drbd, disks: [['add', { size: 32 }]] }, before: having(stoppedDrbd), prepare: (cluster) => ofCluster(cluster, { prealloc_wipe_disks: true }) }, // prettier-ignore
  { op: 'OP_INSTANCE_SET_PARAMS', params: { ...drbd, disks: [['remove', {}]] }, before: having({ ...stoppedDrbd, disks: [{ size: 64 }, { size: 32 }] }) }, // prettier-ignore
  {
    op: 'OP_INSTANCE_GROW_DISK',
    params: { ...drbd, disk: 0, amount: 32, wait_for_sync: true },
    before: having(stoppedDrbd),
  },
  {
    op: 'OP_INSTANCE_SNAPSHOT',
    params: { ...plain, disks: [[0, { snapshot_name: 'one' }]] },
    before: having(plainInstance),
  },
  { op: 'OP_GROUP_ADD', params: { group_name: 'other' } },
  { op: 'OP_GROUP_RENAME', params: { ...GROUP, new_name: 'renamed' } },
  { op: 'OP_GROUP_SET_PARAMS', params: { ...GROUP, alloc_policy: 'last_resort' } },
  { op: 'OP_NETWORK_ADD', params: { ...NET, network: '192.0.2.0/24' } },
  { op: 'OP_NODE_SET_PARAMS', params: { ...NODE, drained: true } },
  { op: 'OP_CLUSTER_SET_PARAMS', params: { candidate_pool_size: 2 } },
  { op: 'OP_GROUP_REMOVE', params: OTHER, before: [['OP_GROUP_ADD', OTHER]] },
  { op: 'OP_GROUP_ASSIGN_NODES', params: { ...OTHER, nodes: [NODE.node_name] }, before: [['OP_GROUP_ADD', OTHER]] },
  { op: 'OP_NETWORK_REMOVE', params: NET, before: [['OP_NETWORK_ADD', NEW_NET]] },
  { op: 'OP_NETWORK_RENAME', params: { ...NET, new_name: 'net2' }, before: [['OP_NETWORK_ADD', NEW_NET]] },
  { op: 'OP_NETWORK_SET_PARAMS', params: { ...NET, mac_prefix: 'aa:00:02' }, before: [['OP_NETWORK_ADD', NEW_NET]] },
  { op: 'OP_NETWORK_CONNECT', params: CONNECTED, before: [['OP_NETWORK_ADD', NEW_NET]] },
  { op: 'OP_NETWORK_DISCONNECT', params: { ...NET, ...GROUP }, before: [['OP_NETWORK_ADD', NEW_NET], ['OP_NETWORK_CONNECT', CONNECTED]] }, // prettier-ignore
  { op: 'OP_INSTANCE_REMOVE_SNAPSHOT', params: SNAPSHOT, before: [...having(plainInstance), ['OP_INSTANCE_SNAPSHOT', SNAPSHOT]] }, // prettier-ignore
  { op: 'OP_INSTANCE_ROLLBACK_SNAPSHOT', params: SNAPSHOT, before: [...having(stoppedPlain), ['OP_INSTANCE_SNAPSHOT', SNAPSHOT]] }, // prettier-ignore
  { op: 'OP_INSTANCE_REINSTALL', params: plain, before: having(stoppedPlain) },
  { op: 'OP_INSTANCE_MIGRATE', params: { ...drbd, mode: 'live' }, before: having(drbdInstance) },
  { op: 'OP_BACKUP_EXPORT', params: { ...plain, mode: 'local', target_node: NODE.node_name, shutdown: false }, before: having(plainInstance) }, // prettier-ignore
  { op: 'OP_BACKUP_EXPORT', params: { ...EXPORT, shutdown: true }, before: having(plainInstance) },
  { op: 'OP_NODE_REMOVE', params: NODE },
  { op: 'OP_CLUSTER_REPAIR_DISK_SIZES', params: { instances: [] }, before: having(drbdInstance), prepare: grown },
  { op: 'OP_TAGS_DEL', params: TAGS, before: [['OP_TAGS_SET', TAGS]] },
  { op: 'OP_TAGS_SET', params: TAGS },
  {
    op: 'OP_INSTANCE_REPAIR',
    params: { ...drbd, failover: false },
    before: having(drbdInstance),
    prepare: unassembled,
  },
  { op: 'OP_BACKUP_REMOVE', params: plain, before: [...having(plainInstance), ['OP_BACKUP_EXPORT', EXPORT]] },
  { op: 'OP_NODE_ADD', params: NEW_NODE, prepare: (cluster) => ofCluster(cluster, { modify_etc_hosts: true, modify_ssh_setup: true }) }, // prettier-ignore
  { op: 'OP_NODE_ADD', params: { ...NEW_NODE, ...NODE, primary_ip: '198.51.100.23', readd: true }, prepare: demoted },
  { op: 'OP_CLUSTER_RENAME', params: { name: '127.0.0.9' }, prepare: addressIsFree },
  { op: 'OP_CLUSTER_RENEW_CRYPTO', params: { node_certificates: true } },
  { op: 'OP_CLUSTER_RENEW_CRYPTO', params: { renew_ssh_keys: true, ssh_key_type: 'ecdsa' }, prepare: (cluster) => ofCluster(cluster, { modify_ssh_setup: true }) }, // prettier-ignore
  { op: 'OP_CLUSTER_RENEW_CRYPTO', params: { cluster_certificate: true }, prepare: halfRenewed },
  { op: 'OP_CLUSTER_REDIST_CONF', params: {}, prepare: (cluster) => void cluster.files.set(KNOWN_HOSTS, 'cluster') },
  { op: 'OP_CLUSTER_ACTIVATE_MASTER_IP', params: {} },
  {
    op: 'OP_CLUSTER_DEACTIVATE_MASTER_IP',
    params: {},
    prepare: (_cluster, outside) => void (outside.wantsAddress = false),
  },
  { op: 'OP_CLUSTER_DESTROY', params: {}, prepare: alone },
  { op: 'OP_OOB_COMMAND', params: { command: 'power-off', node_names: [NODE.node_name] }, prepare: switchedOff },
  { op: 'OP_NODE_POWERCYCLE', params: NODE },
  { op: 'OP_RESTRICTED_COMMAND', params: { command: 'look', nodes: [NODE.node_name] } },
  { op: 'OP_REPAIR_COMMAND', params: { ...NODE, command: 'mend' } },
  { op: 'OP_NODE_MODIFY_STORAGE', params: { ...NODE, storage_type: 'lvm-pv', name: '/dev/sda', changes: { allocatable: false } } }, // prettier-ignore
  { op: 'OP_REPAIR_NODE_STORAGE', params: { ...NODE, storage_type: 'lvm-vg', name: 'xenvg' } },
  {
    op: 'OP_NODE_SET_PARAMS',
    params: { ...NODE, master_candidate: false },
    prepare: (cluster) => ofCluster(cluster, { candidate_pool_size: 3 }),
  },
  { op: 'OP_NODE_SET_PARAMS', params: { ...NODE, offline: true, auto_promote: true } },
  { op: 'OP_INSTANCE_CREATE', params: fileInstance },
  { op: 'OP_INSTANCE_REMOVE', params: { ...plain, ignore_failures: false }, before: having(fileInstance) },
  { op: 'OP_INSTANCE_SET_PARAMS', params: { ...plain, disk_template: 'file' }, before: having(stoppedPlain) },
  { op: 'OP_INSTANCE_SET_PARAMS', params: { ...plain, disks: [['add', { size: 32 }]] }, before: having({ ...fileInstance, start: false }) }, // prettier-ignore
]

const ASKS = 'it changes nothing'
const SUBMITS = 'it submits jobs, and changes nothing itself'
const TESTS = 'it is for tests of the queue'

/** Units that have no scenario, and the reason. */
export const WITHOUT: Partial<Record<OpcodeId, string>> = {
  ...{ OP_BACKUP_PREPARE: ASKS, OP_CLUSTER_POST_INIT: ASKS, OP_CLUSTER_QUERY: ASKS, OP_CLUSTER_CONFIG_QUERY: ASKS },
  ...{ OP_CLUSTER_VERIFY_CONFIG: ASKS, OP_CLUSTER_VERIFY_GROUP: ASKS, OP_GROUP_VERIFY_DISKS: ASKS },
  ...{ OP_CLUSTER_CAPACITY: ASKS, OP_CLUSTER_WHAT_IF: ASKS, OP_INSTANCE_CONSOLE: ASKS, OP_INSTANCE_QUERY_DATA: ASKS },
  ...{ OP_NODE_QUERYVOLS: ASKS, OP_NODE_QUERY_STORAGE: ASKS, OP_OS_DIAGNOSE: ASKS, OP_EXT_STORAGE_DIAGNOSE: ASKS },
  ...{ OP_QUERY: ASKS, OP_QUERY_FIELDS: ASKS, OP_TAGS_GET: ASKS, OP_TAGS_SEARCH: ASKS, OP_CLUSTER_BALANCE: ASKS },
  ...{ OP_CLUSTER_VERIFY: SUBMITS, OP_CLUSTER_VERIFY_DISKS: SUBMITS, OP_INSTANCE_MULTI_ALLOC: SUBMITS },
  ...{
    OP_GROUP_EVACUATE: SUBMITS,
    OP_INSTANCE_CHANGE_GROUP: SUBMITS,
    OP_NODE_EVACUATE: SUBMITS,
    OP_NODE_MIGRATE: SUBMITS,
  },
  ...{
    OP_TEST_DELAY: TESTS,
    OP_TEST_ALLOCATOR: TESTS,
    OP_TEST_JQUEUE: TESTS,
    OP_TEST_OS_PARAMS: TESTS,
    OP_TEST_DUMMY: TESTS,
  },
}
