// The monitoring daemon over HTTP, with collectors that look at a recorded node.
import { History } from '../../../../src/collectors/history/history'
import { Monitor, type Watched } from '../../../../src/collectors/monitor'
import { COLLECTORS } from '../../../../src/collectors/registry'
import { type Mond, startMond } from '../../../../src/daemons/mond/server'
import { systemClock } from '../../../../src/lib/clock'
import { sha1Hmac } from '../../../../src/lib/hmac'
import { thisMachine } from '../../../../src/lib/machine'
import { silentLog } from '../../../../src/lib/log'
import { seededRandom } from '../../../../src/lib/random'
import { CONFD } from '../../../../src/rpc/confd/protocol'
import { NODE, nodeSources } from '../../../support/node-sources'
import { replayMond } from '../../../support/replay-mond'

const GANETI = ['cpu-avg-load', 'diskstats', 'drbd', 'inst-status-xen', 'lv', 'xen-cpu-avg-load']

const sources = nodeSources({
  clock: systemClock,
  files: {
    '/proc/stat': 'cpu  1 1 1 1 1\ncpu0 1 1 1 1 1\n',
    '/proc/diskstats': ' 254 0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n',
    '/proc/uptime': '1000.0 1.0\n',
    '/proc/loadavg': '1.25 0.50 0.25 1/100 4711\n',
  },
  answers: { [`${CONFD.nodeInstances} ${NODE}`]: [[], []] },
})

const plugin: Watched = {
  ...{ name: 'rack', category: 'node', kind: 'performance', version: 'P', interval_s: 5, cost_ms: 1 },
  open: () => ({ collect: () => Promise.resolve({ rack: '<7>' }) }),
}

const KEY = 'a key\n'
const history = new History({ sources, log: silentLog, save: () => Promise.resolve() })
let monitor: Monitor
let mond: Mond
let port = 0
let reported: ReadonlySet<string> | undefined

beforeAll(async () => {
  const sign = (msg: string, time_ns: number) => ({
    signed: { msg, salt: String(time_ns), hmac: sha1Hmac(KEY, msg, String(time_ns)) },
  })
  monitor = new Monitor({ clock: systemClock, log: silentLog, sign })
  monitor.follow(new Map([['inst-status-xen', { active: false, interval_s: 5 }]]))
  monitor.watch([...COLLECTORS.map((one) => ({ ...one, open: () => one.open(sources, {}) })), plugin])
  await history.start()
  mond = await startMond({
    ...{
      files: thisMachine.files,
      monitor,
      history,
      clock: systemClock,
      log: silentLog,
      random: seededRandom(1),
      hostname: '<node>',
    },
    ...{
      addresses: ['127.0.0.1'],
      port: 0,
      accessLog: 'none',
      named: () => Promise.resolve(reported),
      configAge_s: () => undefined,
    },
  })
  port = mond.addresses[0]?.port ?? 0
})
afterAll(async () => {
  monitor.close()
  await history.close()
  await mond.close()
})
beforeEach(() => (reported = undefined))

const get = (path: string, headers = {}) => fetch(`http://127.0.0.1:${port}${path}`, { headers })
const json = async (path: string): Promise<unknown> => (await get(path)).json()
const names = async (path: string) => ((await json(path)) as { name: string }[]).map(({ name }) => name)

test('answers what a real Ganeti answered', async () => {
  monitor.watch([...COLLECTORS.map((one) => ({ ...one, open: () => one.open(sources, {}) }))])
  reported = new Set(GANETI)
  const { complaints, replayed } = await replayMond('127.0.0.1', port)
  expect(complaints).toEqual([])
  expect(replayed).toBeGreaterThan(10)
  monitor.watch([...COLLECTORS.map((one) => ({ ...one, open: () => one.open(sources, {}) })), plugin])
})

