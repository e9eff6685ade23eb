// Reports of mond, ours and Ganeti's, are judged by what they tell.
import { MOND_DEPTH_MAX, MOND_REPORTS_MAX, STATUS_CHARS_SHOWN } from '../../../../src/model/limits/monitoring'
import { MondFailure } from '../../../../src/rpc/mond/client'
import { readReports } from '../../../../src/rpc/mond/reports'
import { nodeReports, REPORT } from '../../../support/mond-double'

const NOW_MS = 1.8e12
const read = (reported: unknown) => readReports(JSON.stringify(reported))
const one = (more: object) => ({ ...REPORT, name: 'x', timestamp: NOW_MS * 1e6, data: {}, ...more })
const statusOf = (data: unknown, kind = 1) => read([one({ kind, data })]).reports[0]?.status

test('figures and statuses are taken from the reports that have them', () => {
  const { reports, figures, oldest_ms, newest_ms } = read(nodeReports(NOW_MS))
  expect(reports.map(({ name, status }) => [name, status?.code, status?.message])).toEqual([
    ['system', undefined, undefined],
    ['cpu-avg-load', undefined, undefined],
    ['storage', 1, 'pool: degraded'],
    ['inst-status', 4, 'vm1: it has crashed'],
  ])
  expect(figures).toEqual({
    ...{ load: 1.5, cpu_load: 0.75, cpus: 4, memory_total_bytes: 8e9, memory_free_bytes: 3e9 },
    storage: { name: '/srv', size_bytes: 1000, free_bytes: 100 },
  })
  expect([oldest_ms, newest_ms]).toEqual([NOW_MS - 30_000, NOW_MS])
})

test('the reports of a Ganeti, which has fewer collectors, have figures as far as they go', () => {
  const { figures } = read([one({ name: 'cpu-avg-load', data: { cpu_number: 8, cpus: [], cpu_total: 2 } })])
  expect(figures).toMatchObject({ cpus: 8, cpu_load: 2, load: null, memory_total_bytes: null, storage: null })
})

test.each([
  [{ error: 'no such file' }, 0, 2, 'no such file'],
  [{ status: { code: 3, message: 'what' } }, 1, 2, 'its report has no status that is known'],
  [{ status: 'Ok' }, 1, 0, ''],
  [{ status: 'live-repair', details: 'disk' }, 1, 1, 'live-repair: disk'],
  [{ status: 'evacuate' }, 1, 4, 'evacuate'],
  [
    { status: { code: 4, message: '\nrapi does not run\nmaintd does  not run' } },
    1,
    4,
    'rapi does not run; maintd does not run',
  ],
  [{ status: { code: 4, message: 'x'.repeat(5000) } }, 1, 4, `${'x'.repeat(STATUS_CHARS_SHOWN)}[...]`],
])('the data %j have a status', (data, kind, code, message) => {
  expect(statusOf(data, kind)).toEqual({ code, message })
})

test('figures that are no numbers are none', () => {
  const data = { cpus: { number: '4', load: 'high' }, memory: { total: -1, free: null } }
  expect(read([one({ name: 'system', data })]).figures).toMatchObject({
    load: null,
    cpus: null,
    memory_total_bytes: null,
  })
})

let deep: unknown = 1
for (let level = 0; level <= MOND_DEPTH_MAX; level++) deep = [deep]

test.each([
  [{}, /no list of reports: expected a list/],
  [[1], /no list of reports: \[0\]: expected an object/],
  [[one({ kind: 7 })], /\[0\]: kind: expected one of 0, 1/],
  [[one({ timestamp: 'now' })], /\[0\]: timestamp: expected a number, found "now"/],
  [[REPORT], /key "name" is missing in \[0\]/],
  [[one({ data: deep })], /nested deeper than 60 levels/],
  [Array.from({ length: MOND_REPORTS_MAX + 1 }, () => one({})), /it tells 201 reports, more than 200/],
  [[one({ name: 'x'.repeat(201) })], /name of a report is longer/],
  [Array<number>(400_001).fill(1), /more than 400000 values/],
])('an answer that is no list of reports is refused (%#)', (reported, text) => {
  expect(() => read(reported)).toThrow(text)
  expect(() => read(reported)).toThrow(MondFailure)
})

test('what is not JSON is shown in short', () => {
  expect(() => readReports(`<html>${'x'.repeat(1000)}`)).toThrow(/^its answer is not JSON: "<html>x{34}\[\.\.\.\]"$/)
})

test('a text of a million brackets is refused, and exhausts no stack', () => {
  expect(() => readReports('['.repeat(1e6))).toThrow(MondFailure)
  expect(() => readReports(`${'['.repeat(1e5)}${']'.repeat(1e5)}`)).toThrow(/nested deeper/)
})
