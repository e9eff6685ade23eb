// An event of maintenance from the first report to its end.
import {
  afterRound,
  begun,
  hasEnded,
  hasFailure,
  mostInvasive,
  observe,
  remembered,
  withJob,
} from '../../../src/maintenance/event-lifecycle'
import type { JsonObject } from '../../../src/lib/shapes/shape'
import { EVENTS_PER_NODE_MAX, FAILURE_CHARS_MAX } from '../../../src/model/limits/maintenance'
import { canceledEvent, type RepairEvent, type Round, type RoundJob } from '../../../src/model/maintenance'

const EVACUATE = { status: 'evacuate', details: { disk: 'sda', slots: [1, 2] } }
const SAME = { details: { slots: [1, 2], disk: 'sda' }, status: 'evacuate' }

const at = (now_s: number, id = 'e1') => ({ now_s, newId: () => id })
const reports = (report: JsonObject | undefined, node = 'n1') => new Map(report === undefined ? [] : [[node, report]])
const tagged = (...tags: string[]) => ({ tags: new Map([['n1', tags]]) })

function noted(report: JsonObject = EVACUATE): RepairEvent {
  const [event] = observe([], reports(report), at(5)).events
  if (event === undefined) throw new Error('nothing was noted')
  return event
}

const roundJob = (job: number | null, more: Partial<RoundJob> = {}): RoundJob => ({
  ...{ key: 0, job, kind: 'drain', event: 'e1', text: '', nodes: [], instances: [] },
  ...more,
})
const round = (...jobs: RoundJob[]): Round => ({ id: 'r', began: 1, jobs, resolved: true, tagged: true, serial_no: 1 })
const ended = (status: string, job = 7) => ({
  statuses: new Map([[job, status]]),
  failures: new Map([[job, 'no room']]),
})

test('a report is one event, whatever the order of its keys, and another object is another event', () => {
  const event = noted()
  expect(event).toMatchObject({
    id: 'e1',
    node: 'n1',
    status: 'noted',
    action: 'evacuate',
    tag: 'maintd:repairready:e1',
  })
  expect(observe([event], reports(SAME), at(6)).events).toEqual([event])
  const other = { ...EVACUATE, details: { disk: 'sdb' } }
  expect(observe([event], reports(other), at(6, 'e2')).events.map(({ id }) => id)).toEqual(['e1', 'e2'])
  expect(observe([event], reports(EVACUATE, 'n2'), at(6, 'e2')).events).toHaveLength(2)
})

test('a node that is well, and one whose status nobody knows, make no event', () => {
  for (const status of ['Ok', 'explode', 7, undefined])
    expect(observe([], reports({ status }), at(1)).events).toEqual([])
})

test('a node that reports something else each time is bounded and named', () => {
  let events: readonly RepairEvent[] = []
  for (let n = 0; n < EVENTS_PER_NODE_MAX; n++)
    events = observe(events, reports({ status: 'live-repair', n }), at(n, `e${n}`)).events
  const { events: more, overfull } = observe(events, reports({ status: 'live-repair', n: -1 }), at(99))
  expect(more).toHaveLength(EVENTS_PER_NODE_MAX)
  expect(overfull).toEqual(['n1'])
})

test('a canceled event is forgotten when it is no longer observed, and not before', () => {
  const event = canceledEvent(noted(), 6)
  expect(event).toMatchObject({ status: 'canceled', serial_no: 2 })
  expect(remembered([event], reports(SAME), tagged())).toEqual([event])
  expect(remembered([event], reports(undefined), tagged())).toEqual([event])
  expect(remembered([event], reports({ status: 'Ok' }), tagged())).toEqual([])
})

test('an event that something is still to be done about stays, also when it is no longer observed', () => {
  for (const event of [noted(), begun(noted(), 6)])
    expect(remembered([event], reports({ status: 'Ok' }), tagged())).toEqual([event])
})

test('a completed event is forgotten when its tag is gone and it is no longer observed', () => {
  const [event] = afterRound([begun(noted(), 6)], round(roundJob(7, { kind: 'tag' })), ended('success'), 7)
  if (event === undefined) throw new Error('lost')
  expect(event).toMatchObject({ status: 'completed', tagged: true })
  expect(remembered([event], reports({ status: 'Ok' }), tagged(event.tag))).toEqual([event])
  expect(remembered([event], reports(EVACUATE), tagged())).toEqual([event])
  expect(remembered([event], reports({ status: 'Ok' }), tagged())).toEqual([])
})

