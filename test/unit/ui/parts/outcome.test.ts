// How the console tells that a job is done: with the jobs that it has submitted.
import { outcomeOf } from '../../../../ui/src/parts/outcome'

type Job = Parameters<typeof outcomeOf>[0]

interface Made {
  readonly status?: string
  readonly summary?: string
  readonly result?: unknown
  readonly log?: readonly string[]
  readonly error?: string
}

const jobOf = (id: number, { status = 'success', summary = 'X', result = null, log = [], error }: Made = {}): Job => {
  const lines = log.map((message) => ({ message }))
  const op = { summary, result, log: lines, error: error === undefined ? null : { message: error } }
  return { id, status, ended: ['success', 'error'].includes(status) ? 'then' : null, ops: [op] } as unknown as Job
}

const submits = (summary: string, ...ids: readonly (number | string)[]) =>
  jobOf(1, { summary, result: { jobs: ids.map((id) => [typeof id === 'number', id]) } })

const reported = (job: Job, ...parts: readonly Job[]) => {
  const { tone, text, well } = outcomeOf(job, parts)
  return [tone, text, well]
}

test('an evacuation is done when its instances have moved', () => {
  const job = submits('NODE_EVACUATE(node1)', 2, 3)
  expect(reported(job, jobOf(2), jobOf(3, { status: 'waiting' }))).toEqual(['busy', '1 of 2 moved', false])
  expect(reported(job, jobOf(2), jobOf(3))).toEqual(['good', 'Done: 2 of 2 moved', true])
})

test('a submitted job that failed, or that was refused, is told with its reason', () => {
  const job = submits('GROUP_EVACUATE(g)', 2, 'the queue is full')
  const parts = [jobOf(2, { status: 'error', error: 'no memory' })]
  expect(reported(job, ...parts)).toEqual(['bad', '2 of 2 failed', false])
  expect(outcomeOf(job, parts).failed).toEqual([{ why: 'the queue is full' }, { job: 2, why: 'no memory' }])
})

test('a verification is well if it has found nothing', () => {
  const job = submits('CLUSTER_VERIFY', 2)
  expect(reported(job, jobOf(2, { status: 'running' }))).toEqual(['busy', 'Checking', false])
  expect(reported(job, jobOf(2, { result: true }))).toEqual(['good', 'Done', true])
  expect(reported(job, jobOf(2, { result: false, log: ['  - ERROR: node node1: dark'] }))).toEqual([
    ...['bad', 'Done, 1 problem', false],
  ])
  expect(reported(job, jobOf(2, { result: true, log: ['- WARNING: node a: x', '- WARNING: node b: x'] }))).toEqual([
    ...['warn', 'Done, 2 problems', false],
  ])
})

test('other jobs count those that they submit, and most submit none', () => {
  expect(reported(submits('GROUP_VERIFY_DISKS(g)', 2), jobOf(2))).toEqual(['good', 'Done: 1 of 1 jobs done', true])
  expect([
    reported(jobOf(1)),
    reported(jobOf(1, { status: 'running' })),
    reported(jobOf(1, { status: 'error' })),
  ]).toEqual([
    ['good', 'Done', true],
    ['busy', 'Running', false],
    ['bad', 'Failed', false],
  ])
})
