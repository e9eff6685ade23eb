// Prints how fast jobs go through; asserts only that each ran exactly once.
import { jobStatus } from '../../../src/jobs/job'
import { delay, ended, executed, idOf, openTestQueue, removeRoot, temporaryPaths } from '../../support/queue-in-process'

test('500 jobs run once each', async () => {
  const paths = temporaryPaths()
  const { queue, close } = await openTestQueue(paths, { maxRunning: 20 })
  const start = performance.now()
  const submitted = await queue.submit(Array.from({ length: 500 }, () => [delay(0)]))
  const accepted = performance.now()
  const jobs = await Promise.all(submitted.map((one) => ended(queue, idOf(one))))
  const done = performance.now()
  expect(new Set(jobs.map(jobStatus))).toEqual(new Set(['success']))
  expect(executed(paths)).toHaveLength(500)
  expect(new Set(executed(paths)).size).toBe(500)
  const one = performance.now()
  for (let i = 0; i < 20; i++) await ended(queue, idOf((await queue.submit([[delay(0)]]))[0]))
  const single_ms = (performance.now() - one) / 20
  const s = (from: number, to: number) => ((to - from) / 1000).toFixed(2)
  process.stdout.write(
    `500 jobs: accepted in ${s(start, accepted)} s, all ended in ${s(start, done)} s ` +
      `(${Math.round(500 / ((done - start) / 1000))}/s); one job after the other: ${single_ms.toFixed(1)} ms\n`,
  )
  await close()
  await removeRoot(paths)
})
