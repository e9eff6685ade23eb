// Reports of nodes are asked for once for all, and late ones are not waited for twice.
import type { Node } from '../../../../src/model/config'
import {
  MONDS_ASKED_AT_ONCE,
  MOND_ANSWER_S,
  MONITORING_BYTES_MAX,
  MONITORING_FRESH_S,
  MONITORING_KEPT_S,
  MONITORING_S,
  SILENT_MOND_WAIT_S,
} from '../../../../src/model/limits/monitoring'
import { type MondAnswer, type MondBounds, MondFailure } from '../../../../src/rpc/mond/client'
import { NodeReports } from '../../../../src/services/monitoring/node-reports'
import { nodeReports } from '../../../support/mond-double'
import { settled, SteppedClock } from '../../../support/stepped-clock'

interface Question {
  readonly node: string
  readonly bounds: MondBounds
  answer(reported?: unknown, date_ms?: number): Promise<void>
  fail(kind: MondFailure['kind'], why: string): Promise<void>
}

function setUp() {
  const clock = new SteppedClock()
  const questions: Question[] = []
  const reports = new NodeReports({
    clock,
    ask: ({ name }, _path, bounds) =>
      new Promise<MondAnswer>((resolve, reject) => {
        questions.push({
          node: name,
          bounds,
          async answer(reported = nodeReports(clock.now_ms()), date_ms = clock.now_ms()) {
            const text = JSON.stringify(reported)
            bounds.hasRoom?.(text.length)
            resolve({ text, date_ms })
            await settled()
          },
          async fail(kind, why) {
            reject(new MondFailure(kind, why))
            await settled()
          },
        })
      }),
  })
  return { clock, questions, reports, last: () => questions.at(-1) as Question }
}

const nodes = (count: number): Node[] =>
  Array.from({ length: count }, (_, at) => ({ uuid: `uuid-${at}`, name: `node${at}` }) as unknown as Node)
const [one, two] = nodes(2) as [Node, Node]

/** Whether it has ended. */
function watched(work: Promise<void>): { ended: boolean } {
  const state = { ended: false }
  void work.then(() => (state.ended = true))
  return state
}

test('a node is asked once for all who want to know at the same time, and again when that is a while ago', async () => {
  const { clock, questions, reports, last } = setUp()
  const both = [watched(reports.gather([one])), watched(reports.gather([one, two]))]
  await settled()
  expect(questions.map(({ node }) => node)).toEqual(['node0', 'node1'])
  await questions[0]?.answer()
  expect(both.map(({ ended }) => ended)).toEqual([true, false])
  await questions[1]?.answer()
  expect(both[1]?.ended).toBe(true)
  expect(reports.reported(one.uuid)).toMatchObject({
    outcome: { kind: 'reports' },
    figures: { load: 1.5 },
    clock_ahead_s: 0,
  })
  await reports.gather([one])
  expect(questions).toHaveLength(2)
  await clock.pass(MONITORING_FRESH_S)
  void reports.gather([one])
  await settled()
  expect([questions.length, last().node]).toEqual([3, 'node0'])
})

test('nobody asks a node when nobody wants to know, and what it told is forgotten but for its figures', async () => {
  const { clock, questions, reports, last } = setUp()
  reports.renew([one])
  await last().answer()
  expect(reports.reported(one.uuid)?.reports).toHaveLength(4)
  await clock.pass(MONITORING_KEPT_S * 10)
  expect(questions).toHaveLength(1)
  expect(reports.reported(one.uuid)).toMatchObject({
    reports: undefined,
    figures: { load: 1.5 },
    statuses: [{}, {}, {}, {}],
  })
})