test('a tag that is removed before its job is known to have ended is acknowledged then, and nothing is begun twice', () => {
  const pending = withJob(begun(noted(), 6), 7, 6)
  // The job has set it, and somebody has removed it, while the round goes on.
  expect(remembered([pending], reports(EVACUATE), tagged())).toEqual([pending])
  expect(observe([pending], reports(EVACUATE), at(8, 'e2')).events).toEqual([pending])
  const [done] = afterRound([pending], round(roundJob(7, { kind: 'tag' })), ended('success'), 9)
  if (done === undefined) throw new Error('lost')
  expect(mostInvasive([done]).size).toBe(0)
  expect(remembered([done], reports(EVACUATE), tagged())).toEqual([done])
  expect(remembered([done], reports({ status: 'Ok' }), tagged())).toEqual([])
})

test('a failed event is forgotten as soon as its tag is gone, and then begins anew', () => {
  const [failed] = afterRound([begun(noted(), 6)], round(roundJob(7)), ended('error'), 7)
  if (failed === undefined) throw new Error('lost')
  expect(failed).toMatchObject({ status: 'failed', tag: 'maintd:repairfailed:e1', tagged: false })
  expect(failed.note).toBe('job 7 failed: no room; nothing more is done about it')
  // The tag is not there yet, so its absence means nothing.
  expect(remembered([failed], reports(EVACUATE), tagged())).toEqual([failed])
  const [reported] = afterRound([failed], round(roundJob(8, { kind: 'tag' })), ended('success', 8), 8)
  if (reported === undefined) throw new Error('lost')
  expect(remembered([reported], reports(EVACUATE), tagged(reported.tag))).toEqual([reported])
  const left = remembered([reported], reports(EVACUATE), tagged())
  expect(left).toEqual([])
  expect(observe(left, reports(EVACUATE), at(9, 'e2')).events[0]).toMatchObject({ id: 'e2', status: 'noted' })
})

test.each([
  [
    new Map([[7, 'canceled']]),
    new Map([[7, 'Job canceled by request']]),
    'job 7 was canceled: Job canceled by request;',
  ],
  [new Map(), new Map(), 'job 7 is lost: the queue does not know it;'],
  [new Map([[7, 'error']]), new Map(), 'job 7 failed;'],
  [new Map([[7, 'error']]), new Map([[7, 'x'.repeat(5000)]]), '[...];'],
])('a failed event tells why, within its bounds: %j %j', (statuses, failures, why) => {
  const [failed] = afterRound([noted()], round(roundJob(7)), { statuses, failures }, 7)
  expect(failed?.note).toContain(why)
  expect(failed?.note?.length).toBeLessThan(FAILURE_CHARS_MAX + 100)
})

test('a node that leaves the cluster takes its events along', () => {
  expect(remembered([noted()], reports(EVACUATE), { tags: new Map() })).toEqual([])
})

test('the end of a job does not bring back a canceled event', () => {
  const event = canceledEvent(withJob(begun(noted(), 6), 7, 6), 7)
  for (const status of ['success', 'error'])
    expect(afterRound([event], round(roundJob(7)), ended(status), 8)).toEqual([event])
  expect(begun(event, 8)).toBe(event)
})

test('what has ended cannot be canceled', () => {
  const [failed] = afterRound([noted()], round(roundJob(7)), ended('error'), 7)
  expect(failed && canceledEvent(failed, 8)).toBe(failed)
})

test('a round ends with its last job; one that was never submitted, or that the queue has lost, does not hold it up', () => {
  expect(hasEnded(round(roundJob(7)), ended('running').statuses)).toBe(false)
  expect(hasEnded(round(roundJob(7)), ended('success').statuses)).toBe(true)
  expect(hasEnded(round(roundJob(null)), new Map())).toBe(true)
  expect(hasEnded(round(roundJob(7)), new Map())).toBe(true)
  expect(hasFailure(round(roundJob(7)), new Map())).toBe(true)
  expect(hasFailure(round(roundJob(null)), new Map())).toBe(true)
  // What was not submitted is as if it had not been planned.
  expect(afterRound([noted()], round(roundJob(null)), { statuses: new Map(), failures: new Map() }, 7)).toEqual([
    noted(),
  ])
})

test('the most invasive event of a node comes first, the oldest among equals', () => {
  const [a, b, c] = [noted({ status: 'live-repair' }), { ...noted(), id: 'e2' }, { ...noted(), id: 'e3', ctime: 1 }]
  expect(mostInvasive([a, b, c]).get('n1')?.id).toBe('e3')
  expect(mostInvasive([a, canceledEvent(b, 1), canceledEvent(c, 1)]).get('n1')?.id).toBe('e1')
})
