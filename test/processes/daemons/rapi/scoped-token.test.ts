// A token with a scope, in the hands of somebody who wants to know more than it shows. In the recorded cluster, the tag `web` is that of
// inst2 alone, which runs on node2 of the group default and is in the network net1.
import { routes } from '../../../../src/generated/rapi-routes'
import { goldenConfig } from '../../../support/golden-query'
import { RealMaster } from './real-master'

const config = goldenConfig()
const hidden = {
  instance: Object.values(config.instances).find(({ name }) => name === 'inst1.gnt.example'),
  node: Object.values(config.nodes).find(({ name }) => name === 'node3.gnt.example'),
  group: Object.values(config.nodegroups).find(({ name }) => name === 'rack2'),
  network: Object.values(config.networks).find(({ name }) => name === 'net2'),
}

/** Nobody's. */
const UUID = '00000000-0000-4000-8000-000000000000'

let master: RealMaster

beforeAll(async () => {
  master = await RealMaster.start()
})

afterAll(() => master.stop())

type Json = Record<string, unknown>

const ask: RealMaster['ask'] = (...request) => master.ask(...request)

async function tokenFor(desired: object): Promise<{ id: string; as: string }> {
  const body = { name: 'test', permissions: ['*'], ...desired }
  const { json } = await ask('POST', '/3/tokens', { body })
  return { id: (json['token'] as { id: string }).id, as: `Bearer ${String(json['secret'])}` }
}

const web = () => tokenFor({ tags: ['web'] })
const items = (json: Json): Json[] => json['items'] as Json[]
const submit = (as: string, op: object, headers: string[] = []) =>
  ask('POST', '/3/jobs', { body: { ops: [op] }, as, headers })
const startup = (name: unknown) => ({ OP_ID: 'OP_INSTANCE_STARTUP', instance_name: name })

describe('what it reads', () => {
  test('names only what belongs to its scope, whatever field is asked for', async () => {
    const { as } = await web()
    const fields: Record<string, string> = {
      instances: 'name,pnode,snodes,pnode.group,nic.networks',
      nodes: 'name,pinst_list,sinst_list',
      groups: 'name,node_list,pinst_list,pinst_cnt',
      networks: 'name,inst_list,group_list',
      os: 'name,node_status',
      ...{ locks: 'name,owner', filters: 'uuid' },
    }
    for (const [kind, names] of Object.entries(fields)) {
      const { status, text } = await ask('GET', `/3/${kind}?fields=${names}`, { as })
      expect([kind, status]).toEqual([kind, 200])
      expect(text).not.toMatch(/inst[1345]|node[134]|rack2|net2/)
    }
    expect((await ask('GET', '/3/jobs?include=input,log,result', { as })).text).not.toMatch(/inst[1345]|node[134]/)
    expect((await ask('GET', '/3/cluster', { as })).text).not.toMatch(/node[134]\./)
    expect((await ask('GET', '/3/monitoring', { as })).status).toBe(403)
    const metrics = await master.harness.raw(
      `GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${as}\r\n\r\n`,
    )
    expect(metrics.status).toBe(200)
    expect(metrics.body).toContain('inst2.gnt.example')
    expect(metrics.body).not.toMatch(/inst[1345]|node[134]\./)
    // The figures of daemons are about everybody's work.
    expect(metrics.body).not.toMatch(/gantry_(http|master_call|node_call|watcher|wconfd|lock)/)
  })

  test('tells of operating systems on the nodes that it knows', async () => {
    const { as } = await web()
    const { json } = await ask('GET', '/3/os?fields=name,node_status', { as })
    const nodes = items(json).flatMap(({ node_status }) => Object.keys(Object(node_status)))
    expect([...new Set(nodes)]).toEqual(['node2.gnt.example'])
  })

  test('does not let a filter look at what is hidden', async () => {
    const { as } = await tokenFor({ tags: ['g:default'] })
    const named = async (text: string) =>
      items((await ask('GET', `/3/groups?fields=name&filter=${encodeURIComponent(text)}`, { as })).json)
    expect(await named('["=[]", "pinst_list", "inst1.gnt.example"]')).toEqual([])
    expect(await named('[">", "pinst_cnt", 0]')).toEqual([])
    expect(await named('["==", "name", "default"]')).toEqual([{ name: 'default' }])
  })

  test.each(['instance', 'node', 'group', 'network'] as const)(
    'a hidden %s and one that is not there are the same',
    async (kind) => {
      const { as } = await web()
      const [there, gone] = [hidden[kind]?.name, 'nobody.gnt.example']
      for (const url of [`/3/${kind}s/`]) {
        const [one, other] = await Promise.all([there, gone].map((name) => ask('GET', `${url}${name}`, { as })))
        expect([one?.status, one?.text.replaceAll(String(there), gone)]).toEqual([404, other?.text])
      }
    },
  )
})