test('a node that was silent is waited for only a moment the next time, until it answers again', async () => {
  const { clock, reports, last } = setUp()
  const first = watched(reports.gather([one]))
  await clock.pass(MOND_ANSWER_S - 0.1)
  expect(first.ended).toBe(false)
  await last().fail('silent', 'no answer within 4 s')
  expect(first.ended).toBe(true)
  expect(reports.reported(one.uuid)).toMatchObject({
    outcome: { kind: 'silent', why: 'no answer within 4 s' },
    statuses: [],
  })
  await clock.pass(MONITORING_FRESH_S)
  const second = watched(reports.gather([one]))
  await clock.pass(SILENT_MOND_WAIT_S)
  expect(second.ended).toBe(true)
  await last().answer()
  expect(reports.reported(one.uuid)).toMatchObject({ outcome: { kind: 'reports' } })
})

test('nobody waits longer than the bound, however many nodes are late, and a late one is not told as it was before', async () => {
  const { clock, questions, reports } = setUp()
  const many = nodes(500)
  reports.renew([one])
  await questions[0]?.answer()
  await clock.pass(MONITORING_FRESH_S)
  const gathering = watched(reports.gather(many))
  while (questions.length < 1 + MONDS_ASKED_AT_ONCE) await settled()
  await clock.pass(MONITORING_S - 0.01)
  expect(gathering.ended).toBe(false)
  await clock.pass(0.01)
  expect(gathering.ended).toBe(true)
  expect(questions).toHaveLength(501)
  expect(reports.reported(one.uuid)).toMatchObject({
    ...{ outcome: { kind: 'silent', why: 'no answer within 5 s' }, reports: undefined, figures: { load: 1.5 } },
  })
})

test('the answers of all nodes together have a bound, and room that was taken is given back', async () => {
  const { clock, reports, questions, last } = setUp()
  reports.renew([one, two])
  await settled()
  const [first, second] = questions as [Question, Question]
  expect(first.bounds.hasRoom?.(MONITORING_BYTES_MAX)).toBe(true)
  expect(second.bounds.hasRoom?.(1)).toBe(false)
  await first.fail('bad', 'too long')
  expect(second.bounds.hasRoom?.(MONITORING_BYTES_MAX)).toBe(true)
  await second.fail('bad', 'too long')
  await clock.pass(MONITORING_FRESH_S)
  for (let round = 0; round < 3; round++) {
    reports.renew([one])
    await last().answer([])
    await clock.pass(MONITORING_FRESH_S)
  }
  await clock.pass(MONITORING_KEPT_S)
  reports.renew([two])
  await settled()
  expect(last().bounds.hasRoom?.(MONITORING_BYTES_MAX)).toBe(true)
})

test('a node that left the cluster is forgotten, and a defect is the failure of that node', async () => {
  const { reports, last } = setUp()
  reports.renew([one])
  await last().answer({ not: 'a list' })
  expect(reports.reported(one.uuid)?.outcome).toEqual({
    ...{ kind: 'bad', why: expect.stringContaining('its answer is no list of reports') },
  })
  reports.keepOnly((uuid) => uuid !== one.uuid)
  expect(reports.reported(one.uuid)).toBeUndefined()
})

test.each([
  ['by its own clock', 3600, undefined, 3600, 0],
  ['behind', -3600, undefined, -3600, 0],
  ['by its reports, which are later than the time of its answer', 0, 3600, 3600, 0],
  ['not off, but its reports are old', 0, -3600, 0, 3600],
])('a clock that is off is seen: %s', async (_, date_s, reports_s, ahead_s, age_s) => {
  const { clock, reports, last } = setUp()
  reports.renew([one])
  const now_ms = clock.now_ms()
  await last().answer(nodeReports(now_ms + (reports_s ?? date_s) * 1000), now_ms + date_s * 1000)
  expect(reports.reported(one.uuid)).toMatchObject({ clock_ahead_s: ahead_s, newest_age_s: age_s })
  // The oldest figure is of half a minute before the others.
  expect(clock.monotonic_ms() - (reports.reported(one.uuid)?.measured_ms ?? 0)).toBe((age_s + 30) * 1000)
})
