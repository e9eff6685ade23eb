// A report of a node is believed only as far as its signature goes.
import { type Expected, readDiagnosis } from '../../../src/maintenance/read-diagnosis'
import { REPORT_KEPT_CHARS_MAX } from '../../../src/model/limits/maintenance'
import { signedReport } from '../../support/signed-report'

const NOW_S = 1_000_000
const expected: Expected = { key: 'secret', node: 'node1', now_s: NOW_S, interval_s: 30, last_ns: 0 }

const signed = (data: unknown, { node = 'node1', at_s = NOW_S, key = 'secret' } = {}): string =>
  signedReport(data, { node, at_s, key })

test('what counts is what was signed', () => {
  const data = { status: 'evacuate', details: [1] }
  expect(readDiagnosis(signed(data), expected)).toEqual({ report: data, time_ns: NOW_S * 1e9 })
})

test('a report that is seen again is the same, and not a replay', () => {
  expect(readDiagnosis(signed({ status: 'Ok' }), { ...expected, last_ns: NOW_S * 1e9 }).report).toEqual({
    status: 'Ok',
  })
})

test.each<[string, string, string]>([
  ['a key of somebody else', signed({ status: 'evacuate' }, { key: 'guessed' }), 'is forged'],
  ['another node', signed({ status: 'evacuate' }, { node: 'node2' }), 'is that of "node2"'],
  ['yesterday', signed({ status: 'evacuate' }, { at_s: NOW_S - 86400 }), '86400 s old'],
  ['tomorrow', signed({ status: 'evacuate' }, { at_s: NOW_S + 86400 }), 'from the future'],
  ['no signature', JSON.stringify({ data: { status: 'evacuate' } }), 'is not signed'],
  ['half a signature', JSON.stringify({ signed: { msg: '{}' } }), 'cannot be read'],
  ['no JSON', '<html>', 'not a JSON object'],
  ['an unknown status', signed({ status: 'explode' }), 'has the status "explode"; known are Ok, live-repair'],
  ['no status', signed({}), 'has the status none'],
  ['a program that failed', signed({ error: 'check ended with 1' }), 'failed: check ended with 1'],
  ['a program that is gone', signed({ status: 'not-run', details: '/x does not exist' }), 'does not run (not-run): /x'],
  ['long details', signed({ status: 'Ok', details: 'x'.repeat(REPORT_KEPT_CHARS_MAX) }), 'shorten the details'],
])('a report is refused: %s', (_, text, why) => {
  expect(() => readDiagnosis(text, expected)).toThrow(why)
})

test('a signature of other words is forged', () => {
  const text = signed({ status: 'Ok' }).replace('Ok', 'evacuate')
  expect(() => readDiagnosis(text, expected)).toThrow('is forged')
})

test('a report that was replaced by a newer one is a replay', () => {
  const old = signed({ status: 'evacuate' }, { at_s: NOW_S - 20 })
  expect(() => readDiagnosis(old, { ...expected, last_ns: NOW_S * 1e9 })).toThrow('somebody replays it')
})

test('without a key nothing is believed', () => {
  expect(() => readDiagnosis(signed({ status: 'Ok' }, { key: '' }), { ...expected, key: '' })).toThrow('is forged')
})
