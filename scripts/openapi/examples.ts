// Examples for the document: of schemas by name, and of bodies of /2 by verb and path. A test checks each against its schema.
import { MAINTENANCE_EXAMPLE } from './maintd'

const STARTUP = { OP_ID: 'OP_INSTANCE_STARTUP', instance_name: 'vm1.example.com' }
const REASON = 'after the maintenance of the rack'
const TOKEN = {
  ...{ id: '5f0c8c2e9a6b4d17', name: 'monitoring', user: 'anna', permissions: ['*.query', 'instances.startup'] },
  ...{ tags: ['web'], groups: [], created: '2026-11-21T08:33:20.000000Z', expires: '2026-12-21T08:33:20.000000Z' },
}
const FINISHED = {
  ...{ OP_ID: 'OP_INSTANCE_STARTUP', summary: 'INSTANCE_STARTUP(vm1.example.com)', status: 'success', priority: 0 },
  ...{
    started: '2026-11-21T08:33:20.100000Z',
    executed: '2026-11-21T08:33:20.200000Z',
    ended: '2026-11-21T08:33:21.500000Z',
    result: null,
    error: null,
    input: STARTUP,
  },
  log: [
    { serial: 1, time: '2026-11-21T08:33:20.300000Z', type: 'message', message: 'Starting instance vm1.example.com' },
  ],
}
const SPECIFICATION = { disk_template: 'drbd', memory_mib: 4096, vcpus: 2, disks_mib: [20480] }
const CANDIDATES = [
  {
    ...{ node: 'node2.example.com', secondary: 'node3.example.com', accepted: true, score_change: 0.0143 },
    ...{ reject: null, reason: null, free: null, needed: null },
  },
  {
    ...{ node: 'node7.example.com', secondary: null, accepted: false, score_change: null },
    ...{ reject: 'FailMem', reason: 'lacks memory', free: 3072, needed: 4096 },
  },
]
const WHY_NONE =
  'no node fits: 12 lack memory (largest free 3,072 MiB on node7.example.com, 4,096 needed), 3 are drained'
const SCORES = [{ group: 'default', score_before: 3.51482131, score_after: 1.20773125 }]
const STEP = {
  ...{ instance: 'vm1.example.com', group: 'default', kind: 'replace-and-failover' },
  ...{ from: ['node1.example.com', 'node2.example.com'], to: ['node3.example.com', 'node1.example.com'] },
  ...{ score_before: 3.51482131, score_after: 1.20773125 },
  copied_mib: 10368,
  components: [{ name: 'free_mem_cv', before: 1.50482131, after: 0.10773125 }],
  ...{ first_op: 0, op_count: 2, candidates: null },
}
const REPLACE = {
  ...{ OP_ID: 'OP_INSTANCE_REPLACE_DISKS', instance_name: 'vm1.example.com', mode: 'replace_new_secondary' },
  remote_node: 'node3.example.com',
}
const MIGRATE = { OP_ID: 'OP_INSTANCE_MIGRATE', instance_name: 'vm1.example.com', allow_failover: true }
const WHAT_IF = {
  ...{ nodes: ['node1.example.com'], node_tag: 'rack:2', instances: [{ spec: SPECIFICATION, count: 3 }] },
  explain: true,
}
const UUID = '2b0bd3c1-6d0f-4d0c-9b0e-0d2f6b8a7c11'

const TIMES = { ctime: '2026-11-21T08:33:20.000000Z', mtime: '2026-11-22T09:00:00.000000Z' }

