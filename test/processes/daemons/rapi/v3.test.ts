// /3 in front of a real luxid on the recorded cluster's configuration, with test jobs.
import * as fs from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { eventually } from '../../../support/hypervisor'
import { basic, type Harness } from '../../../unit/daemons/rapi/harness'
import { RealMaster, type Reply } from './real-master'

let master: RealMaster
let harness: Harness

beforeAll(async () => {
  master = await RealMaster.start()
  harness = master.harness
})

afterAll(() => master.stop())

const ask: RealMaster['ask'] = (...request) => master.ask(...request)

const delay = (duration = 0, more = {}) => ({
  OP_ID: 'OP_TEST_DELAY',
  duration,
  on_master: false,
  on_nodes: [],
  ...more,
})
const submit = (ops: unknown[], headers: string[] = [], more: object = {}) =>
  ask('POST', '/3/jobs', { body: { ops, ...more }, headers })
const names = ({ json }: Reply): unknown[] => (json['items'] as { name: string }[]).map(({ name }) => name)

async function ended(id: unknown): Promise<Reply> {
  for (;;) {
    const reply = await ask('GET', `/3/jobs/${String(id)}`)
    if (['success', 'error', 'canceled'].includes(String(reply.json['status']))) return reply
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test.each([
  ['application/json', 202],
  ['Application/JSON; charset=UTF-8', 202],
  ['application/json;charset="utf-8"', 202],
  ['application/json; charset=utf-16', 415],
  ['application/jsonp', 415],
  ['text/plain', 415],
])('a body of type %s is answered with %i', async (type, status) => {
  const head = `POST /3/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic('admin', 'secret')}\r\n`
  const body = JSON.stringify({ ops: [delay()] })
  const answer = await harness.raw(`${head}Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  expect(answer.status).toBe(status)
})

test('a page of another site may change nothing', async () => {
  const reply = await submit([delay()], ['Sec-Fetch-Site: cross-site'])
  expect([reply.status, reply.json['detail']]).toEqual([403, expect.stringMatching(/^Sec-Fetch-Site is cross-site/)])
})

test('a body that would be ignored is refused, unless it is empty', async () => {
  const archive = (body: unknown) => ask('POST', '/3/jobs/99999/archive', { body })
  expect((await archive({ age: 5 })).json['detail']).toBe('POST /3/jobs/:id/archive takes no body: leave it out')
  expect((await archive({})).status).not.toBe(400)
})

describe('reads', () => {
  test('a page at a time, each object once', async () => {
    const all = names(await ask('GET', '/3/nodes?fields=name'))
    expect(all.length).toBeGreaterThan(2)
    const observed: unknown[] = []
    for (let next: unknown = ''; next !== null;) {
      const page = await ask('GET', `/3/nodes?fields=name&limit=1${next === '' ? '' : `&after=${String(next)}`}`)
      observed.push(...names(page))
      next = page.json['next']
    }
    expect(observed).toEqual(all)
  })

  test.each(['cluster', 'instances', 'nodes', 'groups', 'networks', 'jobs', 'os', 'filters', 'locks', 'exports'])(
    '%s can be read',
    async (kind) => expect((await ask('GET', `/3/${kind}`)).status).toBe(200),
  )

  test('times are texts, of objects and of the cluster', async () => {
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    const { json } = await ask('GET', '/3/instances?fields=ctime,mtime&limit=1')
    expect(json['items']).toEqual([{ ctime: time, mtime: time }])
    expect((await ask('GET', '/3/cluster')).json).toMatchObject({ ctime: time, mtime: time })
  })

  test.each([
    ['[['.repeat(6000), 'must be a JSON array'],
    ['['.repeat(7000) + ']'.repeat(7000), 'is nested deeper than 64 levels'],
    [`["==","name",${'['.repeat(70)}${']'.repeat(70)}]`, 'is nested deeper than 64 levels'],
    ['["!",["!",["?","master"]]]', undefined],
    [`{"a":${'['.repeat(300)}${']'.repeat(300)}}`, 'must be a JSON array'],
  ])('a filter that is nested is refused with the name of the argument', async (filter, complaint) => {
    const { status, json } = await ask('GET', `/3/nodes?filter=${filter}`)
    if (complaint === undefined) expect(status).toBe(200)
    else expect([status, json['detail']]).toEqual([400, expect.stringContaining(`filter: ${complaint}`)])
  })

  test('a filter chooses', async () => {
    const filter = encodeURIComponent(JSON.stringify(['?', 'master']))
    expect(names(await ask('GET', `/3/nodes?fields=name&filter=${filter}`))).toHaveLength(1)
  })

  test('an ETag names the object and its serial number, and spares the body', async () => {
    const url = `/3/nodes/${String(names(await ask('GET', '/3/nodes?fields=name'))[0])}`
    const { headers } = await ask('GET', url)
    expect(headers['etag']).toMatch(/^"node\/[0-9a-f-]{36}\/\d+"$/)
    const raw = await harness.raw(
      `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${basic('admin', 'secret')}\r\nIf-None-Match: ${headers['etag']}\r\n\r\n`,
    )
    expect([raw.status, raw.body]).toEqual([304, ''])
  })

  test.each([
    ['GET', '/3/nodes/nope', 404],
    ['GET', '/3/nodes?limit=0', 400],
    ['GET', '/3/nodes?limit=x', 400],
    ['GET', '/3/nodes?fields=nope', 400],
    ['GET', '/3/nodes?fields=,', 400],
    ['GET', '/3/nodes?filter=nope', 400],
    ['GET', '/3/nodes?filter=["nope"]', 400],
    ['GET', '/3/nowhere', 404],
    ['GET', '/3/nodes/%FF', 404],
    ['PUT', '/3/nodes', 405],
    ['GET', '/3/jobs/999999', 404],
  ])('%s %s is a problem with status %d', async (method, url, status) => {
    const { headers, json, ...reply } = await ask(method, url)
    expect(reply.status).toBe(status)
    expect(headers['content-type']).toBe('application/problem+json')
    expect(json).toMatchObject({ status, detail: expect.any(String) })
  })

  test.each([
    ['/3/nodes?foo=1&limit=5', /'foo': there are fields, filter, sort, known, limit, after$/],
    ['/3/jobs?cursor=eA', /'cursor': there are include, filter, sort, limit, after$/],
    ['/3/jobs?after=garbage!', /^after: not the `next`/],
    ['/3/jobs?after=MTI', /^after: not/],
    ['/3/nodes?limit=1&limit=2', /^limit: may be given only once$/],
    ['/3/cluster?fields=name', /'fields': this request takes none$/],
    ['/3/events?objects=vm1', /^objects: 'vm1' is not an object; write KIND\/NAME/],
    ['/3/events?typ=job', /'typ': there are types, objects$/],
  ])('%s is refused, and the argument is named', async (url, text) => {
    const { status, json } = await ask('GET', url)
    expect([status, json['detail']]).toEqual([400, expect.stringMatching(text)])
  })

  test('a list is sorted by a field, in both directions, page by page, also by what nodes told last', async () => {
    const url = '/3/nodes?fields=name&known=true'
    const all = names(await ask('GET', url))
    expect(names(await ask('GET', `${url}&sort=-name`))).toEqual(all.toReversed())
    const first = await ask('GET', `${url}&sort=-name&limit=1`)
    const second = await ask('GET', `${url}&sort=-name&limit=1&after=${String(first.json['next'])}`)
    expect([...names(first), ...names(second)]).toEqual(all.toReversed().slice(0, 2))
    for (const more of ['sort=-', 'sort=nothing', 'known=maybe'])
      expect((await ask('GET', `/3/nodes?${more}`)).status).toBe(400)
  })

  test('the place in one list is none in another', async () => {
    const { json } = await ask('GET', '/3/nodes?fields=name&limit=1')
    expect((await ask('GET', `/3/instances?after=${String(json['next'])}`)).status).toBe(400)
  })

  test('a stranger is told how to log in', async () => {
    const { status, headers } = await ask('GET', '/3/nodes', { as: basic('admin', 'wrong') })
    expect(status).toBe(401)
    expect(headers['www-authenticate']).toMatch(/Basic .*Bearer/)
  })
})

describe('jobs', () => {
  test('a job is accepted, and shows how it went', async () => {
    const { status, headers, json } = await submit([delay(0, { comment: 'log' })], [], { reason: 'because' })
    expect([status, headers['location']]).toEqual([202, `/3/jobs/${String(json['id'])}`])
    const { json: job } = await ended(json['id'])
    expect(job).toMatchObject({ status: 'success', ops: [{ OP_ID: 'OP_TEST_DELAY', status: 'success', error: null }] })
    const [op] = job['ops'] as { log: object[]; input: { reason: unknown[][] } }[]
    expect(op?.log).toMatchObject([{ message: 'line 0' }, { message: 'line 1' }, { message: 'line 2' }])
    expect(op?.input.reason.map(([source, text]) => [source, text]).slice(0, 2)).toEqual([
      ['gnt:user', 'because'],
      ['gantry:user', 'admin'],
    ])
  })

  test('a job looks the same in lists and alone, with times as texts', async () => {
    const { json } = await submit([delay(0, { comment: 'log' })])
    const { json: alone } = await ended(json['id'])
    const filter = encodeURIComponent(JSON.stringify(['==', 'id', json['id']]))
    const whole = await ask('GET', `/3/jobs?include=result,error,log,input&filter=${filter}`)
    expect(whole.json).toEqual({ items: [alone], next: null })
    const { ops, ...job } = alone as { ops: Record<string, unknown>[] }
    const [{ result: _result, error: _error, log, input: _input, ...op } = {}] = ops
    const short = await ask('GET', `/3/jobs?filter=${filter}`)
    expect(short.json['items']).toEqual([{ ...job, ops: [op] }])
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    const [line] = log as object[]
    expect([job, op, line]).toEqual([
      expect.objectContaining({ received: time, started: time, ended: time }),
      expect.objectContaining({ started: time, executed: time, ended: time }),
      expect.objectContaining({ time }),
    ])
    expect((await ask('GET', '/3/jobs?include=summary')).json['detail']).toBe(
      "include: there is no 'summary', only result, error, log, input",
    )
  })

  test('a failed opcode says why', async () => {
    const { json } = await submit([delay(0, { comment: 'fail' })])
    const error = { class: 'OpExecError', message: 'told to fail' }
    expect((await ended(json['id'])).json).toMatchObject({ status: 'error', ops: [{ result: null, error }] })
  })

  test.each([
    ['no body', undefined],
    ['no object', []],
    ['no opcodes', { ops: [] }],
    ['an unknown opcode', { ops: [{ OP_ID: 'OP_NONE' }] }],
    ['a wrong parameter', { ops: [delay(0, { duration: 'long' })] }],
    ['an unknown parameter', { ops: [delay(0, { nope: 1 })] }],
    ['an unknown property', { ops: [delay()], nope: 1 }],
    ['a reason of its own', { ops: [delay(0, { reason: [] })] }],
  ])('%s is refused', async (_, body) => {
    expect((await ask('POST', '/3/jobs', { body })).status).toBe(400)
  })

  test('a reader may not submit, and is told which permission is missing', async () => {
    const { status, json } = await ask('POST', '/3/jobs', { body: { ops: [delay()] }, as: basic('reader', 'foo555') })
    expect([status, json['detail']]).toEqual([403, 'this needs the permission tests.delay'])
  })
})

describe('an Idempotency-Key', () => {
  test('makes the same request happen once, also over a restart of luxid and after archiving', async () => {
    const key = ['Idempotency-Key: once']
    const first = await submit([delay()], key)
    await ended(first.json['id'])
    expect((await submit([delay()], key)).json).toEqual(first.json)
    await master.client.archiveJob(Number(first.json['id']))
    await master.restartLuxid()
    const again = await submit([delay()], key)
    expect([again.status, again.json, again.headers['idempotent-replayed']]).toEqual([202, first.json, 'true'])
    const other = await submit([delay(0, { comment: 'other' })], key)
    expect([other.status, other.json['code']]).toEqual([422, 'other_body'])
  })

  test('that another user gives is another one', async () => {
    const key = ['Idempotency-Key: shared']
    const mine = await submit([delay()], key)
    const theirs = await ask('POST', '/3/jobs', {
      body: { ops: [delay()] },
      headers: key,
      as: basic('colon', 'a:b:c'),
    })
    expect(theirs.status).toBe(202)
    expect(theirs.json['id']).not.toBe(mine.json['id'])
  })

  test('sent twice at the same time makes one job', async () => {
    const both = await Promise.all([1, 2, 3].map(() => submit([delay()], ['Idempotency-Key: together'])))
    const ids = new Set(both.filter(({ status }) => status === 202).map(({ json }) => json['id']))
    expect(ids.size).toBe(1)
    for (const { status } of both) expect([202, 409]).toContain(status)
  })

  test('is shown to nobody', async () => {
    const reply = await submit([delay()], ['Idempotency-Key: hidden'])
    const { text } = await ended(reply.json['id'])
    expect(master.jobFile(reply.json['id'])).toContain('gantry:key')
    expect(text).toContain('gantry:user')
    expect(text).not.toContain('gantry:key')
  })

  test('cannot be claimed by what a user writes into an opcode inside of an opcode', async () => {
    const reason = [
      ['gantry:key', 'digest of another user', 1],
      ['gantry:user', 'another', 1],
      ['why', 'not', 1],
    ]
    const instance = {
      instance_name: 'x',
      mode: 'create',
      os_type: 'noop',
      disk_template: 'diskless',
      disks: [],
      nics: [],
    }
    const { json } = await submit([{ OP_ID: 'OP_INSTANCE_MULTI_ALLOC', instances: [{ ...instance, reason }] }])
    expect(master.jobFile(json['id'])).toContain('["why","not",1]')
    expect(master.jobFile(json['id'])).not.toContain('another')
  })

  test('has at most 255 bytes', async () => {
    expect((await submit([delay()], [`Idempotency-Key: ${'x'.repeat(256)}`])).status).toBe(400)
  })
})

test('If-Match refuses what has changed', async () => {
  const { headers } = await ask('GET', '/3/cluster')
  expect((await submit([delay()], [`If-Match: ${headers['etag']}`])).status).toBe(202)
  const old = headers['etag']?.replace(/\d+"$/, '99999"')
  expect((await submit([delay()], [`If-Match: ${old}`])).status).toBe(412)
  expect((await submit([delay()], ['If-Match: "x"'])).status).toBe(400)
})

describe('tokens', () => {
  const make = async (body: object): Promise<{ id: string; as: string }> => {
    const { status, json } = await ask('POST', '/3/tokens', { body: { name: 'test', ...body } })
    expect(status).toBe(201)
    return { id: (json['token'] as { id: string }).id, as: `Bearer ${String(json['secret'])}` }
  }

  test.each(['cluster', 'instances', 'nodes', 'groups', 'networks', 'jobs', 'os', 'filters', 'locks', 'exports'])(
    'with *.query can read %s',
    async (kind) => {
      const { as } = await make({ permissions: ['*.query'] })
      expect((await ask('GET', `/3/${kind}`, { as })).status).toBe(200)
      expect((await ask('POST', '/3/jobs', { body: { ops: [delay()] }, as })).status).toBe(403)
    },
  )

  test('are not made for a user who does not exist', async () => {
    const token = { name: 'x', permissions: ['*'], tags: [], groups: [], expires: null }
    const made = master.luxid.master.gantry?.addToken({ user: 'nobody-there', token: null, permissions: ['*'] }, token)
    await expect(made).rejects.toThrow(/There is no user nobody-there in .*users \(it has admin, reader, .*add a line/)
  })

  test('are for /3 only', async () => {
    const { as } = await make({ permissions: ['*'] })
    expect((await harness.ask('GET', '/2/nodes', { as })).status).toBe(401)
  })

  test('with a permission that there is not are refused, and those that there are told', async () => {
    const { status, json } = await ask('POST', '/3/tokens', { body: { name: 'x', permissions: ['node.query'] } })
    expect([status, json['detail']]).toEqual([
      400,
      expect.stringMatching(/^permissions: 'node.query' is no.* nodes\.query,/),
    ])
  })

  test('can do what they are for, until they are revoked', async () => {
    const { id, as } = await make({ permissions: ['nodes.list'] })
    expect((await ask('GET', '/3/nodes', { as })).status).toBe(200)
    expect((await ask('GET', '/3/instances', { as })).status).toBe(403)
    expect((await ask('POST', '/3/jobs', { body: { ops: [delay()] }, as })).status).toBe(403)
    const { json } = await ask('GET', '/3/tokens')
    expect(json['items']).toContainEqual(expect.objectContaining({ id, user: 'admin', name: 'test' }))
    expect(JSON.stringify(json)).not.toContain('digest')
    expect(JSON.stringify(master.luxid.wconfd.gantry)).not.toContain(as.slice(-64))
    const revoked = await harness.raw(
      `DELETE /3/tokens/${id} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${basic('admin', 'secret')}\r\n\r\n`,
    )
    expect(revoked.status).toBe(204)
    expect((await ask('GET', '/3/nodes', { as })).status).toBe(401)
  })

  test('cannot make tokens, nor do more than their user', async () => {
    const { as } = await make({ permissions: ['*'] })
    expect((await ask('POST', '/3/tokens', { body: { name: 'x', permissions: ['*'] }, as })).status).toBe(403)
    expect((await ask('POST', '/3/tokens', { body: { name: 'x', permissions: ['no'] } })).status).toBe(400)
    for (const wrong of [{ group: ['g'] }, { expires: 1 }, { expires: '2001-01-01T00:00:00Z' }, { expires: 'soon' }]) {
      const { status } = await ask('POST', '/3/tokens', { body: { name: 'x', permissions: ['*'], ...wrong } })
      expect([wrong, status]).toEqual([wrong, 400])
    }
  })

  test('with a scope see only what is in it', async () => {
    const [instance] = (await ask('GET', '/3/instances?fields=name,tags')).json['items'] as { name: string }[]
    const { as } = await make({ permissions: ['*'], tags: ['no-such-tag'] })
    expect(names(await ask('GET', '/3/instances?fields=name', { as }))).toEqual([])
    expect((await ask('GET', `/3/instances/${instance?.name}`, { as })).status).toBe(404)
    const op = { OP_ID: 'OP_INSTANCE_STARTUP', instance_name: instance?.name }
    expect((await ask('POST', '/3/jobs', { body: { ops: [op] }, as })).status).toBe(403)
    expect((await ask('POST', '/3/jobs', { body: { ops: [{ OP_ID: 'OP_CLUSTER_VERIFY' }] }, as })).status).toBe(403)
  })
})

interface Past {
  readonly items: { id: string; time: string; data: Record<string, unknown> }[]
  readonly next: string | null
}

describe('events', () => {
  test('tell what a job does, and go on after an id', async () => {
    const stream = openStream('/3/events?types=job')
    const start = await stream.next('start')
    const { json } = await submit([delay()])
    // Jobs of the tests before may still be running.
    const nextOf = async (from: typeof stream): Promise<Record<string, unknown>> => {
      for (;;) {
        const data = (await from.next('job')).data['data'] as Record<string, unknown>
        if (data['job'] === json['id']) return data
      }
    }
    const states: unknown[] = []
    while (states.at(-1) !== 'success') states.push((await nextOf(stream))['status'])
    stream.close()
    expect(states).toEqual(['queued', 'waiting', 'running', 'success'])
    const again = openStream('/3/events?types=job', [`Last-Event-ID: ${start.id}`])
    const first = await nextOf(again)
    again.close()
    expect(first).toMatchObject({ status: 'queued', user: 'admin' })
  })

  test('are told also when they are over, the newest first, page by page', async () => {
    const { json } = await submit([delay()])
    await ended(json['id'])
    const pastOf = async (query: string) => (await ask('GET', `/3/events/past?${query}`)).json as unknown as Past
    // Whoever waits for a job may hear of its end before its event is there.
    const all = await eventually(async () => {
      const page = await pastOf(`types=job&objects=job/${String(json['id'])}`)
      return page.items.length < 4 ? undefined : page
    })
    expect(all.items.map(({ data }) => data['status'])).toEqual(['success', 'running', 'waiting', 'queued'])
    expect(all.items[0]).toMatchObject({ type: 'job', objects: expect.arrayContaining([`job/${String(json['id'])}`]) })
    expect(Date.parse(all.items[0]?.time ?? '')).toBeGreaterThan(0)
    const pages: string[] = []
    let next: string | null = ''
    while (next !== null) {
      const after: string = next === '' ? '' : `&after=${next}`
      const page = await pastOf(`types=job&objects=job/${String(json['id'])}&limit=3${after}`)
      pages.push(page.items.map(({ id }) => id).join())
      next = page.next
    }
    expect(pages).toHaveLength(2)
    expect(pages.join().split(',')).toEqual(all.items.map(({ id }) => id))
    expect((await ask('GET', '/3/events/past?after=nonsense')).status).toBe(400)
    expect((await ask('GET', '/3/events/past?types=jobs')).status).toBe(400)
  })

  test('from another epoch are a gap, never silence', async () => {
    const stream = openStream('/3/events', ['Last-Event-ID: other-12'])
    const { data } = await stream.next('gap')
    stream.close()
    expect(data['reason']).toMatch(/new numbering/)
  })

  test('end when the token is revoked', async () => {
    const { json } = await ask('POST', '/3/tokens', { body: { name: 'watch', permissions: ['events.query'] } })
    const stream = openStream('/3/events', [], `Bearer ${String(json['secret'])}`)
    await stream.next('start')
    await master.luxid.master.gantry?.removeToken(
      { user: 'admin', token: null, permissions: ['*'] },
      (json['token'] as { id: string }).id,
    )
    await submit([delay()])
    expect((await stream.next('end')).data['reason']).toMatch(/no longer valid/)
  })

  test('end when the user is taken out of the users file', async () => {
    const users = fs.readFileSync(harness.usersFile, 'utf8')
    fs.writeFileSync(harness.usersFile, `${users}\nleaving secret @readonly\n`)
    const stream = openStream('/3/events', [], basic('leaving', 'secret'))
    await stream.next('start')
    fs.writeFileSync(harness.usersFile, users)
    const { json } = await submit([delay()])
    expect((await stream.next()).event).toBe('end')
    await ended(json['id'])
  })
})

test('a dependency on a job before the first one is a mistake of the caller, over both versions', async () => {
  const depends = [[-1000000, ['success']]]
  const { status } = await ask('POST', '/3/jobs', { body: { ops: [{ ...delay(), depends }] } })
  expect(status).toBe(400)
  const tag = await harness.ask('PUT', '/2/redistribute-config', { body: { depends } })
  expect([tag.status, tag.body]).toEqual([400, expect.stringContaining('points before the first job')])
})

test('the monitoring of nodes is a list with pages, parts and fields; a node without an answer is one item', async () => {
  const all = (await ask('GET', '/3/monitoring')).json['items'] as Record<string, unknown>[]
  const online = all.filter(({ answer }) => answer !== 'offline')
  expect(online.length).toBeGreaterThan(1)
  for (const one of online)
    expect(one).toMatchObject({
      ...{ answer: 'refused', status: 2, reports: null, age_s: null, clock_ahead_s: null, figures: { load: null } },
      problems: [{ collector: null, category: null, code: 2, message: 'nothing listens there' }],
    })
  const { json } = await ask('GET', '/3/monitoring?fields=node,status&limit=1')
  expect(json).toEqual({ items: [{ node: all[0]?.['node'], status: all[0]?.['status'] }], next: expect.any(String) })
  const next = await ask('GET', `/3/monitoring?fields=node&limit=1&after=${String(json['next'])}`)
  expect(next.json['items']).toEqual([{ node: all[1]?.['node'] }])
  const [name = ''] = String(all[1]?.['node']).split('.')
  expect((await ask('GET', `/3/monitoring?node=${name}&category=storage&fields=node`)).json['items']).toHaveLength(1)
})

test.each([
  ['node=nobody', 404, /There is no node nobody/],
  ['fields=name', 400, /^fields: there is no 'name', only node, answer/],
  ['limit=0', 400, /^limit: must be from 1 to 1000$/],
  ['after=x', 400, /^after: not the/],
  ['filter=x', 400, /'filter': there are node, category, collector, fields, limit, after$/],
])('/3/monitoring?%s is refused', async (query, status, detail) => {
  const answer = await ask('GET', `/3/monitoring?${query}`)
  expect([answer.status, answer.json['detail']]).toEqual([status, expect.stringMatching(detail)])
})

test('metrics have the names of the exporter of Ganeti, and ours', async () => {
  const get = (as: string) =>
    harness.raw(`GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${as}\r\n\r\n`)
  const { status, headers, body } = await get(basic('admin', 'secret'))
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  const count = names(await ask('GET', '/3/nodes?fields=name')).length
  expect(body).toContain(`ganeti_cluster_node_count{cluster="cluster.gnt.example"} ${count}\n`)
  for (const name of [
    'ganeti_cluster_jobs{job_status="success",cluster=',
    'ganeti_node_mtotal{node=',
    'ganeti_instance_oper_ram{',
  ])
    expect(body).toContain(name)
  expect(body).toMatch(
    /ganeti_job_run_time\{job_id="\d+",job_operation="OP_TEST_DELAY",cluster="cluster\.gnt\.example"\} [\d.]+/,
  )
  expect(body).toMatch(/gantry_http_requests_total\{api="3",method="POST",status="202"\} \d+/)
  expect(body).toMatch(/gantry_master_call_duration_seconds_count\{call="view"\} \d+/)
  // The first look has had the nodes asked.
  expect((await get(basic('admin', 'secret'))).body).toMatch(
    /^# HELP gantry_node_monitoring_up .*\n# TYPE gantry_node_monitoring_up gauge\n(gantry_node_monitoring_up\{node="node\d[^ ]* 0\n)+/m,
  )
  expect((await get(basic('admin', 'no'))).status).toBe(401)
})

interface StreamEvent {
  id: string
  event: string
  data: Record<string, unknown>
}

function openStream(url: string, headers: string[] = [], as = basic('admin', 'secret')) {
  const waiting: (() => void)[] = []
  const events: StreamEvent[] = []
  let text = ''
  const extra = Object.fromEntries(headers.map((header) => header.split(/: (.*)/s).slice(0, 2)))
  const port = harness.rapi.addresses[0]?.port
  const outgoing = httpsRequest(
    { host: '127.0.0.1', port, path: url, rejectUnauthorized: false, headers: { Authorization: as, ...extra } },
    (response) =>
      response.setEncoding('utf8').on('data', (chunk: string) => {
        const frames = (text += chunk).split('\n\n')
        text = frames.pop() ?? ''
        events.push(...frames.filter((frame) => !frame.startsWith(':')).map(parseFrame))
        for (const wake of waiting.splice(0)) wake()
      }),
  )
  outgoing.on('error', () => undefined).end()
  return {
    /** The next event, or the next of this kind. */
    async next(kind?: string): Promise<StreamEvent> {
      for (;;) {
        const event = events.shift()
        if (event !== undefined && [undefined, event.event].includes(kind)) return event
        if (event === undefined) await new Promise<void>((resolve) => waiting.push(resolve))
      }
    },
    close: () => outgoing.destroy(),
  }
}

function parseFrame(frame: string): StreamEvent {
  const lines = frame.split('\n').map((line) => line.split(/: (.*)/s))
  const { id = '', event = '', data = '{}' } = Object.fromEntries(lines)
  return { id, event, data: JSON.parse(data) }
}
