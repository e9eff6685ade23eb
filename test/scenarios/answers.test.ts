// The answers of a whole cluster are as the contract says, word by word: a job of each opcode, failed and successful, and every read, for
// everybody and for a token with a scope. The validator is Ajv, which reads `nullable`, `oneOf` and bounds as the standard says.
import { Agent, request } from 'undici'
import { allOpcodes } from '../../src/opcodes/index'
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import { Contract, type ContractOperation } from '../support/contract'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { jobEnd } from '../support/job-end'

const agent = new Agent({ connect: { rejectUnauthorized: false } })
const contract = new Contract('rapi')
const complaints: string[] = []
/** By opcode: how its jobs ended. */
const ends = new Map<string, Set<string>>()
/** What did not become a job. */
const refused: string[] = []
let cluster: EmbeddedCluster

beforeAll(async () => {
  cluster = await startCluster(['--hypervisor', 'fake'])
})

afterAll(async () => {
  await agent.close()
  await cluster.remove()
})

const [n1, n2, n3] = ['node1.gantry.local', 'node2.gantry.local', 'node3.gantry.local']
const new_ = { mode: 'create', os_type: 'gantry-tiny', no_install: true, nics: [], pnode: n1 }
const disks = [{ size: 64 }]
const vm1 = { instance_name: 'vm1' }
const vm2 = { instance_name: 'vm2' }
const vm3 = { instance_name: 'vm3' }
const spec = { disk_template: 'plain', memory_mib: 128, vcpus: 1, disks_mib: [64] }
const name = { output_fields: ['name'] }

