// Each node call has Ganeti's encoding, and the table says what callers and plans need.
import { pathsOf } from '../../../../src/lib/paths'
import { MARK } from '../../../../src/model/marks'
import {
  type ArgsOf,
  REAL_ONLY,
  type ResultOf,
  callOf,
  isCallName,
  isOwnCall,
  nodeCalls,
} from '../../../../src/rpc/node/calls'
import { bodyFor, decodeAnswer, decodeCall, encodeAnswer, encodeCall } from '../../../../src/rpc/node/protocol'
import { instanceDict } from '../../../support/hypervisor'

const real = pathsOf('', 'node1')
const virtual = pathsOf('/tmp/c/node1', 'node1')

/** A branch of Ganeti that was never released has these. */
const UNRELEASED = ['repair_command']

test("Ganeti's 109 calls are there, and ours are recognizable", () => {
  const names = Object.keys(nodeCalls)
  expect(names.filter((name) => !name.startsWith('gantry_'))).toHaveLength(109 + UNRELEASED.length)
  expect(isCallName('instance_start')).toBe(true)
  expect(isCallName('toString')).toBe(false)
})

test('types follow the table', () => {
  const args: ArgsOf<'jobqueue_update'> = ['/var/lib/ganeti/queue/job-1', 'text']
  const info: ResultOf<'node_info'> = ['boot', [], []]
  // @ts-expect-error a number is no file name
  const wrong: ArgsOf<'jobqueue_update'> = [1, 'text']
  expect([args, info, wrong]).toHaveLength(3)
})

test('paths are marked on the wire between virtual nodes, and local at both ends', () => {
  const body = encodeCall('jobqueue_update', ['/tmp/c/node1/var/lib/ganeti/queue/job-1', 'x'], virtual)
  expect(JSON.parse(body)).toEqual(['/###-VIRTUAL-PATH-###,/var/lib/ganeti/queue/job-1', [0, 'x']])
  const other = pathsOf('/tmp/c/node2', 'node2')
  expect(decodeCall('jobqueue_update', body, other)).toEqual(['/tmp/c/node2/var/lib/ganeti/queue/job-1', 'x'])
  expect(decodeCall('jobqueue_update', body, real)).toEqual(['/var/lib/ganeti/queue/job-1', 'x'])
})

test('long texts travel compressed and arrive whole', () => {
  const content = 'ä'.repeat(5000)
  const body = encodeCall('jobqueue_update', ['/var/lib/ganeti/queue/job-1', content], real)
  expect(body.length).toBeLessThan(500)
  expect(decodeCall('jobqueue_update', body, real)).toEqual(['/var/lib/ganeti/queue/job-1', content])
})

test('upload_file carries one argument, a list of seven', () => {
  const file = { path: '/etc/hosts', content: 'x', mode: 420, owner: 'root', group: 'root', atime: null, mtime: 1.5 }
  const body = encodeCall('upload_file', [file], real)
  expect(JSON.parse(body)).toEqual([['/etc/hosts', [0, 'x'], 420, 'root', 'root', null, 1.5]])
  expect(decodeCall('upload_file', body, real)).toEqual([file])
})

test('our own marks leave the master in no reason trail, and no node takes them', () => {
  const theirs = [['gnt:user', 'why', 1]] as const
  const marked = [...Object.values(MARK).map((source) => [source, 'x', 1] as const), ...theirs]
  const args: ArgsOf<'instance_shutdown'> = [instanceDict(), 0, marked]
  expect(JSON.parse(encodeCall('instance_shutdown', args, real))).toMatchObject([{}, 0, theirs])
  // From a master of an earlier version.
  expect(decodeCall('instance_shutdown', JSON.stringify(args), real)[2]).toEqual(theirs)
})

test('instance_console_info has an object for its body', () => {
  expect(encodeCall('instance_console_info', [{}], real)).toBe('{}')
  expect(decodeCall('instance_console_info', '{}', real)).toEqual([{}])
})

test('the common part of requests for consoles is written once for all of them', () => {
  let written = 0
  const ndparams = { toJSON: () => ({ ssh_port: ++written }) }
  const request = (name: string, node: { ndparams: object }) => ({
    ...{ instance: { name, hypervisor: 'kvm' }, node, group: {} },
    ...{ hvParams: { serial_console: name === 'b' }, beParams: { vcpus: 1 } },
  })
  const [node, other] = [{ ndparams }, { ndparams: { ssh_port: 7 } }]
  const requests = { a: request('a', node), b: request('b', node), c: request('c', other) }
  const body = encodeCall('instance_console_info', [requests], real)
  expect(written).toBe(1)
  const reported = Object.entries(requests).map(([name, one]) => [name, { ...one, node: name === 'c' ? other : { ndparams: { ssh_port: 1 } } }]) // prettier-ignore
  expect(body).toBe(JSON.stringify(Object.fromEntries(reported)))
})

