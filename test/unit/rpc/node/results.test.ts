// Answers of nodes as their callers take them: Ganeti's nodes (recorded) and ours are read, and what has another shape is the failure
// of that node and call.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { pathsOf } from '../../../../src/lib/paths'
import { nodeUuid } from '../../../../src/model/ids'
import { type CallName, isCallName } from '../../../../src/rpc/node/calls'
import { openNodeClient } from '../../../../src/rpc/node/client'
import { decodeAnswer, decodeResult } from '../../../../src/rpc/node/protocol'

const file = path.join(__dirname, '../../../golden/node/answers.json')
const recorded = JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, readonly unknown[]>
const read = (call: CallName, answer: unknown): unknown => decodeResult(call, 'node1', answer)

test.each(Object.entries(recorded))("%s: the answers of Ganeti's nodes are read as they are", (call, answers) => {
  if (!isCallName(call)) throw new Error(`unknown call ${call}`)
  const unread = call === 'jobqueue_rename'
  expect(answers.map((answer) => read(call, answer))).toEqual(unread ? [[null], [null], [null]] : answers)
})

test.each<[string, CallName, unknown, unknown]>([
  ['a volume group that is not there', 'node_info', ['id', [{ type: 'lvm-vg', name: 'xenvg', storage_free: null, storage_size: null }], null], undefined], // prettier-ignore
  ['a hypervisor that tells more', 'node_info', ['id', null, [{ ...numbers(), memory_hv: 1, hv_version: [4, 17], more: 1 }]], undefined], // prettier-ignore
  ['an instance that does not run', 'instance_info', {}, undefined],
  ['a disk on a node that is not the primary one', 'blockdev_assemble', [true, true], undefined],
  ['a disk with its address', 'blockdev_assemble', ['/a', '/b', 'kvm:uri'], undefined],
  ['values that are not known yet', 'impexp_status', [{ recent_output: null, ctime: 1, mtime: 2, listen_port: null }], [{ recent_output: [], ctime: 1, mtime: 2 }]], // prettier-ignore
  ['a file that is not there', 'get_file_info', [false, null], [false, {}]],
  ['keys that all nodes took', 'node_ssh_key_add', null, []],
  ['more than anybody reads', 'instance_shutdown', ['whatever'], null],
])('%s is read', (_what, call, answer, expected = answer) => {
  expect(read(call, answer)).toEqual(expected)
})

test.each<[CallName, unknown, string]>([
  ['all_instances_info', { vm1: { memory: '1', vcpus: 1, state: 0, time: 0 } }, 'vm1: memory: expected a number'],
  ['all_instances_info', [], 'expected an object'],
  ['node_info', ['id', null, [{ memory_total: 1 }]], 'key "memory_free" is missing in [2][0]'],
  ['blockdev_getmirrorstatus_multi', [[true, { is_degraded: 1, dev_path: '' }]], '[0][1]: is_degraded: expected true or false'], // prettier-ignore
  ['hooks_runner', [['a', 7, '']], '[0][1]: expected one of 0, 1, 2'],
  ['version', null, 'expected a number'],
  [
    'all_instances_info',
    { vm1: { memory: 1, vcpus: 1e308, state: 0, time: 0 } },
    'vm1: vcpus: expected a number of at least',
  ],
  [
    'all_instances_info',
    { vm1: { memory: -1, vcpus: 1, state: 0, time: 0 } },
    'vm1: memory: expected a number of at least 0',
  ],
  ['node_info', ['id', [{ type: 'file', name: '/', storage_free: 1e300, storage_size: 1 }], null], '[1][0]: storage_free: expected a number'], // prettier-ignore
  ['node_info', ['id', null, [{ ...numbers(), hv_version: { a: 1 } }]], '[2][0]: hv_version: expected'],
  ['storage_list', [['/srv', { a: 1 }]], '[0][1]: expected'],
  ['instance_console_info', { vm1: { instance: 'vm1', kind: 'ssh', host: 'node1', user: '-oProxyCommand=sh' } }, 'vm1: user: expected a'], // prettier-ignore
  ['instance_console_info', { vm1: { instance: 'vm1', kind: 'ssh', host: '-oProxyCommand=sh' } }, 'vm1: host: expected a'], // prettier-ignore
])('a wrong answer to %s names the field', (call, answer, what) => {
  expect(() => read(call, answer)).toThrow(`the answer of node1 to ${call} has another shape: ${what}`)
})

test('control characters of a node do not reach a terminal', () => {
  expect(read('hooks_runner', [['a', 1, '\u001b[31mred\r\n']])).toEqual([['a', 1, '\\x1b[31mred\\x0d\n']])
  expect(read('instance_reboot', ['\u009b2J'])).toEqual(['\\x9b2J'])
  expect(decodeAnswer('[false, "\\u001b[31m\\r\\nfake: log"]')).toEqual({
    ok: false,
    text: '\\x1b[31m\\x0d\nfake: log',
  })
})

test('only the node that answers wrongly fails, and only in that call', async () => {
  const answers: Record<string, string> = { 'node1 vg_list': '[true, {"xenvg": 5}]', 'node2 vg_list': '[true, {"xenvg": "5"}]' } // prettier-ignore
  const client = openNodeClient({
    paths: pathsOf('', 'master'),
    transport: {
      exchange: ({ name }, call) => Promise.resolve(answers[`${name} ${call}`] ?? '[true, 3000000]'),
      close: () => undefined,
    },
  })
  const target = (name: string) => ({ uuid: nodeUuid(name), name, primary_ip: '127.0.0.1', offline: false })
  const why = 'the answer of node2 to vg_list has another shape: xenvg: expected a number'
  await expect(client.all([target('node1'), target('node2')], 'vg_list', [])).resolves.toEqual(
    new Map([
      ['node1', { ok: true, payload: { xenvg: 5 } }],
      ['node2', { ok: false, error: why, offline: false }],
    ]),
  )
  await expect(client.one(target('node2'), 'vg_list', [])).rejects.toThrow(`Call 'vg_list' to node 'node2' has failed: ${why}`) // prettier-ignore
  await expect(client.one(target('node2'), 'version', [])).resolves.toBe(3000000)
})

function numbers() {
  const memory = { memory_total: 3, memory_free: 2, memory_dom0: 1 }
  return { ...memory, cpu_total: 4, cpu_nodes: 1, cpu_sockets: 1, cpu_dom0: 4 }
}
