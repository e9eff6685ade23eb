// The verbs of objects in front of a real luxid on the recorded cluster's configuration. Their jobs all wait: what they are is read from them.
import { objectVerbs, partsOf, saidByAddress } from '../../../../src/daemons/rapi/v3/object-verbs'
import { opcodeOfRequest } from '../../../../src/daemons/rapi/v3/object-routes'
import { Contract } from '../../../support/contract'
import { basic } from '../../../unit/daemons/rapi/harness'
import { RealMaster } from './real-master'

const { operations } = new Contract('rapi')

let master: RealMaster

beforeAll(async () => {
  master = await RealMaster.start()
  // No job begins, so that each can be looked at.
  const rule = {
    predicates: [['opcode', ['!', ['=', 'OP_ID', 'OP_TEST_DELAY']]]],
    action: 'PAUSE',
    reason: 'for the test',
  }
  expect((await ask('POST', '/3/filters', { body: rule })).status).toBe(201)
})

afterAll(() => master.stop())

const ask: RealMaster['ask'] = (...request) => master.ask(...request)

async function inputOf(id: unknown): Promise<Record<string, unknown>> {
  const { json } = await ask('GET', `/3/jobs/${String(id)}`)
  const [op] = json['ops'] as { input: Record<string, unknown> }[]
  return op?.input ?? {}
}

const first = async (kind: string) =>
  String(((await ask('GET', `/3/${kind}?fields=name`)).json['items'] as { name: string }[])[0]?.name)

test.each(objectVerbs.map((entry) => [`${entry.verb} ${entry.path}`, entry] as const))(
  '%s is documented, and its address says parameters that its opcode has',
  (_name, { verb, path, opcode, address }) => {
    const said = Object.keys(address(Object.fromEntries(partsOf(path).map((name) => [name, name]))))
    for (const name of said) expect(Object.keys(opcode.params)).toContain(name)
    const described = operations.find((operation) => operation.verb === verb.toUpperCase() && operation.url === path)
    const { properties = {} } = described?.requestBody?.content['application/json']?.schema ?? {}
    const own = Object.keys(opcode.params).filter(
      (name) => !saidByAddress({ verb, path, opcode, address, preset: {}, cleared: {} }).includes(name),
    )
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(own))
  },
)

/**
 * Jobs are given as opcodes to plans, too; questions, which become jobs when they take long, change nothing. Which tag goes when an
 * event is acknowledged is known only to the event.
 */
const UNPLANNED = [...['/3/jobs', '/3/balance', '/3/capacity', '/3/whatif'], '/3/maintenance/events/{id}/acknowledge']

const answersWithJob = ({ responses }: (typeof operations)[number]) =>
  responses['202']?.content?.['application/json']?.schema?.$ref?.endsWith('/JobAccepted') === true

test.each(
  operations
    .filter((operation) => answersWithJob(operation) && !UNPLANNED.includes(operation.url))
    .map(({ verb, url }) => [verb, url.replaceAll('{index}', '0').replaceAll(/\{\w+\}/g, 'x')] as const),
)('%s %s can be planned', (method, path) => {
  try {
    expect(opcodeOfRequest({ method, path, body: {} }).OP_ID).toMatch(/^OP_/)
  } catch (error) {
    // It is known which opcode it is, and that this one wants more.
    expect(String(error)).not.toContain('is not a request that submits a job')
  }
})

test.each([
  ['POST', 'startup', { force: true }, { OP_ID: 'OP_INSTANCE_STARTUP', force: true }],
  ['POST', 'reboot', undefined, { OP_ID: 'OP_INSTANCE_REBOOT', reboot_type: 'hard' }],
  ['POST', 'disks/0/grow', { amount: 5 }, { OP_ID: 'OP_INSTANCE_GROW_DISK', disk: 0, amount: 5 }],
  ['PATCH', '', { beparams: { maxmem: 64 } }, { OP_ID: 'OP_INSTANCE_SET_PARAMS', beparams: { maxmem: 64 } }],
  ['DELETE', '', undefined, { OP_ID: 'OP_INSTANCE_REMOVE' }],
])('%s %s of an instance is a job of its opcode', async (method, rest, body, input) => {
  const name = await first('instances')
  const url = `/3/instances/${name}${rest === '' ? '' : `/${rest}`}?reason=because`
  const { status, headers, json } = await ask(method, url, { body })
  expect([status, headers['location']]).toEqual([202, `/3/jobs/${String(json['id'])}`])
  const reported = await inputOf(json['id'])
  expect(reported).toMatchObject({ ...input, instance_name: name })
  expect(reported['reason']).toEqual(expect.arrayContaining([['gnt:user', 'because', expect.any(Number)]]))
})