test.each([
  ['no object', '[1, "", "t"]', 'expected an object'],
  ['no name', '[{}, "", "t"]', 'key "name" is missing'],
  ['a name that is a path', '[{"name": "../x", "uuid": "u", "hypervisor": "h", "os": "", "hvparams": {}, "beparams": {}}, "", "t"]', 'name: expected a text (instance name)'], // prettier-ignore
])('an instance with %s is refused', (_what, body, text) => {
  expect(() => decodeCall('accept_instance', body, real)).toThrow(`accept_instance: argument 'instance': ${text}`)
})

test('what a plan takes for the answer of a call that it does not make is an answer that nodes may give', () => {
  const calls = Object.keys(nodeCalls).filter(isCallName).map(callOf)
  const unasked = calls.filter(({ kind, program }) => kind !== 'question' || program !== undefined)
  expect(unasked.length).toBeGreaterThan(60)
  for (const { planned, args, result } of unasked) {
    const answer = planned?.(...args.map(() => []))
    if (answer !== REAL_ONLY) expect(() => result.parse(answer)).not.toThrow()
  }
  expect(callOf('blockdev_pause_resume_sync').planned?.([{}, {}], true)).toEqual([
    [true, null],
    [true, null],
  ])
  expect(callOf('blockdev_getmirrorstatus').plannedAfterOrders?.([{}])).toMatchObject([{ is_degraded: false }])
})

test('answers carry a payload or a text', () => {
  expect(encodeAnswer({ ok: true, payload: null })).toBe('[true, null]\n')
  expect(decodeAnswer('[true, {"a": 1}]\n')).toEqual({ ok: true, payload: { a: 1 } })
  expect(decodeAnswer('[false, "broken"]')).toEqual({ ok: false, text: 'broken' })
  expect(decodeAnswer('[false, null]')).toEqual({ ok: false, text: 'No error information' })
  expect(() => decodeAnswer('{}')).toThrow('not [success, payload]')
})

test('only version and node_powercycle go to offline nodes', () => {
  const names = Object.keys(nodeCalls).filter(isCallName)
  expect(names.filter((name) => callOf(name).offlineToo)).toEqual(['node_powercycle', 'version'])
})

test('each order of ours says whether a node takes it only from its master', () => {
  const names = Object.keys(nodeCalls).filter(isCallName)
  const silent = names.filter((name) => isOwnCall(name) && callOf(name).kind === 'order' && callOf(name).masterOnly === undefined) // prettier-ignore
  expect(silent.map((name) => `${name}: say it in src/rpc/node/calls.ts with masterOnly`)).toEqual([])
  expect(names.filter((name) => callOf(name).masterOnly).sort()).toEqual([
    ...['gantry_config_append', 'gantry_config_replace', 'gantry_distributed_read', 'gantry_distributed_write'],
    ...['gantry_file_link'],
    ...[
      'gantry_jobqueue_append',
      'gantry_jobqueue_fold',
      'gantry_jobqueue_keep',
      'gantry_jobqueue_read',
      'gantry_jobqueue_write',
      'gantry_migration_accept',
      'gantry_migration_recover',
    ],
    ...['gantry_migration_send', 'gantry_reason', 'gantry_snapshot_restore'],
    ...['jobqueue_rename', 'jobqueue_set_drain_flag', 'jobqueue_update'],
  ])
})

test('each node is told its own end of a DRBD disk, as Ganeti tells it, and a disk may have no port yet', () => {
  const ends = { a: { 'local-minor': 0, 'remote-minor': 4 }, b: { 'local-minor': 4, 'remote-minor': 0 } }
  const child = { uuid: 'c', dev_type: 'plain', size: 8, dynamic_params: {} }
  const logical_id = ['a', 'b', null, 0, 4, 'secret']
  const drbd = { uuid: 'd', dev_type: 'drbd', size: 8, logical_id, children: [child], dynamic_params: ends }
  const body = encodeCall('blockdev_find', [drbd], real)
  const [toB] = decodeCall('blockdev_find', bodyFor('b', body), real)
  expect(toB).toMatchObject({ logical_id, dynamic_params: ends.b, children: [{ dynamic_params: {} }] })
  expect(decodeCall('blockdev_find', bodyFor('other', body), real)[0].dynamic_params).toEqual({})
  const plain = encodeCall('blockdev_find', [child], real)
  expect(bodyFor('a', plain)).toBe(plain)
})
