// What tags allow a repair to do, and how they remember it.
import {
  BadRepairTags,
  advance,
  afterJobs,
  allowed,
  proposeRepair,
  refuse,
  repairOf,
  repairPolicy,
} from '../../../src/maintenance/auto-repair'

const P = 'ganeti:watcher:autorepair:'
const UUID_1 = '11111111-aaaa-4bbb-8ccc-000000000001'
const UUID_2 = '22222222-aaaa-4bbb-8ccc-000000000002'
const pending = (uuid: string, time_s: number, jobs = '12+13') => `${P}pending:failover:${uuid}:${time_s}:${jobs}`
const result = (uuid: string, time_s: number, how: string) => `${P}result:failover:${uuid}:${time_s}:${how}:12`

test('the nearest object with a tag decides what is allowed, and there the least of several', () => {
  const cluster = [`${P}reinstall`, `${P}fix-storage`]
  expect(repairPolicy([[], [], cluster], 1000)).toEqual({ kind: 'enabled', type: 'fix-storage' })
  expect(repairPolicy([[`${P}failover`], [], cluster], 1000)).toEqual({ kind: 'enabled', type: 'failover' })
  expect(repairPolicy([['other'], [`${P}migrate`], cluster], 1000)).toEqual({ kind: 'enabled', type: 'migrate' })
  expect(repairPolicy([[], [`${P}no-such-type`], []], 1000)).toEqual({ kind: 'not enabled' })
})

test('a suspension holds for ever or until its time, and longer ones win', () => {
  const enabled = `${P}reinstall`
  expect(repairPolicy([[`${P}suspend`, enabled]], 1000)).toEqual({ kind: 'suspended', until_s: Infinity })
  expect(repairPolicy([[`${P}suspend:1500`, `${P}suspend:2000`, enabled]], 1000)).toEqual({
    kind: 'suspended',
    until_s: 2000,
  })
  expect(repairPolicy([[`${P}suspend:1000`, enabled]], 1000)).toEqual({ kind: 'enabled', type: 'reinstall' })
  expect(repairPolicy([[enabled], [`${P}suspend`]], 1000)).toEqual({ kind: 'enabled', type: 'reinstall' })
  expect(repairPolicy([[], [`${P}suspend`], [enabled]], 1000)).toEqual({ kind: 'suspended', until_s: Infinity })
})

test('tags that are no repairs, or broken ones, say nothing', () => {
  const tags = [
    'web',
    `${P}failover`,
    `${P}pending:failover:x:then:12`,
    `${P}result:failover:x:5:maybe:12`,
    pending('x', 5, 'a'),
  ]
  expect(repairOf('inst1', tags)).toEqual({ state: 'Healthy', obsolete: [] })
})

test('a pending tag is read whole', () => {
  const tag = pending(UUID_1, 1700000000)
  expect(repairOf('inst1', [tag])).toEqual({
    state: 'Pending repair',
    task: { type: 'failover', uuid: UUID_1, time_s: 1700000000, jobs: [12, 13] },
    tag,
    obsolete: [],
  })
})

test('the newest end of several counts, and the tags of older tasks go', () => {
  const [older, newer] = [result(UUID_2, 100, 'success'), result(UUID_1, 200, 'success')]
  expect(repairOf('inst1', [newer, older])).toMatchObject({ state: 'Healthy', tag: newer, obsolete: [older] })
})

test('the earliest failure stays, whatever came later', () => {
  const failed = result(UUID_2, 100, 'failure')
  expect(repairOf('inst1', [result(UUID_1, 200, 'success'), failed])).toMatchObject({ state: 'Failure', tag: failed })
})

test('within a task a failure weighs more than a success, and that more than what goes on', () => {
  const both = [result(UUID_1, 100, 'failure'), result(UUID_1, 200, 'success'), pending(UUID_1, 300)]
  expect(repairOf('inst1', both).state).toBe('Failure')
  expect(repairOf('inst1', both.slice(1)).state).toBe('Healthy')
})

test('something newer than a pending repair is refused by name', () => {
  const tags = [pending(UUID_1, 100), result(UUID_2, 200, 'success')]
  expect(() => repairOf('inst1', tags)).toThrow(BadRepairTags)
  expect(() => repairOf('inst1', tags)).toThrow(
    /instance inst1: found tag ".*result.*", but older pending tag ".*pending/,
  )
})

test('a repair goes from pending to its result with its jobs, and the old tag goes', () => {
  const task = { type: 'failover', uuid: UUID_1, time_s: 100, jobs: [12, 13] } as const
  const begun = advance({ state: 'Healthy', obsolete: [] }, task)
  expect(begun).toMatchObject({ state: 'Pending repair', tag: pending(UUID_1, 100), obsolete: [] })
  expect(afterJobs(begun, ['success', 'running'], 150)).toBe(begun)
  expect(afterJobs(begun, ['success', 'success'], 150.7)).toMatchObject({
    state: 'Healthy',
    tag: `${P}result:failover:${UUID_1}:150:success:12+13`,
    obsolete: [begun.tag],
  })
  expect(afterJobs(begun, ['success', 'canceled'], 150)).toMatchObject({
    state: 'Failure',
    tag: `${P}result:failover:${UUID_1}:150:failure:12+13`,
  })
})

test('a refused repair says so in a tag that is understood again', () => {
  const refused = refuse({ state: 'Healthy', obsolete: [] }, { type: 'reinstall', uuid: UUID_1, time_s: 100, jobs: [] })
  expect(refused).toMatchObject({ state: 'Needs repair', tag: `${P}result:reinstall:${UUID_1}:100:enoperm:` })
  expect(repairOf('inst1', [refused.tag ?? ''])).toMatchObject({ state: 'Healthy', tag: refused.tag })
})

test('a broken instance says what mends it', () => {
  const ops = (template: string, primaryOffline: boolean, secondaryOffline: boolean) => {
    const repair = proposeRepair({ name: 'inst1', template, primaryOffline, secondaryOffline })
    return repair && [repair.type, ...repair.ops.map(({ OP_ID }) => OP_ID)]
  }
  const anew = ['reinstall', 'OP_INSTANCE_RECREATE_DISKS', 'OP_INSTANCE_REINSTALL']
  expect(ops('drbd', true, true)).toEqual(anew)
  expect(ops('drbd', true, false)).toEqual(['failover', 'OP_INSTANCE_FAILOVER'])
  expect(ops('drbd', false, true)).toEqual(['fix-storage', 'OP_INSTANCE_REPLACE_DISKS'])
  expect(ops('drbd', false, false)).toBeUndefined()
  expect(ops('plain', true, false)).toEqual(anew)
  expect(ops('plain', false, false)).toBeUndefined()
  expect(ops('rbd', true, false)).toBeUndefined()
})

test('a permission includes what changes less', () => {
  expect(allowed('fix-storage', 'failover')).toBe(true)
  expect(allowed('failover', 'failover')).toBe(true)
  expect(allowed('reinstall', 'failover')).toBe(false)
})
