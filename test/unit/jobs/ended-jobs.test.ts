// Memory keeps little of jobs that have ended, and enough for what is asked of them.
import { endedJob, keysOf, tokensOf, WholeJobs } from '../../../src/jobs/ended-jobs'
import { type Job, dequeued, newJob, withOp } from '../../../src/jobs/job'
import { ENDED_JOBS_WHOLE_BYTES_MAX, ENDED_JOBS_WHOLE_MAX } from '../../../src/model/limits/queue'

const job = (id: number, resultBytes = 0): Job => {
  const reason = [
    ['gantry:token', 'token-1', 1],
    ['gantry:key', 'key digest', 1],
    ['gnt:opcode:test_delay', `job=${id};index=0`, 1],
  ]
  const made = newJob(
    id,
    [{ OP_ID: 'OP_TEST_DELAY', duration: 1, on_nodes: ['n'.repeat(resultBytes)], reason }],
    [1, 2],
  )
  return dequeued(withOp(made, 0, { result: 'x'.repeat(resultBytes) }), [3, 4])
}

test('the summary of a job that has ended does not grow with its opcode, result and log', () => {
  const [small, large] = [endedJob(job(1)), endedJob(job(1, 1 << 20))]
  expect(large).toEqual(small)
  expect(small).toMatchObject({ id: 1, end_timestamp: [3, 4], ops: [{ status: 'canceled' }] })
})

test('the submitter of a job, and the key, are known without its file', () => {
  expect([tokensOf(endedJob(job(1))), keysOf(endedJob(job(1)))]).toEqual([['token-1'], ['key digest']])
  expect([tokensOf(job(1)), keysOf(job(1))]).toEqual([['token-1'], ['key digest']])
})

test('the last jobs are whole in memory, up to a number and a size', () => {
  const whole = new WholeJobs()
  for (let id = 1; id <= ENDED_JOBS_WHOLE_MAX + 1; id++) whole.add(job(id))
  expect([whole.get(1), whole.get(2)?.id]).toEqual([undefined, 2])
  whole.add(job(9999, ENDED_JOBS_WHOLE_BYTES_MAX))
  expect([whole.get(2), whole.get(9999)]).toEqual([undefined, undefined])
  whole.add(job(3))
  expect(whole.get(3)?.id).toBe(3)
})