/** In an order in which each finds what it needs. */
const JOBS: readonly (readonly [id: string, params?: object])[] = [
  ['CLUSTER_POST_INIT'],
  ['CLUSTER_SET_PARAMS', { default_iallocator_params: { 'no-capacity-checks': '' } }],
  ['GROUP_ADD', { group_name: 'rack2' }],
  ['NETWORK_ADD', { network_name: 'net1', network: '10.1.0.0/24', gateway: '10.1.0.1', network6: 'fd00::/64' }],
  ['NETWORK_CONNECT', { network_name: 'net1', group_name: 'default', network_mode: 'bridged', network_link: 'br0' }],
  ['NETWORK_ADD', { network_name: 'net2', network: '10.2.0.0/24' }],
  ['NETWORK_RENAME', { network_name: 'net2', new_name: 'net3' }],
  ['NETWORK_SET_PARAMS', { network_name: 'net3', gateway: '10.2.0.1' }],
  [
    'INSTANCE_CREATE',
    {
      ...new_,
      ...vm1,
      disk_template: 'drbd',
      disks,
      snode: n2,
      tags: ['web'],
      nics: [{ network: 'net1', ip: 'pool' }],
    },
  ],
  ['INSTANCE_CREATE', { ...new_, ...vm2, disk_template: 'plain', disks, no_install: false, start: false }],
  ['INSTANCE_CREATE', { ...new_, ...vm3, disk_template: 'sharedfile', disks, start: false }],
  [
    'INSTANCE_MULTI_ALLOC',
    {
      instances: [{ ...new_, OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'vm4', disk_template: 'diskless', disks: [] }],
    },
  ],
  ['GROUP_ASSIGN_NODES', { group_name: 'rack2', nodes: [n3] }],
  ['INSTANCE_STARTUP', vm2],
  ['INSTANCE_REBOOT', { ...vm1, reboot_type: 'hard' }],
  ['INSTANCE_CONSOLE', vm1],
  ['INSTANCE_QUERY_DATA', { instances: ['vm1'] }],
  ['INSTANCE_SET_PARAMS', { ...vm1, beparams: { minmem: 128 }, hvparams: {} }],
  ['INSTANCE_MIGRATE', { ...vm1, allow_failover: true }],
  ['INSTANCE_SHUTDOWN', { ...vm1, timeout: 1 }],
  ['INSTANCE_FAILOVER', vm1],
  ['INSTANCE_ACTIVATE_DISKS', vm1],
  ['INSTANCE_REPLACE_DISKS', { ...vm1, mode: 'replace_auto' }],
  ['INSTANCE_DEACTIVATE_DISKS', vm1],
  ['INSTANCE_GROW_DISK', { ...vm1, disk: 0, amount: 32 }],
  ['INSTANCE_RECREATE_DISKS', vm1],
  ['INSTANCE_REPAIR', vm1],
  ['INSTANCE_SHUTDOWN', vm2],
  ['INSTANCE_REINSTALL', vm2],
  ['INSTANCE_SNAPSHOT', { ...vm2, disks: [[0, { snapshot_name: 'before' }]] }],
  ['INSTANCE_ROLLBACK_SNAPSHOT', { ...vm2, disks: [[0, { snapshot_name: 'before' }]] }],
  ['INSTANCE_REMOVE_SNAPSHOT', { ...vm2, disks: [[0, { snapshot_name: 'before' }]] }],
  ['BACKUP_PREPARE', { ...vm2, mode: 'remote' }],
  ['BACKUP_EXPORT', { ...vm2, target_node: n3 }],
  ['INSTANCE_MOVE', { ...vm2, target_node: n2 }],
  ['BACKUP_REMOVE', vm2],
  ['BACKUP_EXPORT', { ...vm2, target_node: n3 }],
  ['INSTANCE_RENAME', { instance_name: 'vm4', new_name: 'vm5', name_check: false }],
  ['INSTANCE_CHANGE_GROUP', { instance_name: 'vm5', target_groups: ['rack2'] }],
  ['CLUSTER_BALANCE', { explain: true }],
  ['CLUSTER_CAPACITY', { spec, explain: true }],
  ['CLUSTER_WHAT_IF', { nodes: [n1], instances: [{ spec, count: 2 }], explain: true }],
  ['CLUSTER_QUERY'],
  ['CLUSTER_CONFIG_QUERY', { output_fields: ['cluster_name'] }],
  ['CLUSTER_ACTIVATE_MASTER_IP'],
  ['CLUSTER_REDIST_CONF'],
  ['CLUSTER_REPAIR_DISK_SIZES', { instances: ['vm1'] }],
  ['CLUSTER_VERIFY_CONFIG'],
  ['CLUSTER_VERIFY_DISKS'],
  ['CLUSTER_VERIFY_GROUP', { group_name: 'default' }],
  ['CLUSTER_VERIFY'],
  ['GROUP_SET_PARAMS', { group_name: 'rack2', alloc_policy: 'last_resort' }],
  ['GROUP_RENAME', { group_name: 'rack2', new_name: 'rack3' }],
  ['GROUP_VERIFY_DISKS', { group_name: 'default' }],
  ['GROUP_EVACUATE', { group_name: 'rack3', target_groups: ['default'] }],
  ['NODE_EVACUATE', { node_name: n1, mode: 'secondary-only', iallocator: 'hail' }],
  ['NODE_MIGRATE', { node_name: n2 }],
  ['NODE_SET_PARAMS', { node_name: n3, drained: true, force: true }],
  ['NODE_SET_PARAMS', { node_name: n3, drained: false }],
  ['NODE_QUERY_STORAGE', { ...name, storage_type: 'lvm-vg' }],
  ['NODE_QUERYVOLS', { output_fields: ['node', 'name', 'size', 'instance'] }],
  ['NODE_MODIFY_STORAGE', { node_name: n1, storage_type: 'lvm-pv', name: '/dev/x', changes: { allocatable: false } }],
  ['NODE_POWERCYCLE', { node_name: n3 }],
  ['NODE_ADD', { node_name: n3, readd: true }],
  ['REPAIR_NODE_STORAGE', { node_name: n1, storage_type: 'lvm-vg', name: 'xenvg' }],
  ['REPAIR_COMMAND', { node_name: n1, command: 'repair' }],
  ['RESTRICTED_COMMAND', { nodes: [n1], command: 'nothing' }],
  ['OOB_COMMAND', { node_names: [n1], command: 'power-status' }],
  ['OS_DIAGNOSE', { output_fields: ['name', 'valid', 'variants', 'node_status'] }],
  ['EXT_STORAGE_DIAGNOSE', name],
  ['QUERY', { what: 'node', fields: ['name', 'mfree', 'nosuch'] }],
  ['QUERY_FIELDS', { what: 'instance' }],
  ['TAGS_SET', { kind: 'instance', name: 'vm1', tags: ['customer:42'] }],
  ['TAGS_GET', { kind: 'instance', name: 'vm1' }],
  ['TAGS_SEARCH', { pattern: 'web' }],
  ['TAGS_DEL', { kind: 'instance', name: 'vm1', tags: ['customer:42'] }],
  ['TEST_ALLOCATOR', { direction: 'in', mode: 'node-evacuate', name: 'x', instances: ['vm1'], evac_mode: 'all' }],
  ['TEST_DELAY', { duration: 0.01 }],
  ['TEST_DUMMY', { result: { any: null }, messages: ['said'], fail: false, submit_jobs: null }],
  ['TEST_JQUEUE'],
  ['TEST_OS_PARAMS', { osparams_secret: { password: 'x' } }],
  ['NETWORK_DISCONNECT', { network_name: 'net1', group_name: 'rack3' }],
  ['NETWORK_REMOVE', { network_name: 'net3' }],
  ['INSTANCE_REMOVE', { instance_name: 'vm5' }],
  ['CLUSTER_RENEW_CRYPTO', { renew_ssh_keys: false }],
  ['CLUSTER_RENAME', { name: 'other.gantry.local' }],
]

