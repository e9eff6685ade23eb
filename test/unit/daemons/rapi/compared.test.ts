// Answers of a real 3.0.2 that were compared with ours by hand, because no recording covers them.
import { links, nameLinks } from '../../../../src/daemons/rapi/controllers/resource'
import type { Master } from '../../../../src/rpc/luxi/master'
import { basic, Harness, RecordedMaster } from './harness'

const master = new RecordedMaster()
let harness: Harness
beforeAll(async () => {
  harness = await Harness.start(master as unknown as Master, { requireAuthentication: true })
})
afterAll(() => harness.stop())

const admin = basic('admin', 'secret')
const stranger = basic('admin', 'wrong')

test.each([
  ['POST', '/2/info?bulk=1', undefined, 501, 'Method POST is unsupported for path /2/info?bulk=1'],
  ['POST', '/2/info?a=b&a=c', undefined, 501, 'Method POST is unsupported for path /2/info?a=b&amp;a=c'],
  ['POST', '/2/filters', undefined, 400, 'Invalid body contents, not a dictionary'],
  ['POST', '/2/filters', '[]', 400, 'Invalid body contents, not a dictionary'],
  ['POST', '/2/instances/vm/reinstall', '"x"', 400, 'Invalid body contents, not a dictionary'],
  ['POST', '/2/instances-multi-alloc', '[]', 400, 'Request is missing required &#x27;instances&#x27; field in body'],
  ['POST', '/2/instances-multi-alloc', '"x"', 400, 'Request is missing required &#x27;instances&#x27; field in body'],
  ['POST', '/2/groups', '{"comment": 1}', 400, wrong('OP_GROUP_ADD.group_name')],
  ['POST', '/2/groups', '{"comment": 1, "group_name": "a"}', 400, wrong('OP_GROUP_ADD.comment')],
  ['PUT', '/2/groups/a/rename', '{"comment": true}', 400, wrong('OP_GROUP_RENAME.new_name')],
])('%s %s with %s: %d %s', async (method, path, body, status, message) => {
  const answer = await harness.ask(method, path, body === undefined ? {} : { body })
  expect([answer.status, JSON.parse(answer.body).message]).toEqual([status, message])
})

function wrong(parameter: string): string {
  return `Invalid body parameters: (&quot;Parameter &#x27;${parameter}&#x27; fails validation&quot;, &#x27;wrong_input&#x27;)`
}

test('an empty body leaves a reinstallation its parameters in the address', async () => {
  const answer = await harness.ask('POST', '/2/instances/vm/reinstall?os=noop&nostartup=1', { body: '{}' })
  expect(answer.status).toBe(200)
  expect(master.submitted.at(-1)?.map(({ OP_ID }) => OP_ID)).toEqual(['OP_INSTANCE_SHUTDOWN', 'OP_INSTANCE_REINSTALL'])
})

test('settings of the cluster need a body', async () => {
  const before = master.submitted.length
  expect((await harness.ask('PUT', '/2/modify')).status).toBe(400)
  expect(master.submitted.length).toBe(before)
})

test.each([
  ['GET', '/2/nosuch', stranger, 404],
  ['POST', '/2/info', stranger, 501],
  ['GET', '/2/info', stranger, 401],
  ['GET', '/2/nosuch', admin, 404],
])('%s %s as %s is %d', async (method, path, as, status) => {
  expect((await harness.ask(method, path, { as })).status).toBe(status)
})

test('a node has the older name of its secondary address when it is asked for alone', async () => {
  const [first] = JSON.parse((await harness.ask('GET', '/2/nodes?bulk=1')).body)
  expect([first.sip, first.secondary_ip]).toEqual(['198.51.100.11', undefined])
  expect(JSON.parse((await harness.ask('GET', '/2/nodes/node1.gnt.example')).body).secondary_ip).toBe('198.51.100.11')
})

test('names in short lists are in plain order', () => {
  const rows = ['net10', 'net9', 'n 3', 'Net1'].map((name) => [name])
  expect(nameLinks(rows, '/2/networks').map(({ name }) => name)).toEqual(['Net1', 'n 3', 'net10', 'net9'])
  expect(links(rows, '/2/nodes').at(-1)).toEqual({ id: 'net9', uri: '/2/nodes/net9' })
})
