// The answers are those of Ganeti's confd 3.0.2, which was asked the same about the same configuration.
import { place } from '../../../../src/config/edit'
import { silentLog } from '../../../../src/lib/log'
import { systemClock } from '../../../../src/lib/clock'
import { type Confd, startConfd } from '../../../../src/daemons/confd/server'
import { sha1Hmac } from '../../../../src/lib/hmac'
import type { ConfigData } from '../../../../src/model/config'
import { diskUuid, instanceUuid, nodeUuid } from '../../../../src/model/ids'
import { CONFD_ANSWER_BYTES_MAX, CONFD_QUESTION_BYTES_MAX } from '../../../../src/model/limits/confd'
import { ConfdAsker, messageOf, signed } from '../../../support/confd-asker'
import { goldenConfig } from '../../../support/golden-query'
import { id } from '../../config/builders'

const KEY = 'a key with its line end\n'
const PING = { protocol: 1, type: 0, query: null, rsalt: 'salt' }

let config: ConfigData | undefined
/** The keys for the next datagrams. */
let keys: string[] = []
let away_ms = 0
/** Those in gantry.data. */
let sections: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {}
let confd: Confd
let asker: ConfdAsker
let other: ConfdAsker

beforeAll(async () => {
  const clock = { ...systemClock, now_ms: () => systemClock.now_ms() + away_ms }
  confd = await startConfd({
    ...{ address: '127.0.0.1', port: 0, clock, log: silentLog, key: () => keys.shift() ?? KEY, config: () => config },
    gantry: () => ({ sections }),
  })
  asker = new ConfdAsker(KEY, '127.0.0.1', confd.port)
  other = new ConfdAsker(KEY, '127.0.0.1', confd.port)
})
beforeEach(() => {
  config = goldenConfig()
})
afterAll(async () => {
  asker.close()
  other.close()
  await confd.close()
})

const CLUSTER = goldenConfig().cluster.serial_no
const ok = (answer: unknown, serial = CLUSTER) => ({ protocol: 1, status: 0, answer, serial })
const failed = (answer: unknown) => ({ protocol: 1, status: 1, answer, serial: 0 })
const notFound = (what: string) => failed(`${what} ECodeNoEnt`)
const DICT = 'DictQuery (ConfdReqQ {confdReqQIp = Nothing, confdReqQIpList = [], confdReqQLink = Nothing, '