test.each([
  [
    'POST',
    '/3/instances/vm1/tags',
    { tags: ['a'] },
    { OP_ID: 'OP_TAGS_SET', kind: 'instance', name: 'vm1', tags: ['a'] },
  ],
  [
    'DELETE',
    '/3/groups/g/tags/a%2Fb',
    undefined,
    { OP_ID: 'OP_TAGS_DEL', kind: 'nodegroup', name: 'g', tags: ['a/b'] },
  ],
  ['DELETE', '/3/cluster/tags/a', undefined, { OP_ID: 'OP_TAGS_DEL', kind: 'cluster', tags: ['a'] }],
  ['POST', '/3/nodes/n1/command', { command: 'c' }, { OP_ID: 'OP_RESTRICTED_COMMAND', nodes: ['n1'], command: 'c' }],
  ['POST', '/3/cluster/verify', undefined, { OP_ID: 'OP_CLUSTER_VERIFY' }],
  ['PATCH', '/3/os/debian', { hidden: true }, { OP_ID: 'OP_CLUSTER_SET_PARAMS', hidden_os: [['add', 'debian']] }],
])('%s %s is what its address and body say', async (method, url, body, input) => {
  const { status, json } = await ask(method, url, { body })
  expect(status).toBe(202)
  expect(await inputOf(json['id'])).toMatchObject(input)
})

test.each([
  [
    'POST',
    '/3/instances/vm1/startup',
    { instance_name: 'vm2' },
    /^instance_name: the address of the request already sets it/,
  ],
  ['POST', '/3/instances/vm1/startup', { instance_uuid: 'x' }, /^instance_uuid: the address/],
  ['POST', '/3/instances/vm1/startup', { forse: true }, /forse/],
  ['POST', '/3/instances/vm1/startup', { reason: [] }, /^reason: is a query argument/],
  ['POST', '/3/instances/vm1/startup', [], /^The body must be an object/],
  ['POST', '/3/instances/vm1/migrate', { mode: 'fast' }, /^Parameter 'OP_INSTANCE_MIGRATE.mode'|^mode/],
  ['POST', '/3/instances', { instance_name: 'a b', disks: [], nics: [] }, /'a b' is no name/],
])('%s %s with %j is refused', async (method, url, body, text) => {
  const { status, json } = await ask(method, url, { body })
  expect([status, json['detail']]).toEqual([400, expect.stringMatching(text)])
})

test('a key makes a request happen once, and stands for its address too', async () => {
  const headers = ['Idempotency-Key: start']
  const once = await ask('POST', '/3/instances/vm1/startup', { headers })
  const again = await ask('POST', '/3/instances/vm1/startup', { headers })
  expect([again.status, again.json, again.headers['idempotent-replayed']]).toEqual([202, once.json, 'true'])
  expect((await ask('POST', '/3/instances/vm2/startup', { headers })).status).toBe(422)
})

