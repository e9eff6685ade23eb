// The queue has room for everybody.
import { QueueQuota } from '../../../src/jobs/queue-quota'
import { JobQueueFull } from '../../../src/model/errors'
import { JOBS_PER_USER_MAX } from '../../../src/model/limits/queue'

const job = (user: string | null, size = 0) => [
  { OP_ID: 'OP_TEST_DELAY', comment: 'x'.repeat(size), reason: user === null ? [] : [['gantry:user', user, 1]] },
]
const jobs = (count: number, user: string | null) => Array.from({ length: count }, () => job(user))

test('a user has no more than a share of the queue, and others have the rest', () => {
  const room = new QueueQuota()
  room.take(1, jobs(JOBS_PER_USER_MAX, 'anna'))
  expect(() => room.take(5000, [job('anna')])).toThrow(
    new JobQueueFull(
      'The user anna would have 4001 jobs that have not ended, more than the 4000 that one user may have; ' +
        'try again when some have ended, or cancel some',
    ),
  )
  room.take(5000, [job('bert'), ...jobs(JOBS_PER_USER_MAX, null)])
  room.free(1)
  room.free(1)
  room.take(20_000, [job('anna')])
  expect(() => room.take(20_001, [job('anna')])).toThrow(JobQueueFull)
})

test('all jobs together have no more than so many bytes, and those that are refused take none', () => {
  const bytesMax = 4 << 20
  const room = new QueueQuota(bytesMax)
  room.note(1, job(null, bytesMax / 2))
  expect(() => room.take(2, [job(null), job(null, bytesMax / 2)])).toThrow(/5 MiB, more than the 4 MiB/)
  room.take(2, [job(null)])
  room.free(1)
  room.take(3, [job(null, bytesMax / 2)])
})