describe('what it submits', () => {
  const create = (more: object) => ({
    ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'new.gnt.example', mode: 'create', os_type: 'noop' },
    ...{ disk_template: 'diskless', disks: [], nics: [], tags: ['web'], pnode: 'node2.gnt.example', ...more },
  })
  const refusals: [string, (name: unknown, uuid: unknown) => object, keyof typeof hidden][] = [
    ['an instance', (name) => startup(name), 'instance'],
    ['an instance by uuid', (_, uuid) => ({ ...startup('inst2.gnt.example'), instance_uuid: uuid }), 'instance'],
    ['a node of a new instance', (name) => create({ pnode: name }), 'node'],
    ['a second node of a new instance', (name) => create({ snode: name }), 'node'],
    ['a group of a new instance', (name) => create({ pnode: null, group_name: name }), 'group'],
    ['a network of a new instance', (name) => create({ nics: [{ network: name }] }), 'network'],
    [
      'a network of an instance',
      (name) => ({
        ...startup('inst2.gnt.example'),
        ...{ OP_ID: 'OP_INSTANCE_SET_PARAMS', nics: [['modify', 0, { network: name }]] },
      }),
      'network',
    ],
    [
      'a group for its instance',
      (name) => ({ ...startup('inst2'), OP_ID: 'OP_INSTANCE_CHANGE_GROUP', target_groups: [name] }),
      'group',
    ],
    [
      'a group of a node that is added again',
      (name) => ({ OP_ID: 'OP_NODE_ADD', node_name: 'node2.gnt.example', group: name }),
      'group',
    ],
  ]

  test.each(refusals)('%s that is hidden, and one that is not there, are refused alike', async (_, op, kind) => {
    const { as } = await web()
    for (const path of ['/3/jobs', '/3/plans']) {
      const object = hidden[kind]
      const ask1 = (name: unknown, uuid: unknown) => ask('POST', path, { body: { ops: [op(name, uuid)] }, as })
      const there = await ask1(object?.name, object?.uuid)
      const gone = await ask1('nobody.gnt.example', UUID)
      expect([there.status, there.text]).toEqual([403, gone.text])
    }
  })

  test('the networks and nodes that it knows can be used for a new instance', async () => {
    const { as } = await web()
    const { status } = await submit(as, create({ nics: [{ network: 'net1' }] }))
    expect(status).toBe(202)
  })

  test('no parameter that is a matter of machines, in a job as little as in a plan or with a verb', async () => {
    const { as } = await web()
    const hvparams = { kvm_path: '/tmp/mine' }
    const op = { ...startup('inst2.gnt.example'), OP_ID: 'OP_INSTANCE_SET_PARAMS', hvparams }
    const refusals = [
      await submit(as, op),
      await ask('POST', '/3/plans', { body: { ops: [op] }, as }),
      await ask('PATCH', '/3/instances/inst2.gnt.example', { body: { hvparams }, as }),
      await ask('POST', '/3/instances/inst2.gnt.example/startup', { body: { hvparams }, as }),
      await submit(as, create({ hvparams })),
    ]
    for (const { status, json } of refusals)
      expect([status, json['detail']]).toEqual([403, expect.stringContaining('may not set hvparams.kvm_path')])
  })

  test('an If-Match for what is hidden tells neither that it is there nor its serial number', async () => {
    const { as } = await web()
    const match = async (uuid = '', serial = 0) => {
      const { status, json } = await submit(as, startup('inst2.gnt.example'), [`If-Match: "node/${uuid}/${serial}"`])
      return [status, String(json['detail']).replace(uuid, 'UUID')]
    }
    const gone = await match(UUID, 1)
    expect(gone).toEqual([412, 'The cluster has changed: node UUID is gone'])
    expect(await match(hidden.node?.uuid, 99)).toEqual(gone)
    expect(await match(hidden.node?.uuid, hidden.node?.serial_no)).toEqual(gone)
  })

  test('cannot wait for the jobs of others', async () => {
    const delay = { OP_ID: 'OP_TEST_DELAY', duration: 0, on_master: false, on_nodes: [] }
    const other = (await ask('POST', '/3/jobs', { body: { ops: [delay] } })).json['id']
    const { as } = await web()
    const after = (job: unknown) => submit(as, { ...startup('inst2.gnt.example'), depends: [[job, []]] })
    expect((await after(other)).status).toBe(403)
    expect((await after(-1)).status).toBe(403)
    const own = (await submit(as, startup('inst2.gnt.example'))).json['id']
    expect((await after(own)).status).toBe(202)
    expect((await ask('DELETE', `/3/jobs/${String(other)}`, { as })).status).toBe(404)
  })

  test('is shown no request to an allocator, which holds the whole cluster', async () => {
    const { as } = await web()
    const op = { OP_ID: 'OP_TEST_ALLOCATOR', direction: 'in', mode: 'change-group', iallocator: 'hail', name: 'x' }
    expect((await submit(as, { ...op, instances: ['inst2.gnt.example'] })).status).toBe(403)
  })
})

