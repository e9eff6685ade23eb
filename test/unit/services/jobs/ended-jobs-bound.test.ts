// The number of ended jobs is bounded.
import { systemClock } from '../../../../src/lib/clock'
import { silentLog } from '../../../../src/lib/log'
import { ENDED_JOBS_LOOK_S } from '../../../../src/model/limits/queue'
import { boundEndedJobs } from '../../../../src/services/jobs/ended-jobs-bound'

test('the oldest of more ended jobs than are kept are archived, and none that has not ended', async () => {
  const statusOf = (id: number) => (id % 10 === 0 ? 'running' : 'success')
  let jobs = Array.from({ length: 50 }, (_, id) => ({ id, ops: [{ status: statusOf(id) }] }))
  const archived: number[] = []
  const queue = {
    all: () => jobs as never,
    async archive(id: number) {
      archived.push(id)
      jobs = jobs.filter((job) => job.id !== id)
      return true
    },
  }
  const due: (() => void)[] = []
  const delays: number[] = []
  const after = (delay_ms: number, action: () => void) => {
    delays.push(delay_ms)
    due.push(action)
    return { cancel: () => void due.splice(due.indexOf(action), 1) }
  }
  const end = boundEndedJobs({ queue, clock: { ...systemClock, after }, log: silentLog }, 40)
  due.shift()?.()
  while (due.length === 0) await systemClock.sleep(1)
  expect(archived).toEqual([1, 2, 3, 4, 5])
  expect(jobs).toHaveLength(45)
  due.shift()?.()
  while (due.length === 0) await systemClock.sleep(1)
  expect(archived).toHaveLength(5)
  end()
  expect(due).toEqual([])
  expect(new Set(delays)).toEqual(new Set([ENDED_JOBS_LOOK_S * 1000]))
})