test.each<[what: string, type: number, query: unknown, answer: unknown]>([
  ['ping tells the version', 0, undefined, ok(goldenConfig().version, 0)],
  ['ping looks at no query', 0, 'x', ok(goldenConfig().version, 0)],
  ['the master', 1, 'node1.gnt.example', ok(0)],
  ['a candidate, by its uuid', 1, '6579ba41-4950-4722-b2a1-7f1efa659aad', ok(1)],
  ['a node by the first parts of its name', 1, 'node2.gnt', ok(1)],
  [
    'names are told from others by upper and lower case',
    ...([1, 'NODE2'] as const),
    failed(
      'Failure: prerequisites not met for this operation:\nerror type: ECodeNoEnt, error details:\nNode name NODE2 not found',
    ),
  ],
  ['a role of nobody', 1, null, failed('Invalid query type EmptyQuery')],
  ['a role of a selection', 1, {}, failed(`Invalid query type ${DICT}confdReqQFields = []})`)],
  [
    'fields by their names',
    1,
    { '3': [0, 1, 2] },
    failed(`Invalid query type ${DICT}confdReqQFields = [ReqFieldName,ReqFieldIp,ReqFieldMNodePip]})`),
  ],
  [
    'texts as Haskell shows them',
    ...([7, { '0': '\u00e9\u26039', '1': 'b', '2': ['c"'] }] as const),
    failed(
      'Invalid query type DictQuery (ConfdReqQ {confdReqQIp = Just "b", confdReqQIpList = ["c\\""], ' +
        'confdReqQLink = Just "\\233\\9731\\&9", confdReqQFields = []})',
    ),
  ],
  ['the node of an instance on the default link', 2, { '1': '10.99.0.2' }, ok('198.51.100.12')],
  ['null is nothing', 2, { '0': null, '1': '10.99.0.2', '2': null, '3': null }, ok('198.51.100.12')],
  ['the node of an instance on another link', 2, { '0': '100', '1': '10.1.2.3' }, ok('198.51.100.13')],
  ['an address on a link that nobody has', 2, { '0': 'nosuch', '1': '10.99.0.2' }, failed(0)],
  ['one address counts more than a list', 2, { '1': '1.2.3.4', '2': ['10.99.0.2'] }, failed(0)],
  [
    'a list of addresses',
    ...([2, { '2': ['10.99.0.2', '1.2.3.4'] }] as const),
    ok([
      [0, '198.51.100.12', CLUSTER],
      [1, 0, 0],
    ]),
  ],
  ['no address at all', 2, {}, ok([])],
  ['an address without a selection', 2, '10.99.0.2', failed(2)],
  ['the name of the master', 3, undefined, ok('node1.gnt.example')],
  [
    'all about the master',
    3,
    { '3': [2, 0, 1, 2] },
    ok(['198.51.100.11', 'node1.gnt.example', '198.51.100.1', '198.51.100.11']),
  ],
  ["fields as Ganeti's confd-client writes them", 3, { '3': ['0', '1'] }, ok(['node1.gnt.example', '198.51.100.1'])],
  ['nothing about the master', 3, { '0': 'x' }, ok([])],
  ['a text about the master', 3, 'x', failed(2)],
  ['addresses of nodes', 4, 'x', ok(['198.51.100.13', '198.51.100.11', '198.51.100.14', '198.51.100.12'])],
  ['addresses of candidates', 5, {}, ok(['198.51.100.13', '198.51.100.11', '198.51.100.14', '198.51.100.12'])],
  ['addresses of instances on the default link', 6, undefined, ok(['10.99.0.2', '10.99.0.50'])],
  ['addresses of instances on no link', 6, '', ok([])],
  ['addresses of instances of a selection', 6, {}, failed('Invalid query type')],
  ['minors of a node without any', 7, 'node1', ok([], 3)],
  ['minors of nobody', 7, 'nosuch', notFound('OpPrereqError "Node name nosuch not found"')],
  [
    'instances of nobody',
    8,
    'nosuch',
    notFound('Node not found in the configuration: OpPrereqError "Node name nosuch not found"'),
  ],
  ['instances of a node without any', 8, 'node4', ok([[], []], 18)],
  ['disks of an instance without any', 9, 'inst1', ok([], 5)],
  [
    'disks of nobody',
    9,
    'nosuch',
    notFound('Instance not found in the configuration: OpPrereqError "Instance name nosuch not found"'),
  ],
  ['a value of the configuration', 10, '/cluster/cluster_name', ok('cluster.gnt.example')],
  ['an entry of a list', 10, '/cluster/enabled_hypervisors/01', ok('kvm')],
  ['an entry that is not in the list', 10, '/cluster/enabled_hypervisors/2', failed(2)],
  ['a sign is no part of a place in a list', 10, '/cluster/enabled_hypervisors/-1', failed(2)],
  ['below a text there is nothing', 10, '/cluster/cluster_name/0', failed(2)],
  ['what all objects have is not in the configuration', 10, '/instances/__proto__', failed(2)],
  ['a pointer with a wrong mark', 10, '/cluster/a~2', failed(2)],
  ['the whole configuration', 10, '', failed(2)],
  ['a pointer to nobody', 10, null, failed('Invalid query type EmptyQuery')],
])('%s', async (_, type, query, answer) => {
  expect(await asker.ask(type, query)).toEqual(answer)
})

test('instances and disks are told whole, collectors in their order', async () => {
  const { instances, disks, nodes, cluster } = goldenConfig()
  const named = (name: string) => Object.values(instances).find((one) => one.name === `${name}.gnt.example`)
  expect(await asker.ask(8, 'node2')).toEqual(ok([[named('inst2'), named('inst1')], []], 6))
  expect(await asker.ask(9, 'inst3')).toEqual(
    ok(
      named('inst3')?.disks.map((uuid) => disks[uuid]),
      4,
    ),
  )
  expect(await asker.ask(10, '/nodes')).toEqual(ok(nodes))
  expect(await asker.ask(11)).toEqual(
    ok({ ...cluster.data_collectors, 'inst-status-xen': { active: false, interval: 5000000 } }),
  )
})

