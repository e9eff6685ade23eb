// The real clock, where Node's own would surprise.
import { seconds, systemClock } from '../../../src/lib/clock'

afterEach(() => jest.restoreAllMocks())

test('a step of the wall clock is seen by what shows the time, and by nothing that measures', async () => {
  const before = { wall: systemClock.now_ms(), monotonic: systemClock.monotonic_ms() }
  const real = Date.now.bind(Date)
  for (const jump_ms of [3_600_000, -86_400_000]) {
    jest.spyOn(Date, 'now').mockImplementation(() => real() + jump_ms)
    expect(Math.abs(systemClock.now_ms() - before.wall - jump_ms)).toBeLessThan(5000)
    expect(Math.abs(seconds(systemClock) - (before.wall + jump_ms) / 1000)).toBeLessThan(5)
    const elapsed = systemClock.monotonic_ms() - before.monotonic
    expect(elapsed).toBeGreaterThanOrEqual(0)
    expect(elapsed).toBeLessThan(5000)
    const started = performance.now()
    await systemClock.sleep(20)
    expect(performance.now() - started).toBeLessThan(2000)
  }
})

test('a sleep that is longer than a timer can be does not end at once', async () => {
  jest.useFakeTimers()
  try {
    let awake = false
    const slept = systemClock.sleep(2 ** 31 + 5000).then(() => (awake = true))
    await jest.advanceTimersByTimeAsync(2 ** 31)
    expect(awake).toBe(false)
    await jest.advanceTimersByTimeAsync(5000)
    await slept
    const stop = new AbortController()
    const stopped = systemClock.sleep(2 ** 33, stop.signal)
    const refused = expect(stopped).rejects.toThrow('enough')
    await jest.advanceTimersByTimeAsync(2 ** 32)
    stop.abort(new Error('enough'))
    await refused
    expect(jest.getTimerCount()).toBe(0)
  } finally {
    jest.useRealTimers()
  }
})
