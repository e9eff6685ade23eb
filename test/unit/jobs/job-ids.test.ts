// The ids of new jobs.
import { JobIds } from '../../../src/jobs/job-ids'
import { silentLog } from '../../../src/lib/log'

test('ids that are reserved here, and that candidates know, are given out without a gap', async () => {
  const written: number[] = []
  const ids = new JobIds(async (id) => void written.push(id), silentLog)
  ids.recover(3)
  await ids.take(1)
  expect(ids.last).toBe(4)
  // A candidate has the same file.
  ids.recover(written.at(-1) ?? 0)
  await ids.take(1)
  expect(ids.last).toBe(5)
  ids.recover(1000)
  await ids.take(1)
  expect(ids.last).toBe(1001)
  expect(written).toHaveLength(2)
})