test('private OS parameters and the secrets of mirrors are in no answer, by whatever question', async () => {
  const before = goldenConfig()
  const instance = Object.values(before.instances).find(({ name }) => name === 'inst2.gnt.example')
  const disk = before.disks[instance?.disks[0] ?? '']
  if (!instance || !disk) throw new Error('not in the recorded state')
  const osparams_private = { banner: 'banana' }
  const logical_id = [instance.primary_node, instance.primary_node, 11000, 0, 3, 'banana']
  const cluster = { ...before.cluster, osparams_private_cluster: { noop: { key: 'banana' } } }
  config = place({ ...before, cluster }, 'instances', instance.uuid, { ...instance, osparams_private })
  config = place(config, 'disks', disk.uuid, { ...disk, dev_type: 'drbd', logical_id })
  const pointers = [
    ...[
      '/cluster',
      '/cluster/osparams_private_cluster',
      '/cluster/osparams_private_cluster/noop/key',
      '/instances',
      '/disks',
    ],
    ...['', '/osparams_private', '/osparams_private/banner'].map((end) => `/instances/${instance.uuid}${end}`),
    ...['', '/logical_id', '/logical_id/5'].map((end) => `/disks/${disk.uuid}${end}`),
  ]
  const answers = [await asker.ask(8, 'node2'), await asker.ask(9, 'inst2')]
  for (const pointer of pointers) answers.push(await asker.ask(10, pointer))
  expect(JSON.stringify(answers)).not.toContain('banana')
  // What Ganeti's programs read is there.
  expect(answers[0]).toMatchObject({ answer: [expect.arrayContaining([{ ...instance, osparams_private: {} }]), []] })
  expect(answers[1]).toMatchObject({
    answer: [{ ...disk, dev_type: 'drbd', logical_id: [...logical_id.slice(0, 5), ''] }, {}],
  })
})

test('mirrored disks are told to both of their nodes', async () => {
  const before = goldenConfig()
  const [one, two] = ['node2', 'node3'].map((name) =>
    Object.values(before.nodes).find((node) => node.name.startsWith(name)),
  )
  const inst2 = Object.values(before.instances).find(({ name }) => name === 'inst2.gnt.example')
  const disk = before.disks[inst2?.disks[1] ?? '']
  if (!one || !two || !disk) throw new Error('not in the recorded state')
  config = place(before, 'disks', disk.uuid, {
    ...{ ...disk, dev_type: 'drbd', logical_id: [one.uuid, two.uuid, 11000, 0, 3, 'secret'] },
  })
  expect(await asker.ask(7, 'node2')).toEqual(
    ok([[one.name, 0, 'inst2.gnt.example', 'disk/1', 'primary', two.name]], one.serial_no),
  )
  expect(await asker.ask(7, 'node3')).toEqual(
    ok([[two.name, 3, 'inst2.gnt.example', 'disk/1', 'secondary', one.name]], two.serial_no),
  )
  expect(await asker.ask(8, 'node3')).toMatchObject({ answer: [{}, [{ name: 'inst2.gnt.example' }]] })
})

test('roles, names that fit several objects, addresses that two instances have, and disks that are gone', async () => {
  const before = goldenConfig()
  const node4 = Object.values(before.nodes).find(({ name }) => name.startsWith('node4'))
  const inst5 = Object.values(before.instances).find(({ name }) => name.startsWith('inst5'))
  if (!node4 || !inst5) throw new Error('not in the recorded state')
  const nodes = [
    { name: 'twin.a', offline: true, drained: true },
    { name: 'twin.b', offline: true },
    { name: 'odd.x', master_candidate: false },
    { name: 'odd' },
  ].map((fields, n) => ({ ...node4, ...fields, uuid: nodeUuid(id(n)) }))
  const instances = ['twin.a', 'twin.b'].map((name, n) => ({
    ...{ ...inst5, name, uuid: instanceUuid(id(n)), primary_node: nodes[n]?.uuid ?? node4.uuid },
    ...{ disks: [diskUuid('nosuchdisk')], nics: inst5.nics.map((nic) => ({ ...nic, ip: '10.99.0.99' })) },
  }))
  config = nodes.reduce((now, node) => place(now, 'nodes', node.uuid, node), before)
  config = instances.reduce((now, one) => place(now, 'instances', one.uuid, one), config)
  const roles: unknown[] = []
  for (const name of ['twin.a', 'twin.b', 'odd.x', 'odd']) roles.push(await asker.ask(1, name))
  expect(roles).toEqual([ok(3), ok(2), ok(4), ok(1)])
  expect(await asker.ask(7, 'twin')).toEqual(notFound('OpPrereqError "Node name twin has multiple matches"'))
  expect(await asker.ask(9, 'twin.b')).toEqual(
    notFound('Could not retrieve disks: OpPrereqError "Disk uuid nosuchdisk not found"'),
  )
  config = place(config, 'nodes', id(1), { ...node4, name: 'twin.b', uuid: nodeUuid(id(1)), primary_ip: '192.0.2.77' })
  expect(await asker.ask(2, { '0': 'xen-br0', '1': '10.99.0.99' })).toEqual(ok('192.0.2.77'))
})