test('lists what the configuration names, and plugins; all of them while nobody has told', async () => {
  const listed = async () => ((await json('/1/list/collectors')) as [string][]).map(([name]) => name)
  expect(await listed()).toEqual(
    [...COLLECTORS.map(({ name }) => name), 'rack'].filter((name) => name !== 'inst-status-xen'),
  )
  reported = new Set([...GANETI, 'inst-status'])
  expect(await listed()).toEqual([
    ...['cpu-avg-load', 'xen-cpu-avg-load', 'diskstats', 'drbd', 'lv', 'inst-status', 'rack'],
  ])
})

test.each([
  ['/1/', '/1'],
  ['/1/list/collectors/', '/1/list/collectors'],
  ['/1/collectors/', '/1/collectors'],
  ['/1/report/all/', '/1/report/all'],
  ['/1/report/all/?names=drbd', '/1/report/all?names=drbd'],
  ['/1/report/storage/drbd//', '/1/report/storage/drbd'],
  ['/1/report/storage/drbd/?verbose=0', '/1/report/storage/drbd?verbose=0'],
  ['/1/report/', '/1/report'],
  ['/1/history/node/', '/1/history/node'],
  ['/report', '/1/report/all'],
  ['/report/?names=drbd', '/1/report/all?names=drbd'],
  ['/report/all?names=drbd', '/1/report/all?names=drbd'],
  ['/report/storage/drbd/', '/1/report/storage/drbd'],
  ['/report/storage/nosuch', '/1/report/storage/nosuch'],
])('%s is %s', async (path, same) => {
  const answer = async (one: string) => {
    const response = await get(one)
    const text = await response.text()
    // Figures, times and signatures differ.
    return [response.status, text.replaceAll(/[\da-f]{40}|\d+(\.\d+)?(e[+-]\d+)?/g, 'N')]
  }
  expect(await answer(path)).toEqual(await answer(same))
  expect((await get(same)).status).toBe(/nosuch|report$/.test(same) ? 404 : 200)
})

test('figures for Prometheus are there with a slash, too', async () => {
  expect((await get('/metrics/')).status).toBe(200)
})

test('one collector that fails does not spoil the answer for all', async () => {
  const response = await get('/1/report/all')
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
  const reports = (await response.json()) as { name: string; data: { error?: string } }[]
  expect(reports.find(({ name }) => name === 'storage')?.data).toEqual({
    status: { code: 2, message: expect.stringContaining('No answer from the Confd server') },
    error: expect.stringContaining('No answer from the Confd server'),
  })
  expect(reports.map(({ name }) => name)).toEqual(expect.arrayContaining(['cpu-avg-load', 'inst-status', 'daemons']))
})

test('parts of the reports can be asked for', async () => {
  expect(await names('/1/report/all?category=storage')).toEqual(['diskstats', 'drbd', 'lv', 'storage'])
  expect(await names('/1/report/all?names=drbd,system&category=storage,node')).toEqual(['drbd', 'system'])
  expect(await json('/1/report/storage/drbd?verbose=0')).toMatchObject({ data: { status: { code: 0, message: '' } } })
  expect(Object.keys(((await json('/1/report/storage/drbd?verbose=0')) as { data: object }).data)).toEqual(['status'])
})

test('an unknown choice is refused with the list of known ones; one that selects nothing is an empty list', async () => {
  const refused = async (path: string) => {
    const response = await get(path)
    expect([response.status, response.headers.get('content-type')]).toEqual([400, 'application/problem+json'])
    return ((await response.json()) as { detail: string }).detail
  }
  const categories = 'instance, storage, daemon, hypervisor, node, default'
  expect(await refused('/1/report/all?category=stroage')).toBe(`category: there is no 'stroage', but ${categories}`)
  expect(await refused('/1/report/all?category=storage,__proto__')).toContain("category: there is no '__proto__'")
  const all = [...COLLECTORS.map(({ name }) => name), 'rack'].join(', ')
  expect(await refused('/1/report/all?names=drbd,racks')).toBe(`names: there is no 'racks', but ${all}`)
  expect(await refused('/1/report/all?verbose=2')).toBe("verbose: there is no '2', but 0, false, no, 1, true, yes")
  expect(await refused('/1/report/storage/drbd?verbose=perhaps')).toContain("verbose: there is no 'perhaps'")

  expect(await json('/1/report/all?category=storage&names=system')).toEqual([])
  expect(await json('/1/report/all?names=inst-status-xen')).toEqual([])
  expect(await names('/1/report/all?category=&names=rack&other=1')).toEqual(['rack'])
})

