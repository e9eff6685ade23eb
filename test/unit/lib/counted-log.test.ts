// Refusals without end become a few lines of the log.
import { CountedLog } from '../../../src/lib/counted-log'
import type { Log } from '../../../src/lib/log'

test('the first time is told at once, what follows in one line, and silence ends the counting', () => {
  const reported: object[] = []
  let tick = (): void => undefined
  const clock = { after: (_ms: number, action: () => void) => ((tick = action), { cancel: () => undefined }) }
  const log = { info: (entry: object) => void reported.push(entry) }
  const counted = new CountedLog({ clock: clock as never, log: log as unknown as Log, every_s: 60 }, 'refused')
  for (let n = 0; n < 61; n++) counted.add(n % 2 === 0 ? 'no certificate' : 'no TLS', { address: '127.0.0.1' })
  expect(reported).toEqual([{ reason: 'no certificate', address: '127.0.0.1' }])
  tick()
  expect(reported.slice(1)).toEqual([{ times: 60, seconds: 60, reasons: { 'no TLS': 30, 'no certificate': 30 } }])
  tick()
  counted.add('no TLS', {})
  expect(reported.slice(2)).toEqual([{ reason: 'no TLS' }])
})

test('reasons without end are counted together', () => {
  const reported: { reasons?: object }[] = []
  let tick = (): void => undefined
  const clock = { after: (_ms: number, action: () => void) => ((tick = action), { cancel: () => undefined }) }
  const log = { info: (entry: object) => void reported.push(entry) }
  const counted = new CountedLog({ clock: clock as never, log: log as unknown as Log, every_s: 60 }, 'refused')
  for (let n = 0; n < 100; n++) counted.add(`reason ${n}`, {})
  tick()
  expect(Object.keys(reported[1]?.reasons ?? {})).toHaveLength(11)
})
