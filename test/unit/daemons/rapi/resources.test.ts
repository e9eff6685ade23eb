// Resources of `/3` that are no objects of the configuration: users, tags, the watcher, the queue.
import type { Master } from '../../../../src/rpc/luxi/master'
import type { TagUse } from '../../../../src/rpc/luxi/resources'
import { OpPrereqError, REFUSED } from '../../../../src/model/errors'
import { basic, Harness, RecordedMaster } from './harness'

const TAGS: TagUse[] = ['db', 'prod', 'prod-old'].map((tag) => ({
  tag,
  objects: Array.from({ length: tag === 'prod' ? 150 : 1 }, (_, n) => ({ kind: 'instance', name: `vm${n}` })),
}))
const TOKENS = ['watcher', 'Watch-2', 'deploy'].map((name, at) => ({
  ...{ id: `t${at}`, name, user: at === 2 ? 'anna' : 'admin', permissions: ['*'], tags: [], groups: [] },
  ...{ created: 1, expires: null },
}))
const calls: unknown[][] = []
const gantry = {
  users: ({ user }: { user: string }) =>
    user === 'admin'
      ? Promise.resolve(null)
      : Promise.reject(new OpPrereqError('this needs the permission users.list', REFUSED.forbidden)),
  tags: () => Promise.resolve(TAGS),
  tokens: () => Promise.resolve(TOKENS),
  pauseWatcher(_identity: unknown, until: number | null) {
    calls.push(['pause', until])
    return Promise.resolve({ paused_until: until, next_run: null, groups: [] })
  },
  drainQueue(_identity: unknown, drained: boolean) {
    calls.push(['drain', drained])
    return Promise.resolve(null)
  },
}
let harness: Harness

beforeAll(async () => {
  harness = await Harness.start(Object.assign(new RecordedMaster(), { gantry }) as unknown as Master)
})
afterAll(() => harness.stop())
afterEach(() => void calls.splice(0))

async function ask(method: string, url: string, body?: unknown, user = basic('admin', 'secret')) {
  const text = body === undefined ? '' : JSON.stringify(body)
  const head = [
    ...[`${method} ${url} HTTP/1.1`, 'Host: x', 'Connection: close', `Authorization: ${user}`],
    ...(body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`]),
  ]
  const answer = await harness.raw(`${head.join('\r\n')}\r\n\r\n${text}`)
  return { status: answer.status, text: answer.body, json: answer.body === '' ? null : JSON.parse(answer.body) }
}

test('users are told with their roles and permissions, and never with a password or its digest', async () => {
  const { status, text, json } = await ask('GET', '/3/users')
  expect(status).toBe(200)
  expect(json.items.map(({ name, options }: { name: string; options: string[] }) => [name, options])).toEqual([
    ['admin', ['write']],
    ['colon', ['write']],
    ['jessica', ['write']],
    ['nobody', []],
    ['reader', ['read']],
  ])
  expect(json.items[0].permissions).toEqual(['*'])
  for (const secret of ['secret', 'foo555', 'plainpw', 'ce006dc99e4d8a8db047518e190e0d0c', 'a:b:c'])
    expect(text).not.toContain(secret)
  expect((await ask('GET', '/3/users', undefined, basic('reader', 'foo555'))).status).toBe(403)
})

test('tags come in pages, those that have some letters, with the first hundred objects of each', async () => {
  const first = (await ask('GET', '/3/tags?like=PROD&limit=1')).json
  expect(first.items).toEqual([{ tag: 'prod', count: 150, objects: expect.any(Array) }])
  expect(first.items[0].objects).toHaveLength(100)
  const second = (await ask('GET', `/3/tags?like=PROD&limit=1&after=${first.next}`)).json
  expect([second.items[0].tag, second.next]).toEqual(['prod-old', null])
  expect((await ask('GET', '/3/tags?after=x')).status).toBe(400)
})

test('tokens are found by letters of their name or user', async () => {
  const names = async (query: string) =>
    (await ask('GET', `/3/tokens${query}`)).json.items.map(({ name }: { name: string }) => name)
  expect(await names('')).toEqual(['watcher', 'Watch-2', 'deploy'])
  expect(await names('?like=WATCH')).toEqual(['watcher', 'Watch-2'])
  expect(await names('?like=watch&limit=1')).toEqual(['watcher'])
  expect(await names('?like=anna')).toEqual(['deploy'])
  expect((await ask('GET', '/3/tokens?limit=0')).status).toBe(400)
})

test('the watcher is paused until a time that is to come, and goes on', async () => {
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const reported = await ask('PUT', '/3/watcher/pause', { until })
  expect(reported.status).toBe(200)
  expect(Date.parse(reported.json.paused_until)).toBe(Date.parse(until))
  expect((await ask('PUT', '/3/watcher/pause', { until: null })).json.paused_until).toBe(null)
  expect(calls).toEqual([
    ['pause', Date.parse(until) / 1000],
    ['pause', null],
  ])
  for (const body of [{}, { until: '2001-01-01T00:00:00Z' }, { until: 'soon' }, { until: null, more: 1 }])
    expect((await ask('PUT', '/3/watcher/pause', body)).status).toBe(400)
})

test('the queue is drained and taken up again', async () => {
  expect((await ask('PUT', '/3/queue/drained', { drained: true })).status).toBe(204)
  expect((await ask('PUT', '/3/queue/drained', { drained: false })).status).toBe(204)
  expect(calls).toEqual([
    ['drain', true],
    ['drain', false],
  ])
  for (const body of [{}, { drained: 'yes' }, { drained: true, more: 1 }])
    expect((await ask('PUT', '/3/queue/drained', body)).status).toBe(400)
})
