// Which events changes, jobs and repairs make, and whom they name.
import type { Asker, Delta } from '../../../../src/config/delta'
import type { Job } from '../../../../src/jobs/job'
import { observe } from '../../../../src/maintenance/event-lifecycle'
import { MAINTENANCE } from '../../../../src/model/maintenance'
import { EMPTY_GANTRY } from '../../../../src/config/upgrade'
import { configEvents, jobEvents, submitter, untoldCopies } from '../../../../src/services/events/event-sources'
import { askerOf, userOf } from '../../../../src/services/filter-rules'
import { goldenConfig } from '../../../support/golden-query'

const config = goldenConfig()
const [node] = Object.values(config.nodes)
if (node === undefined) throw new Error('the recorded cluster has no node')
const changed = { ...node, serial_no: node.serial_no + 1 }
const delta: Delta = { from: config.serial_no, to: config.serial_no + 1, mtime: 1, nodes: { [node.uuid]: changed } }
const users = new Map([[7, 'anna']])
const who = (asker: Asker): string | null => (typeof asker === 'number' ? (users.get(asker) ?? null) : userOf(asker))

test('a change of the configuration tells object, serial number, jobs and who submitted them', () => {
  expect(configEvents(config, config, { ...delta, askers: [7, 8] }, who)).toMatchObject([
    {
      type: 'config',
      objects: [`node/${node.name}`],
      data: { serial_no: changed.serial_no, config: { serial_no: delta.to, jobs: [7, 8], who: ['anna', null] } },
    },
  ])
})

test('a change that a user asked for without a job names the user', () => {
  const [event] = configEvents(config, config, { ...delta, askers: ['luxid', askerOf('berta')] }, who)
  expect(event?.data['config']).toEqual({ serial_no: delta.to, who: ['berta'] })
})

test('a change that no job asked for names nobody', () => {
  expect(configEvents(config, config, delta, who)[0]?.data['config']).toEqual({ serial_no: delta.to })
})

test('an event of a job names no more than a few objects and opcodes, however many the job has', () => {
  const names = Array.from({ length: 5000 }, (_, at) => `vm${at}`)
  const input = { OP_ID: 'OP_INSTANCE_QUERY_DATA', instances: ['x'.repeat(5000), 'vm0', ...names] }
  const ops = Array.from({ length: 500 }, () => ({ input, status: 'queued', log: [] }))
  const [event] = jobEvents(undefined, { id: 7, ops } as unknown as Job, undefined)
  expect(event?.objects).toHaveLength(50)
  expect(event?.objects.slice(0, 3)).toEqual(['job/7', 'instance/vm0', 'instance/vm1'])
  expect(event?.data['ops']).toHaveLength(50)
  expect(JSON.stringify(event).length).toBeLessThan(32_000)
})

test.each([
  [
    'a job of /2',
    [
      ['gantry:user', 'anna', 1],
      ['gnt:library:rlib2:x', '', 1],
    ],
    { user: 'anna', token: null },
  ],
  [
    'a job through a token',
    [
      ['gantry:user', 'anna', 1],
      ['gantry:token', 'ab', 1],
    ],
    { user: 'anna', token: 'ab' },
  ],
  ['a command on the master', [['gnt:client:gnt-node', 'modify', 1]], { user: null, token: null }],
])('%s is known by its reason trail', (_what, reason, expected) => {
  const ops = [{ input: { OP_ID: 'OP_TEST_DELAY', reason } }]
  expect(submitter({ id: 7, ops } as unknown as Job)).toEqual(expected)
})

test('repair events and reports that cannot be used are told, and when an event is forgotten', () => {
  const [event] = observe([], new Map([[node.uuid, { status: 'evacuate' }]]), { now_s: 1, newId: () => 'e1' }).events
  const reported = (sections: Record<string, Record<string, unknown>>) =>
    configEvents(config, config, { from: 1, to: 2, mtime: 1, gantry: { serial_no: 2, sections } }, () => null)
  expect(reported({ [MAINTENANCE.events]: { e1: event } })).toMatchObject([
    {
      type: 'maintenance',
      objects: [`node/${node.name}`],
      data: { id: 'e1', 'repair-status': 'noted', node: node.name },
    },
  ])
  expect(reported({ [MAINTENANCE.events]: { e1: null } })).toMatchObject([{ data: { id: 'e1', forgotten: true } }])
  expect(reported({ [MAINTENANCE.rounds]: { problems: { node2: 'forged' } } })).toMatchObject([
    { type: 'maintenance', objects: ['node/node2'], data: { node: 'node2', problem: 'forged' } },
  ])
})

test('a token that is made or revoked is told by its id, and no more of it', () => {
  const gantry = { serial_no: 2, sections: { tokens: { a: { name: 'robot', digest: 'x' }, b: null } } }
  const data = { kind: 'token', serial_no: null, config: { serial_no: 2 } }
  expect(configEvents(config, config, { from: 1, to: 2, mtime: 1, gantry }, () => null)).toEqual([
    { type: 'config', objects: ['token/a'], data: { ...data, uuid: 'a', name: 'a', change: 'added' } },
    { type: 'config', objects: ['token/b'], data: { ...data, uuid: 'b', name: 'b', change: 'removed' } },
  ])
})

test('a copy that has more than the master is told, once, also when nobody followed the configuration meanwhile', () => {
  const note = { time: 7, node: 'node2', text: 'it has config.data with serial number 9 (here: 1)' }
  const sections = { copies: { 1: note, 2: null, 3: 'forged' } }
  const event = { type: 'node', objects: ['node/node2'], data: { node: 'node2', change: 'copy', why: note.text, since: 7 } } // prettier-ignore
  const delta = { from: 1, to: 2, mtime: 1, gantry: { serial_no: 2, sections } }
  expect(configEvents(config, config, delta, () => null)).toEqual([event])
  const gantry = { ...EMPTY_GANTRY, sections }
  expect(untoldCopies(gantry, [])).toEqual([event])
  expect(untoldCopies(gantry, [event])).toEqual([])
})

test('the instance whose disk gets or loses a snapshot has changed, and a disk of nobody is passed over', () => {
  const instance = Object.values(config.instances).find(({ disks }) => disks.length > 0)
  if (instance === undefined) throw new Error('no instance has disks')
  const { uuid, name, serial_no, disks } = instance
  const gantry = { serial_no: 2, sections: { snapshots: { [disks[0] ?? '']: null, gone: [] } } }
  expect(configEvents(config, config, { from: 1, to: 2, mtime: 1, gantry }, () => null)).toEqual([
    {
      ...{ type: 'config', objects: [`instance/${name}`] },
      data: { kind: 'instance', uuid, name, serial_no, change: 'changed', config: { serial_no: 2 } },
    },
  ])
})
