// Whatever a caller sends, a node answers with a result or with a reason, never with a defect of ours. Ganeti's masters leave out,
// or send null for, what they have nothing to say about.
import { dispatch } from '../../../src/node/dispatch'
import { type CallName, callOf, isCallName, nodeCalls } from '../../../src/rpc/node/calls'
import { decodeAnswer, decodeResult } from '../../../src/rpc/node/protocol'
import { testNode } from '../../support/node-context'
import { diskDict, instanceDict } from '../../support/hypervisor'

const node = testNode()
afterAll(() => node.remove())

const DISK = { ...diskDict('a'), logical_id: ['loop', '/srv/ganeti/file-storage/inst1.example.com/a'] }
const INSTANCE = instanceDict({
  hypervisor: 'fake',
  disks_info: [DISK],
  nics: [{ uuid: 'n', mac: 'aa:00:00:00:00:01', nicparams: {} }],
})

/** Each with one of its values null, or missing. */
const variants = (object: object): object[] =>
  Object.keys(object).flatMap((key) => {
    const { [key]: _, ...rest } = { ...object } as Record<string, unknown>
    return [rest, { ...rest, [key]: null }]
  })

const VALUES: readonly unknown[] = [
  ...['', 'x', '/srv/ganeti/x', 'fake', 'kvm', 'file', 'lvm-vg', 'add', 'disk', '127.0.0.1'],
  ...[0, -1, 1.5, true, false, null, {}, [], [null], [[null]], [[null, null, null]], { x: null }, ['x'], [{}], [[]]],
  ...[{ fake: null }, { fake: {} }, ['fake'], [['fake', null]], [['file', null, null]], [['ssl', 'get', null]]],
  ...[
    [0, ''],
    [0, 'x'],
    ['raw', null],
    ['raw', [null]],
    ['script', [DISK]],
    ['file', []],
  ],
  ...[INSTANCE, DISK, [DISK], ...variants(INSTANCE), ...variants(DISK), ...variants(DISK).map((disk) => [disk])],
  { inst: { instance: INSTANCE, node: null, group: null, hvParams: null, beParams: null } },
  { inst: { instance: null } },
]

/** The first two would change the machine on which the tests run; the last one makes callers wait who guess. */
const LEFT_OUT: readonly CallName[] = ['node_configure_ovs', 'node_powercycle', 'repair_command', 'restricted_command']
const calls = Object.keys(nodeCalls)
  .filter(isCallName)
  .filter((name) => !LEFT_OUT.includes(name))

test.each(calls)('%s', async (name) => {
  const { args, bareBody } = callOf(name)
  const accepted = args.map(({ shape }) =>
    VALUES.filter((value) => {
      try {
        shape.parse(value, node.paths)
        return true
      } catch {
        return false
      }
    }),
  )
  const usual = accepted.map((values) => values[0])
  const bodies = [usual, ...accepted.flatMap((values, at) => values.map((value) => usual.with(at, value)))]
  for (const body of bodies) {
    const text = JSON.stringify(bareBody ? body[0] : body)
    const answer = await dispatch(node.context, name, text)
    expect([text, answer]).toEqual([text, expect.stringMatching(/^\[(true|false), (?!"Error while executing backend)/)])
    const reported = decodeAnswer(answer)
    if (reported.ok) expect(() => decodeResult(name, 'node1', reported.payload)).not.toThrow()
  }
})

test('node_info leaves out what was not asked for, as Ganeti does', async () => {
  const answer: unknown = JSON.parse(await dispatch(node.context, 'node_info', '[null, null]'))
  expect(answer).toEqual([true, [expect.any(String), null, null]])
})
