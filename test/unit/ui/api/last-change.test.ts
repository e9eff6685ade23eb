// Answers that are not asked for again by themselves say that the cluster has changed since.
import { isChange, lastChange, timed, timeOf } from '../../../../ui/src/api/last-change'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

test('an answer is as old as its question', async () => {
  const asked_ms = Date.now()
  const asking = timed(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5000))
    return { score: 1 }
  })
  await jest.advanceTimersByTimeAsync(2000)
  lastChange.note(Date.now())
  await jest.advanceTimersByTimeAsync(3000)
  const answer = await asking
  expect(timeOf(answer)).toBe(asked_ms)
  expect(lastChange.isSince(asked_ms)).toBe(true)
  expect(lastChange.isSince(Date.now())).toBe(false)
  expect([timeOf(undefined), timeOf({})]).toEqual([undefined, undefined])
})

test.each<[boolean, string, readonly string[]]>([
  [true, 'node', ['node/n1']],
  [true, 'config', ['cluster']],
  [true, 'instance', ['instance/web1']],
  [false, 'job', ['job/1', 'instance/web1']],
  [false, 'config', ['filter/x']],
  [false, 'watcher', ['cluster']],
])('it is %s that an event %s of %j changes the cluster', (expected, type, objects) => {
  expect(isChange({ type, objects })).toBe(expected)
})