test('the self-diagnosis is signed, as messages of confd are', async () => {
  const { signed, ...report } = (await json('/1/report/node/diagnose')) as Record<string, unknown> & {
    signed: { msg: string; salt: string; hmac: string }
  }
  expect(JSON.parse(signed.msg)).toEqual(report)
  expect(signed.hmac).toBe(sha1Hmac(KEY, signed.msg, signed.salt))
})

test('every collector tells its shape and how it gets on', async () => {
  const all = (await json('/1/collectors')) as Record<string, unknown>[]
  expect(all.find(({ name }) => name === 'drbd')).toMatchObject({
    ...{ category: 'storage', kind: 'status', version: 'B', listed: true, schema: { type: 'object' }, failures: 0 },
    ...{ codes: { 4: expect.any(String) }, status: { code: 0, message: '' }, error: null, age_s: expect.any(Number) },
  })
  expect(all.find(({ name }) => name === 'rack')).toMatchObject({ version: 'P', schema: {}, codes: {} })
})

test('figures for Prometheus have the status of each collector', async () => {
  const response = await get('/metrics')
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const text = await response.text()
  expect(text).toContain('gantry_collector_status_code{collector="drbd",category="storage"} 0')
  expect(text).toContain('gantry_collector_status_code{collector="storage",category="storage"} 2')
  expect(text).not.toMatch(/^gantry_collector_settings_age_seconds/m)
})

test('people are shown a page, in which nothing that a node says is taken for HTML', async () => {
  const response = await get('/', { accept: 'text/html,*/*' })
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  const text = await response.text()
  expect(text).toContain('<h1>&lt;node&gt;</h1>')
  expect(text).toContain('No master candidate has answered since this daemon was started')
  expect(text).toMatch(/>drbd<\/a><td>storage<td class="c0">ok/)
  expect(await json('/')).toEqual([1])
})

test('the documentation is served', async () => {
  const document = (await json('/docs/openapi.json')) as { paths: object; components: object }
  // The page would offer a login.
  expect(document.components).not.toHaveProperty('securitySchemes')
  expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/1/report/all', '/1/collectors', '/metrics']))
  expect((await get('/docs/')).status).toBe(200)
})

test.each([
  ['/1/report/storage/nosuch', 404, 'Unable to produce a report for the requested resource'],
  ['/1/report/instance/inst-status-xen', 404, 'Unable to produce a report for the requested resource'],
  ['/1/report/default/drbd', 404, 'Unable to produce a report for the requested resource'],
  ['/1/report', 404, 'Unable to produce a report for the requested resource'],
  ['/2', 404, 'Resource not found'],
  ['/1/report/all/more/and/more', 404, 'Unable to produce a report for the requested resource'],
])('what is not there is refused in Ganeti’s words: %s', async (path, status, text) => {
  const response = await get(path)
  expect([response.status, await response.text()]).toEqual([status, text])
})

test('only reading is served', async () => {
  const response = await fetch(`http://127.0.0.1:${port}/1/report/all`, { method: 'POST', body: '{}' })
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET'])
})

test('the last hours of the node and of an instance are told, since a time, and a wrong time is refused', async () => {
  const { times, load } = (await json('/1/history/node')) as { times: number[]; load: number[] }
  expect([times.length, load]).toEqual([1, [1.25]])
  expect(await json(`/1/history/node?since=${times[0]}`)).toMatchObject({ interval_s: 60, times: [], load: [] })
  expect(await json('/1/history/instance/vm1.example.com')).toMatchObject({ times: [], cpus_busy: [] })
  expect((await get('/1/history/node?since=noon')).status).toBe(400)
})