test('an answer follows the configuration, and says so when there is none', async () => {
  expect(await asker.ask(3)).toEqual(ok('node1.gnt.example'))
  const { cluster, ...rest } = goldenConfig()
  config = { ...rest, cluster: { ...cluster, cluster_name: 'other', serial_no: 4711 } }
  expect(await asker.ask(10, '/cluster/cluster_name')).toEqual(ok('other', 4711))
  config = undefined
  expect(await asker.ask(10, '/cluster/cluster_name')).toEqual(failed('Cannot load configuration'))
})

test('an answer that no datagram has room for is refused with its size', async () => {
  const { cluster, ...rest } = goldenConfig()
  config = { ...rest, cluster: { ...cluster, tags: ['x'.repeat(CONFD_ANSWER_BYTES_MAX)] } }
  expect(await asker.ask(10, '/cluster/tags')).toMatchObject({ status: 1, answer: /ask for a part of it/, serial: 0 })
})

const envelope = (text: string) => JSON.parse(text.slice(4)) as Record<string, unknown>
const changed = (fields: object) => `plj0${JSON.stringify({ ...envelope(signed(KEY, PING)), ...fields })}`

test.each<[what: string, datagram: () => string | Buffer]>([
  ['nothing', () => ''],
  ['the magic alone', () => 'plj0'],
  ['another magic', () => signed(KEY, PING, 0, 'plj1')],
  ['no JSON', () => 'plj0hello'],
  ['JSON of another kind', () => 'plj0[1]'],
  ['bytes that are no text', () => Buffer.from([0x70, 0x6c, 0x6a, 0x30, 0xff, 0xfe, 0])],
  ['something behind the end', () => `${signed(KEY, PING)}x`],
  ['another key', () => signed('other', PING)],
  ['no key', () => signed('', PING)],
  ['a signature cut short', () => changed({ hmac: String(envelope(signed(KEY, PING))['hmac']).slice(0, 39) })],
  ['another text than was signed', () => changed({ msg: JSON.stringify({ ...PING, type: 3 }) })],
  ['another time than was signed', () => changed({ salt: String(Math.floor(Date.now() / 1000) - 1) })],
  ['one thing more in the envelope', () => changed({ more: 1 })],
  ['a question of the past', () => signed(KEY, PING, -320)],
  ['a question of the future', () => signed(KEY, PING, 320)],
  ['an unknown kind of question', () => signed(KEY, { ...PING, type: 12 })],
  ['a kind that is a text', () => signed(KEY, { ...PING, type: 'ping' })],
  ['a kind that is missing', () => signed(KEY, { protocol: 1, rsalt: 'salt' })],
  ['a protocol that is a text', () => signed(KEY, { ...PING, protocol: '1' })],
  ['no salt for the answer', () => signed(KEY, { protocol: 1, type: 0 })],
  ['a salt that is no text', () => signed(KEY, { ...PING, rsalt: 5 })],
  ['one thing more in the question', () => signed(KEY, { ...PING, foo: 1 })],
  ['a query that is a number', () => signed(KEY, { ...PING, query: 5 })],
  ['a query that is a list', () => signed(KEY, { ...PING, query: [1] })],
  ['an unknown part of a selection', () => signed(KEY, { ...PING, type: 2, query: { '9': 'x' } })],
  ['an address that is a number', () => signed(KEY, { ...PING, type: 2, query: { '1': 1 } })],
  ['a list that is a text', () => signed(KEY, { ...PING, type: 2, query: { '2': 'x' } })],
  ['an unknown field', () => signed(KEY, { ...PING, type: 3, query: { '3': [3] } })],
  ['a message that is not signed JSON', () => signed(KEY, 'hello')],
  [
    'an answer that is sent back',
    () => 'plj0' + JSON.stringify({ msg: '{"protocol":1,"status":0}', salt: '1', hmac: '' }),
  ],
  ['a question that is too long', () => signed(KEY, { ...PING, query: 'x'.repeat(CONFD_QUESTION_BYTES_MAX) })],
])('%s gets no answer', async (_, datagram) => {
  expect(await asker.exchange(datagram())).toEqual([])
})