test('If-Match refuses what has changed', async () => {
  const name = await first('instances')
  const { headers } = await ask('GET', `/3/instances/${name}`)
  const started = (etag: string | undefined) =>
    ask('POST', `/3/instances/${name}/startup`, { headers: [`If-Match: ${etag}`] })
  expect((await started(headers['etag'])).status).toBe(202)
  expect((await started(headers['etag']?.replace(/\d+"$/, '99999"'))).status).toBe(412)
})

test('the plan of a request is the one of its opcode', async () => {
  const request = { method: 'POST', path: '/3/cluster/tags', body: { tags: ['planned'] } }
  const requested = await ask('POST', '/3/plans', { body: { request } })
  const { status, json } = await ask('POST', '/3/plans', {
    body: { ops: [{ OP_ID: 'OP_TAGS_SET', kind: 'cluster', name: null, tags: ['planned'] }] },
  })
  expect([requested.status, requested.json['detail']]).toEqual([status, json['detail']])
  for (const wrong of [{ request, ops: [] }, { request: { method: 'GET', path: '/3/nodes' } }, { request: 'x' }])
    expect((await ask('POST', '/3/plans', { body: wrong })).status).toBe(400)
})

test('a change of an operating system can name its plan', async () => {
  const request = { method: 'PATCH', path: '/3/os/debian%2012', body: { hidden: true } }
  const { status, json } = await ask('POST', '/3/plans', { body: { request } })
  expect([status, json]).toMatchObject([200, { id: expect.any(String) }])
  const planned = await ask('PATCH', `${request.path}?plan=${String(json['id'])}`, { body: request.body })
  expect(planned.status).toBe(202)
  expect((await ask('PATCH', `${request.path}?plan=gone`, { body: request.body })).status).toBe(412)
})

describe('Prefer', () => {
  const delay = (duration: number) => ({ ops: [{ OP_ID: 'OP_TEST_DELAY', duration, on_master: false, on_nodes: [] }] })

  test('wait answers with the job once it has ended', async () => {
    const { status, headers, json } = await ask('POST', '/3/jobs', { body: delay(0), headers: ['Prefer: wait=60'] })
    expect([status, headers['location']]).toEqual([200, `/3/jobs/${String(json['id'])}`])
    expect(json).toEqual((await ask('GET', `/3/jobs/${String(json['id'])}`)).json)
    expect(json['status']).toBe('success')
  })

  test('wait answers with the number of a job that takes longer', async () => {
    const { status, json } = await ask('POST', '/3/instances/vm1/startup', { headers: ['Prefer: wait=1'] })
    expect([status, json]).toEqual([202, { id: expect.any(Number) }])
  })
})

describe('a job', () => {
  test('that has ended cannot be cancelled: the answer says how it ended and where it goes', async () => {
    const body = { ops: [{ OP_ID: 'OP_TEST_DELAY', duration: 0, on_master: false, on_nodes: [] }] }
    const { json: job } = await ask('POST', '/3/jobs', { body, headers: ['Prefer: wait=60'] })
    const url = `/3/jobs/${String(job['id'])}`
    const { json } = await ask('DELETE', url)
    expect(json['cancelled']).toBe(false)
    expect(json['message']).toMatch(/has ended with status success, so nothing .* gnt job archive/)
    expect((await ask('PATCH', url, { body: { priority: -5 } })).json).toMatchObject({ done: false })
    expect((await ask('POST', `${url}/archive`)).json).toMatchObject({ done: true })
    expect((await ask('POST', `${url}/archive`)).json).toMatchObject({ done: false })
    expect((await ask('GET', url)).json).toMatchObject({ status: 'success', archived: true })
  })

  test('that waits gets another priority, and is not archived', async () => {
    const { json: job } = await ask('POST', '/3/instances/vm1/startup')
    const url = `/3/jobs/${String(job['id'])}`
    expect((await ask('PATCH', url, { body: { priority: -5 } })).json).toMatchObject({ done: true })
    expect((await ask('GET', url)).json).toMatchObject({ status: 'queued', priority: -5 })
    expect((await ask('PATCH', url, { body: { priority: 20 } })).status).toBe(400)
    expect((await ask('POST', `${url}/archive`)).json).toMatchObject({ done: false })
    const as = basic('reader', 'foo555')
    const refused = [
      await ask('POST', `${url}/archive`, { as }),
      await ask('PATCH', url, { body: { priority: 1 }, as }),
    ]
    expect(refused.map(({ json }) => json['detail'])).toEqual([
      'this needs the permission jobs.archive',
      'this needs the permission jobs.change_priority',
    ])
  })
})

test('rules are made, replaced and removed', async () => {
  const made = await ask('POST', '/3/filters', { body: { priority: 7, action: 'ACCEPT' } })
  const url = `/3/filters/${String(made.json['uuid'])}`
  expect([made.status, made.headers['location']]).toEqual([201, url])
  expect((await ask('PUT', url, { body: { priority: 8, action: 'ACCEPT', reason: 'why not' } })).status).toBe(200)
  expect((await ask('GET', url)).json).toMatchObject({ priority: 8, action: 'ACCEPT' })
  expect((await ask('PUT', url, { body: { nope: 1 } })).status).toBe(400)
  const login = `Authorization: ${basic('admin', 'secret')}`
  const removed = await master.harness.raw(`DELETE ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${login}\r\n\r\n`)
  expect(removed.status).toBe(204)
  expect((await ask('GET', url)).status).toBe(404)
})

test('a user who may change rules, and not make them, makes none with an id of its own choice', async () => {
  const { json } = await ask('POST', '/3/tokens', { body: { name: 'ruler', permissions: ['filter.modify'] } })
  const as = `Bearer ${String(json['secret'])}`
  const body = { priority: 1, action: 'REJECT' }
  const made = await ask('PUT', '/3/filters/6579ba41-4950-4722-b2a1-7f1efa659aad', { body, as })
  expect([made.status, made.json['detail']]).toEqual([
    403,
    'this needs the permission filter.create, which the token does not have',
  ])
})
