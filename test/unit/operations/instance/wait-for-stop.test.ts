// The log of a job tells that a guest is still waited for.
import type { Clock } from '../../../../src/lib/clock'
import { waitForStop } from '../../../../src/operations/instance/wait-for-stop'
import type { UnitContext } from '../../../../src/operations/unit-context'

/** A clock that is moved by hand; one timer at a time. */
function handClock() {
  let now_ms = 0
  let due: { at_ms: number; action: () => void } | undefined
  const clock: Clock = {
    now_ms: () => now_ms,
    monotonic_ms: () => now_ms,
    after(delay_ms, action) {
      const mine = { at_ms: now_ms + delay_ms, action }
      due = mine
      return { cancel: () => void (due = due === mine ? undefined : due) }
    },
    sleep: () => Promise.resolve(),
  }
  const move = (seconds: number) => {
    for (const end_ms = now_ms + seconds * 1000; due !== undefined && due.at_ms <= end_ms;) {
      now_ms = due.at_ms
      due.action()
    }
  }
  return { clock, move, isSet: () => due !== undefined }
}

test('the log of the job says every few seconds how long a guest is waited for, until it stops', async () => {
  const { clock, move, isSet } = handClock()
  const log: string[] = []
  const ctx = { env: { clock }, log: { say: (text: string) => void log.push(text) } } as unknown as UnitContext
  let stop: (value: string) => void = () => undefined
  const stopping = new Promise<string>((resolve) => (stop = resolve))
  const waited = waitForStop(ctx, { name: 'vm1', limit_s: 12 }, stopping)
  move(4)
  expect(log).toEqual([])
  move(16)
  expect(log).toEqual([
    'Waiting for instance vm1 to shut down: 5 of 12 seconds, then it is switched off',
    'Waiting for instance vm1 to shut down: 10 of 12 seconds, then it is switched off',
  ])
  stop('done')
  expect(await waited).toBe('done')
  expect(isSet()).toBe(false)
})

test('nothing is said of one that cannot be stopped once the call has failed', async () => {
  const { clock, isSet } = handClock()
  const ctx = { env: { clock }, log: { say: () => undefined } } as unknown as UnitContext
  await expect(waitForStop(ctx, { name: 'vm1', limit_s: 1 }, Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(isSet()).toBe(false)
})