/** One object of each kind, as lists show it. */
const OBJECTS: Readonly<Record<string, unknown>> = {
  InstanceView: {
    ...{ name: 'vm1.example.com', uuid: UUID, serial_no: 7, ...TIMES, tags: ['web'] },
    ...{ status: 'running', admin_state: 'up', pnode: 'node1.example.com', snodes: ['node2.example.com'] },
    ...{ disk_template: 'drbd', 'disk.sizes': [20480], hypervisor: 'kvm', os: 'debootstrap+default', vcpus: 2 },
    ...{ 'be/maxmem': 4096, 'be/minmem': 4096, 'nic.macs': ['aa:00:00:35:ac:1e'], 'nic.ips': ['192.0.2.7'] },
  },
  NodeView: {
    ...{ name: 'node1.example.com', uuid: UUID, serial_no: 3, ...TIMES, tags: ['rack:2'], group: 'default' },
    ...{ role: 'M', offline: false, drained: false, vm_capable: true, pip: '192.0.2.1', sip: '198.51.100.1' },
    ...{ pinst_cnt: 1, pinst_list: ['vm1.example.com'], sinst_cnt: 0, sinst_list: [] },
    ...{ ctotal: 16, mtotal: 65536, mfree: 49152, dtotal: 1048576, dfree: 917504 },
  },
  GroupView: {
    ...{ name: 'default', uuid: UUID, serial_no: 2, ...TIMES, tags: [], alloc_policy: 'preferred' },
    ...{ node_cnt: 2, node_list: ['node1.example.com', 'node2.example.com'], pinst_cnt: 1 },
    pinst_list: ['vm1.example.com'],
  },
  NetworkView: {
    ...{ name: 'net1', uuid: UUID, serial_no: 1, ...TIMES, tags: [], network: '192.0.2.0/24', gateway: '192.0.2.1' },
    ...{ free_count: 252, reserved_count: 4, inst_cnt: 1, inst_list: ['vm1.example.com'] },
  },
  OsView: {
    ...{ name: 'debootstrap', valid: true, hidden: false, blacklisted: false, variants: ['default'] },
    ...{ api_versions: [20], parameters: [['mirror', 'The mirror of Debian.']] },
  },
  LockView: { name: 'instance/vm1.example.com', mode: 'exclusive', owner: ['job1234'], pending: [] },
  FilterView: {
    ...{ uuid: UUID, priority: 0, watermark: 1200, action: 'PAUSE', conditions: 'opcode OP_ID is OP_INSTANCE_CREATE' },
    ...{ predicates: [['opcode', ['=', 'OP_ID', 'OP_INSTANCE_CREATE']]], reason: 'no new instances before the upgrade' },
  },
  ExportView: { node: 'node3.example.com', export: 'vm1.example.com' },
  TagView: { tag: 'web', count: 1, objects: [{ kind: 'instance', name: 'vm1.example.com' }] },
  SnapshotView: {
    ...{ disk: 0, name: 'before-upgrade', size_mib: 20480, node: null, logical_id: ['rbd', 'vm1.disk0.before-upgrade'] },
    ...{ created: '2026-11-21T08:33:20.000000Z', status: 'ok' },
  },
  StorageUnitView: { name: 'xenvg', size_mib: 1048576, used_mib: 131072, free_mib: 917504, allocatable: true },
  PastEvent: {
    ...{ id: '12-7', type: 'instance.changed', time: '2026-11-21T08:33:20.000000Z' },
    ...{ objects: ['instance/vm1.example.com'], data: {} },
  },
}