/** After everything else. */
const LAST: typeof JOBS = [
  ['NODE_REMOVE', { node_name: n3 }],
  ['GROUP_REMOVE', { group_name: 'rack3' }],
  ['CLUSTER_DEACTIVATE_MASTER_IP'],
]

/** They fail here: for a cluster with instances, a new name that has no address, storage in user space, files that share no blocks. */
const MAY_FAIL = [
  ...['OP_CLUSTER_DESTROY', 'OP_CLUSTER_RENAME', 'OP_INSTANCE_RECREATE_DISKS', 'OP_NODE_MODIFY_STORAGE'],
  ...['OP_NODE_POWERCYCLE', 'OP_REPAIR_COMMAND', 'OP_REPAIR_NODE_STORAGE'],
  ...['OP_INSTANCE_SNAPSHOT', 'OP_INSTANCE_ROLLBACK_SNAPSHOT', 'OP_INSTANCE_REMOVE_SNAPSHOT'],
]

test('a job of every opcode that went well', async () => {
  for (const [id, params = {}] of JOBS) await jobOf(id, params)
  expect(complaints.splice(0)).toEqual([])
  expect(refused.splice(0)).toEqual([])
}, 900_000)

test('jobs that failed', async () => {
  const failing = [...JOBS, ...LAST].filter(([id, params = {}]) => !/ADD$|CREATE$/.test(id) && names(params).length > 0)
  await Promise.all([...failing.map(([id, params = {}]) => jobOf(id, elsewhere(params))), jobOf('CLUSTER_DESTROY')])
  expect(complaints.splice(0)).toEqual([])
}, 300_000)

test('every read, for everybody and for a token with a scope', async () => {
  await jobOf('INSTANCE_STARTUP', vm2)
  // A job with locks, and an opcode that waits for it.
  const delay = { OP_ID: 'OP_TEST_DELAY', duration: 15, on_nodes: [n1], no_locks: false }
  const { text } = await ask('POST', '/3/jobs', { ops: [delay, { ...delay, duration: 0.1 }], reason: 'to be seen' })
  const { id: running } = JSON.parse(text) as { id: number }
  const rule = { predicates: [['opcode', ['=', 'OP_ID', 'OP_TEST_DUMMY']]], action: 'PAUSE', reason: 'to be seen' }
  await ask('POST', '/3/filters', rule)
  const token = { name: 'scoped', permissions: ['*'], tags: ['web'], expires: '2099-01-01T00:00:00Z' }
  const made = JSON.parse((await ask('POST', '/3/tokens', token)).text) as { secret: string; token: { id: string } }
  await ask('POST', '/3/plans', { ops: [{ OP_ID: 'OP_INSTANCE_STARTUP', ...vm1 }] })
  await ask('POST', '/3/balance', { explain: true })
  await ask('POST', '/3/capacity', { spec, explain: true })
  await ask('POST', '/3/whatif', { nodes: [n1], instances: [{ spec, count: 2 }], explain: true })
  for (const as of [undefined, `Bearer ${made.secret}`])
    for (const operation of contract.operations.filter(({ verb, url }) => verb === 'GET' && url.startsWith('/3/')))
      for (const path of pathsOf(operation)) await ask('GET', path, undefined, as)
  await jobEnd(cluster.master, running)
  expect(complaints.splice(0)).toEqual([])
}, 300_000)

