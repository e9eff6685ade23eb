// Times as texts, there and back.
import { stampText, timeOf, timeText } from '../../../../src/lib/text/rfc3339'

test.each([
  [0, '1970-01-01T00:00:00.000000Z'],
  [1795250000.25, '2026-11-21T08:33:20.250000Z'],
  [1795250000.123457, '2026-11-21T08:33:20.123457Z'],
  [1795250000.9999999, '2026-11-21T08:33:21.000000Z'],
])('%d seconds are %s', (time_s, text) => {
  expect(timeText(time_s)).toBe(text)
})

test.each([
  ['2026-11-21T08:33:20Z', 1795250000],
  ['2026-11-21T09:33:20.5+01:00', 1795250000.5],
  ['2026-11-21', undefined],
  ['2026-11-21T08:33:20', undefined],
  ['2026-13-21T08:33:20Z', undefined],
  ['1795250000', undefined],
])('%s is %s', (text, time_s) => {
  expect(timeOf(text)).toBe(time_s)
})

test('an object that was never stamped has no time', () => {
  expect([stampText(0), stampText(null), stampText(1795250000.25)]).toEqual([null, null, '2026-11-21T08:33:20.250000Z'])
})