const SCHEMAS: Readonly<Record<string, unknown>> = {
  ...OBJECTS,
  MaintenanceChanges: MAINTENANCE_EXAMPLE,
  AnyOpcode: STARTUP,
  JobRequest: { ops: [STARTUP], reason: REASON },
  JobAccepted: { id: 1234 },
  JobCancelled: { cancelled: true, message: 'Dequeued job 1234' },
  JobOperation: FINISHED,
  Job: {
    ...{ id: 1234, status: 'success', priority: 0, archived: false, received: '2026-11-21T08:33:20.000000Z' },
    ...{ started: '2026-11-21T08:33:20.100000Z', ended: '2026-11-21T08:33:21.500000Z', ops: [FINISHED] },
  },
  PlanOfJob: { request: { method: 'POST', path: '/3/instances/vm1.example.com/startup', body: {} } },
  Plan: {
    ...{ id: '0c9d2f7e51b84a36', expires: '2026-11-21T08:48:20.000000Z', possible: true },
    ops: [
      {
        ...{ OP_ID: 'OP_INSTANCE_STARTUP', summary: 'INSTANCE_STARTUP(vm1.example.com)', possible: true },
        locks: [{ lock: 'instance/vm1.example.com', mode: 'exclusive' }],
        prerequisites: [
          { what: 'the node has enough memory', passed: true, reason: null, code: null, node: 'node1.example.com' },
        ],
        messages: [],
        hooks: { path: 'instance-start', pre: ['node1.example.com'], post: ['node1.example.com'] },
        changes: [
          {
            ...{ kind: 'instance', uuid: UUID, name: 'vm1.example.com', change: 'changed' },
            ...{ before: { admin_state: 'down' }, after: { admin_state: 'up' } },
          },
        ],
        ...{ changes_complete: true, changes_note: null },
        node_calls: [{ node: 'node1.example.com', call: 'instance_start' }],
        jobs: [],
      },
    ],
    preconditions: [{ object: 'instance/vm1.example.com', serial_no: 7 }],
  },
  InstanceSpecification: SPECIFICATION,
  CandidateNode: CANDIDATES[1],
  BalanceRequest: { groups: ['default'], max_moves: 10, explain: false },
  BalancePlan: {
    ...{ plan: '0c9d2f7e51b84a36', expires: '2026-11-21T08:48:20.000000Z', groups: SCORES, steps: [STEP] },
    ...{ ops: [REPLACE, MIGRATE], more: false, left_out: null },
    preconditions: [[{ kind: 'instance', uuid: UUID, serial_no: 7 }], []],
  },
  CapacityRequest: { spec: SPECIFICATION, groups: ['default'], max_instances: 100, explain: true },
  Capacity: {
    fits: 1,
    groups: [
      {
        ...{
          group: 'default',
          alloc_policy: 'preferred',
          fits: 1,
          nodes: [['node2.example.com', 'node3.example.com']],
        },
        ...{ reason: WHY_NONE, candidates: [CANDIDATES[1]] },
      },
    ],
  },
  WhatIfRequest: WHAT_IF,
  WhatIf: {
    dead: ['node1.example.com'],
    restored: [
      {
        ...{ instance: 'vm1.example.com', from: ['node1.example.com', 'node2.example.com'] },
        to: ['node2.example.com', 'node3.example.com'],
      },
    ],
    lost: [
      {
        ...{ instance: 'vm2.example.com', nodes: ['node1.example.com'] },
        ...{ reason: 'its disks (plain) are only on the node that is down', candidates: null },
      },
    ],
    ...{ mirrored: [], unmirrored: [], already_down: [], placed: [{ entry: 0, nodes: ['node2.example.com', 'node3.example.com'] }] },
    refused: [{ entry: 0, count: 2, reason: WHY_NONE, candidates: CANDIDATES }],
    ...{ without_reserve: ['node2.example.com'], groups: SCORES },
  },
  ConsoleTicketRequest: { kind: 'serial', read_only: true },
  TokenRequest: { name: TOKEN.name, permissions: TOKEN.permissions, tags: TOKEN.tags, expires: TOKEN.expires },
  Token: TOKEN,
  QueueDrain: { drained: true },
  WatcherPauseRequest: { until: '2026-12-21T08:33:20.000000Z' },
  JobPriority: { priority: -10 },
  JobChanged: { done: true, message: 'Job 1234 is archived' },
  FilterRequest: {
    ...{ priority: 0, predicates: [['opcode', ['=', 'OP_ID', 'OP_INSTANCE_CREATE']]], action: 'PAUSE' },
    reason: 'no new instances before the upgrade',
  },
  FilterMade: { uuid: UUID },
  OsChanges: { hidden: true, osparams: { mirror: 'http://deb.example.com/debian' } },
  TokenCreated: { token: TOKEN, secret: 'gnt_5f0c8c2e9a6b4d17_SECRET' },
  TokenList: { items: [TOKEN] },
  Problem: {
    ...{ type: 'about:blank', title: 'Not Found', status: 404 },
    ...{ detail: 'There is no instance vm9', code: 'unknown_entity' },
  },
  Error: { code: 404, message: 'Not Found', explain: 'Nothing matches the given URI' },
  FilterParams: {
    ...{ priority: 0, predicates: [['opcode', ['=', 'OP_ID', 'OP_INSTANCE_CREATE']]] },
    ...{ action: 'PAUSE', reason: [['gnt:user', 'no new instances before the upgrade', 1795250000000000000]] },
  },
  NodeRole: 'drained',
  ReinstallParams: { os: 'debootstrap+default', start: true },
}