test('no opcode was left out', async () => {
  for (const [id, params = {}] of LAST) await jobOf(id, params)
  expect(complaints).toEqual([])
  expect([...ends.keys()].sort()).toEqual([...allOpcodes.keys()].sort())
  const failed = [...ends].flatMap(([id, how]) => (how.has('success') ? [] : id))
  expect(MAY_FAIL).toEqual(expect.arrayContaining(failed))
}, 120_000)

async function jobOf(id: string, params: object = {}): Promise<void> {
  const op: WireOpCode = { OP_ID: `OP_${id}`, ...params }
  const { status, text } = await ask('POST', '/3/jobs', { ops: [op] })
  if (status !== 202) return void refused.push(`${id}: ${text}`)
  const { id: job } = JSON.parse(text) as { id: number }
  await jobEnd(cluster.master, job)
  const ended = JSON.parse((await ask('GET', `/3/jobs/${job}`)).text) as { status: string }
  ends.set(op.OP_ID, (ends.get(op.OP_ID) ?? new Set()).add(ended.status))
}

const NAMES = ['instance_name', 'node_name', 'group_name', 'network_name', 'name']
const names = (params: object): string[] => Object.keys(params).filter((key) => NAMES.includes(key))

/** The same with objects that are not there. */
const elsewhere = (params: object): object => ({
  ...params,
  ...Object.fromEntries(names(params).map((key) => [key, 'nosuch'])),
})

const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  instances: ['vm1', 'vm2', 'vm3'],
  nodes: [n1, n3],
  groups: ['default', 'rack3'],
  networks: ['net1'],
  os: ['gantry-tiny'],
  locks: [`node/${n1}`],
}

/** The addresses of a read: of some objects, and with every field that there is. */
function pathsOf({ url, parameters = [] }: ContractOperation): string[] {
  if (url === '/3/events') return []
  const [, , kind = ''] = url.split('/')
  const named = url.includes('{name}') ? (EXAMPLES[kind] ?? []) : ['']
  const paths = named.map((one) => url.replace('{name}', encodeURIComponent(one))).filter((one) => !one.includes('{'))
  const fields = parameters.some((one) => one.name === 'fields') ? contract.fieldsOf(kind) : []
  return paths.flatMap((one) => [one, ...(fields.length === 0 ? [] : [`${one}?fields=${fields.join(',')}`])])
}

/** An answer, after it was compared with the contract. */
async function ask(method: 'GET' | 'POST', path: string, body?: unknown, as = basic()) {
  const answer = await request(cluster.url + path, {
    ...{ method, dispatcher: agent, body: body === undefined ? undefined : JSON.stringify(body) },
    headers: { authorization: as, ...(body !== undefined && { 'content-type': 'application/json' }) },
    signal: AbortSignal.timeout(60_000),
  })
  const [status, text] = [answer.statusCode, await answer.body.text()]
  const operation = contract.operationAt(method, path)
  const complaint = contract.complaintOf(operation, status, String(answer.headers['content-type'] ?? ''), text)
  const wrong = status >= 500 ? text : complaint
  if (wrong !== undefined)
    complaints.push(`${method} ${path} ${status}: ${wrong}\n${JSON.stringify(body)}\n${text.slice(0, 2000)}`)
  return { status, text }
}

const basic = (): string => `Basic ${Buffer.from(`admin:${cluster.password}`).toString('base64')}`