describe('other tokens', () => {
  const ids = async (as: string) => items((await ask('GET', '/3/tokens', { as })).json).map(({ id }) => id)

  test('are seen and revoked only as far as they are no wider', async () => {
    const me = await tokenFor({ tags: ['web'], permissions: ['tokens.*', 'instances.*'] })
    const narrower = await tokenFor({ tags: ['web'], permissions: ['instances.startup'] })
    const wider = [
      await tokenFor({ tags: ['web'] }),
      await tokenFor({ tags: ['web', 'ssd'], permissions: ['instances.*'] }),
      await tokenFor({ groups: ['default'], permissions: ['instances.*'] }),
      await tokenFor({ permissions: ['instances.query'] }),
    ]
    const observed = await ids(me.as)
    expect(observed).toEqual(expect.arrayContaining([me.id, narrower.id]))
    for (const { id, as } of wider) {
      expect(observed).not.toContain(id)
      const refusal = await ask('DELETE', `/3/tokens/${id}`, { as: me.as })
      const none = await ask('DELETE', '/3/tokens/0011223344556677', { as: me.as })
      expect([refusal.status, refusal.text.replace(id, '0011223344556677')]).toEqual([404, none.text])
      expect((await ask('GET', '/3/instances', { as })).status).toBe(200)
    }
    const revoke = (id: string) =>
      master.harness.raw(
        `DELETE /3/tokens/${id} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${me.as}\r\n\r\n`,
      )
    expect((await revoke(narrower.id)).status).toBe(204)
    expect((await revoke(me.id)).status).toBe(204)
    expect((await ask('GET', '/3/tokens', { as: me.as })).status).toBe(401)
  })

  test('cannot be made with a token, narrower ones neither', async () => {
    const { as } = await web()
    const body = { name: 'x', permissions: ['instances.query'], tags: ['web'] }
    expect((await ask('POST', '/3/tokens', { body, as })).status).toBe(403)
  })
})

test('nothing of /2 takes a token', async () => {
  const { as } = await web()
  const old = routes.filter(({ path }) => path.startsWith('/2'))
  expect(old.length).toBeGreaterThan(50)
  for (const { verb, path } of old) {
    const { status } = await master.harness.ask(
      verb.toUpperCase(),
      path.replace(':uuid', UUID).replaceAll(/:\w+/g, '1'),
      {
        as,
      },
    )
    expect([verb, path, status]).toEqual([verb, path, 401])
  }
})