const BODIES: Readonly<Record<string, unknown>> = {
  'post /2/instances': {
    ...{ __version__: 1, mode: 'create', instance_name: 'vm1.example.com', disk_template: 'sharedfile' },
    ...{ disks: [{ size: '10G' }], nics: [{}], os_type: 'debootstrap+default', beparams: { memory: '1G', vcpus: 2 } },
  },
  'put /2/instances/{name}/modify': { beparams: { maxmem: 2048 } },
  'post /2/instances/{name}/disk/{index}/grow': { amount: 5120 },
  'put /2/instances/{name}/rename': { new_name: 'vm2.example.com' },
  'put /2/instances/{name}/migrate': { mode: 'live' },
  'post /2/groups': { group_name: 'rack2' },
  'post /2/networks': { network_name: 'net1', network: '192.0.2.0/24', gateway: '192.0.2.1' },
  'post /2/nodes/{name}/evacuate': { mode: 'primary-only' },
  'put /2/modify': { default_iallocator: 'hail' },
  'post /3/instances': {
    ...{ instance_name: 'vm1.example.com', disk_template: 'sharedfile', disks: [{ size: '10G' }], nics: [{}] },
    ...{ os_type: 'debootstrap+default', beparams: { memory: '1G', vcpus: 2 } },
  },
  'patch /3/instances/{name}': { beparams: { maxmem: 2048 } },
  'post /3/instances/{name}/migrate': { mode: 'live', allow_failover: true },
  'post /3/instances/{name}/rename': { new_name: 'vm2.example.com' },
  'post /3/instances/{name}/snapshots': { disks: [[0, { snapshot_name: 'before-upgrade' }]] },
  'post /3/instances/{name}/disks/{index}/grow': { amount: 5120 },
  'post /3/instances/{name}/tags': { tags: ['web', 'customer:42'] },
  'post /3/instances/{name}/move': { target_node: 'node2.example.com' },
  'post /3/nodes': { node_name: 'node4.example.com', group: 'rack2' },
  'patch /3/nodes/{name}': { drained: true },
  'post /3/nodes/{name}/evacuate': { mode: 'primary-only' },
  'patch /3/nodes/{name}/storage/{storage_type}': { name: '/dev/sdb1', changes: { allocatable: false } },
  'post /3/groups': { group_name: 'rack2' },
  'patch /3/groups/{name}': { alloc_policy: 'last_resort' },
  'post /3/groups/{name}/assign-nodes': { nodes: ['node3.example.com'] },
  'post /3/networks': { network_name: 'net1', network: '192.0.2.0/24', gateway: '192.0.2.1' },
  'post /3/networks/{name}/connect': {
    ...{ group_name: 'default', network_mode: 'bridged', network_link: 'br0', network_vlan: '' },
  },
  'patch /3/cluster': { default_iallocator: 'hail' },
}

type Example = Record<string, unknown>

export function addExamples(
  schemas: Readonly<Record<string, Example>>,
  bodyOf: (verb: string, path: string) => Example | undefined,
): void {
  for (const [name, example] of Object.entries(SCHEMAS)) put(schemas[name], name, example)
  for (const [address, example] of Object.entries(BODIES)) {
    const [verb = '', path = ''] = address.split(' ')
    put(bodyOf(verb, path), address, example)
  }
}

function put(schema: Example | undefined, name: string, example: unknown): void {
  if (schema === undefined) throw new Error(`scripts/openapi/examples.ts has an example of ${name}, which is not there`)
  schema['example'] = example
}
