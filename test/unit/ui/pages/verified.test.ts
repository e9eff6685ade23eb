// How the console reads the last verification: well is only one that has looked to its end and found nothing.
import { verifiedOf } from '../../../../ui/src/parts/verified'

type Job = Parameters<typeof verifiedOf>[0]

interface Made {
  readonly status?: string
  readonly result?: unknown
  readonly log?: readonly string[]
  readonly error?: string
}

const jobOf = (id: number, { status = 'success', result = null, log = [], error }: Made = {}): Job => {
  const line = { serial: 1, time: '', type: 'message' }
  const lines = log.map((message) => ({ ...line, message }))
  const reported = error === undefined ? null : { class: 'OpExecError', message: error, args: [] }
  const op = { result, log: lines, error: reported } as unknown as Job['ops'][number]
  return { id, status, ended: status === 'running' ? null : '2026-01-01T00:00:00Z', ops: [op] } as unknown as Job
}

const submitted = {
  jobs: [
    [true, 2],
    [true, 3],
  ],
}
const whole = jobOf(1, { result: submitted })

test('one that has looked to its end and found nothing is well', () => {
  expect(verifiedOf(whole, [jobOf(2, { result: true }), jobOf(3, { result: true })])).toEqual({
    ...{ id: 1, running: false, found: [], broken: [] },
  })
})

test.each<[string, Job, readonly Job[], readonly number[], readonly unknown[]]>([
  ['failed itself', jobOf(1, { status: 'error', error: 'no locks' }), [], [], [{ job: 1, why: 'no locks' }]],
  ['was cancelled', jobOf(1, { status: 'canceled' }), [], [], [{ job: 1, why: 'canceled' }]],
  ['has a part that failed', whole, [jobOf(2, { status: 'error', error: 'x' })], [], [{ job: 2, why: 'x' }]],
  ['could not submit a part', jobOf(1, { result: { jobs: [[false, 'full']] } }), [], [], [{ job: 1, why: 'full' }]],
  ['has a part that only says no', whole, [jobOf(2, { result: false })], [], [{ job: 2, why: '' }]],
  [
    'has a part that nobody knows any more',
    whole,
    [],
    [2],
    [{ job: 2, why: expect.stringContaining('no longer stored') }],
  ],
])('one that %s is not well, though it found nothing', (_, job, parts, gone, broken) => {
  expect(verifiedOf(job, parts, gone)).toEqual({ id: 1, running: false, found: [], broken })
})

test('what was found is told with its job, and while a part is at work, more may be found', () => {
  const parts = [jobOf(2, { result: false, log: ['- ERROR: node n: x'] }), jobOf(3, { status: 'running' })]
  expect(verifiedOf(whole, parts)).toEqual({
    ...{ id: 1, running: true, broken: [] },
    found: [{ level: 'error', kind: 'node', name: 'n', text: 'x', job: 2 }],
  })
})