test('a question is good for five minutes, forwards and backwards, by the clock of the one who answers', async () => {
  expect(await asker.exchange(signed(KEY, PING, -280), signed(KEY, PING, 280))).toHaveLength(2)
  away_ms = 3600 * 1000
  asker.away_s = 3600
  expect(await asker.exchange(signed(KEY, PING))).toEqual([])
  expect(await asker.exchange(signed(KEY, PING, 3600))).toHaveLength(1)
  asker.away_s = away_ms = 0
})

test('an eavesdropper gets no answer to a question, and whoever asked may ask again', async () => {
  const question = signed(KEY, { ...PING, rsalt: 'overheard' })
  expect(await asker.exchange(question)).toHaveLength(1)
  expect(await other.exchange(question)).toEqual([])
  const { hmac } = envelope(question)
  expect(await other.exchange(question.replace(String(hmac), String(hmac).toUpperCase()))).toEqual([])
  expect(await asker.exchange(question)).toHaveLength(1)
})

test('without a key nobody is answered, and a new key counts at once', async () => {
  keys = ['', '', 'next\n', 'next\n']
  const datagrams = [signed('', PING), signed(KEY, PING), signed('next\n', PING), signed(KEY, PING)]
  const [answer = '', ...more] = await asker.exchange(...datagrams)
  expect(more).toEqual([])
  expect(answer).toContain(
    sha1Hmac('next\n', `{"protocol":1,"status":0,"answer":${config?.version},"serial":0}`, 'salt'),
  )
})

test('an answer is signed with the salt of the question, and looks as from Ganeti', async () => {
  const [answer = ''] = await asker.exchange(signed(KEY, { ...PING, type: 3, rsalt: '"\u00e9' }))
  const msg = `{"protocol":1,"status":0,"answer":"node1.gnt.example","serial":${CLUSTER}}`
  expect(answer).toBe(`plj0${JSON.stringify({ hmac: sha1Hmac(KEY, msg, '"\u00e9'), msg, salt: '"\u00e9' })}`)
  expect(messageOf(answer)).toEqual(ok('node1.gnt.example'))
})

test('a question in the plain form of the design is answered in the same form, if it is authentic', async () => {
  const plain = signed(KEY, { ...PING, type: 3, rsalt: 'plain' }, 0, '')
  const [answer = ''] = await asker.exchange(plain)
  const msg = `{"protocol":1,"status":0,"answer":"node1.gnt.example","serial":${CLUSTER}}`
  expect(answer).toBe(JSON.stringify({ hmac: sha1Hmac(KEY, msg, 'plain'), msg, salt: 'plain' }))
  for (const wrong of [
    signed('other', PING, 0, ''),
    signed(KEY, PING, -320, ''),
    '{',
    '{}',
    ` ${signed(KEY, PING, 0, '')}`,
  ])
    expect(await asker.exchange(wrong)).toEqual([])
  // Neither form hides that a question was overheard.
  expect(await other.exchange(`plj0${plain}`)).toEqual([])
})

test('the program of the self-diagnosis is told, and where there is none no such field is known', async () => {
  const ask = () => asker.ask(10, '/cluster/diagnose_data_collector_filename')
  expect(await ask()).toMatchObject({ status: 1 })
  sections = { maintenance: { diagnose_command: 'check' } }
  config = { ...goldenConfig() }
  expect(await ask()).toMatchObject({ status: 0, answer: 'check' })
  sections = {}
})
