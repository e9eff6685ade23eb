// Queries ask nodes only for what they need, and as few of them as can be.
import type { ConfigData } from '../../../src/model/config'
import { OpPrereqError } from '../../../src/model/errors'
import { classicQuery, classicText, queryFields, queryText, runQuery } from '../../../src/query/engine'
import type { QueryResource } from '../../../src/rpc/luxi/calls'
import type { JsonText } from '../../../src/rpc/long-answers'
import { goldenConfig, goldenSource } from '../../support/golden-query'

const NODE1 = 'node1.gnt.example'
const names = (result: { data: (readonly unknown[])[][] }) => result.data.map((row) => row[0]?.[1])

/** The recorded configuration with fields of one node or instance replaced. */
function changed(kind: 'nodes' | 'instances', name: string, change: object): ConfigData {
  const config = goldenConfig()
  const entries = Object.entries(config[kind]).map(([uuid, object]) => [
    uuid,
    object.name === name ? { ...object, ...change } : object,
  ])
  return { ...config, [kind]: Object.fromEntries(entries) as never }
}

const status = async (source: ReturnType<typeof goldenSource>, name: string) =>
  (await runQuery('instance', ['status', 'oper_ram', 'oper_state'], ['==', 'name', name], source)).data[0]

test('a node without exports has no row, one that did not answer has one that says so', async () => {
  const source = goldenSource()
  const silent = { ok: false, offline: false, error: 'no answer' } as const
  source.live.exports = async (nodes) =>
    new Map(nodes.slice(0, 2).map(({ uuid, name }) => [uuid, name === NODE1 ? { ok: true, payload: [] } : silent]))
  const { data } = await runQuery('export', ['node', 'export'], null, source)
  expect(data).toEqual([[[0, 'node2.gnt.example'], [2, null]]]) // prettier-ignore
})

test('space and spindles of nodes are those of their volume groups, and unknown where a group is missing', async () => {
  const source = goldenSource()
  const unit = (type: string, storage_free: number | null, storage_size: number | null) => ({ type, name: 'xenvg', storage_free, storage_size }) // prettier-ignore
  const groups = new Map([
    [NODE1, [unit('lvm-vg', 3000, 8000), unit('lvm-pv', 3, 8)]],
    ['node2.gnt.example', [unit('lvm-vg', null, null), unit('lvm-pv', 0, 0)]],
  ])
  source.live.nodeInfo = async (_config, nodes) =>
    new Map(nodes.map(({ uuid, name }) => [uuid, { ok: true, payload: ['boot', groups.get(name) ?? null, null] }]))
  const { data } = await runQuery('node', ['name', 'dfree', 'dtotal', 'spfree', 'sptotal'], null, source)
  const cells = new Map(data.map(([name, ...rest]) => [name?.[1], rest]))
  expect(cells.get(NODE1)).toEqual([[0, 3000], [0, 8000], [0, 3], [0, 8]]) // prettier-ignore
  expect(cells.get('node2.gnt.example')).toEqual([[2, null], [2, null], [0, 0], [0, 0]]) // prettier-ignore
})

describe('nodes are asked', () => {
  test('not at all for what the configuration knows', async () => {
    const source = goldenSource()
    await runQuery('instance', ['name', 'be/memory', 'pnode'], ['?', 'admin_up'], source)
    await runQuery('node', ['name', 'pinst_list', 'role'], null, source)
    expect(source.live.asked).toEqual([])
  })

  test('once and all together, whatever the number of live fields', async () => {
    const source = goldenSource()
    await runQuery('instance', ['status', 'oper_ram', 'oper_state', 'console'], null, source)
    expect(source.live.asked.map(({ call, nodes }) => [call, nodes.length])).toEqual([
      ['instanceInfo', 4],
      ['consoles', 3],
    ])
  })

  test('when only the filter needs it', async () => {
    const source = goldenSource()
    const result = await runQuery('node', ['name'], ['>', 'mfree', 22600], source)
    expect(names(result)).toEqual([NODE1, 'node4.gnt.example'])
    expect(source.live.asked).toHaveLength(1)
  })

  test('only for what may still pass the filter', async () => {
    const source = goldenSource()
    const filter = ['&', ['==', 'name', 'node3'], ['>', 'mfree', 0]]
    expect(names(await runQuery('node', ['name'], filter, source))).toEqual(['node3.gnt.example'])
    expect(source.live.asked).toEqual([{ call: 'nodeInfo', nodes: ['node3.gnt.example'] }])
  })

  test('one by one when an instance is asked by name', async () => {
    const source = goldenSource()
    await status(source, 'inst5')
    expect(source.live.asked).toEqual([{ call: 'instanceInfo', nodes: [NODE1] }])
  })
})

describe('names', () => {
  test('come in the order asked, short or long', async () => {
    const filter = ['|', ['==', 'name', 'inst3'], ['==', 'name', 'inst1.gnt.example']]
    const result = await runQuery('instance', ['name'], filter, goldenSource())
    expect(names(result)).toEqual(['inst3.gnt.example', 'inst1.gnt.example'])
  })

  test.each([
    ['instance', 'Instance name nosuch not found'],
    ['node', 'Node name nosuch not found'],
    ['group', 'NodeGroup name nosuch not found'],
    ['network', "Network 'nosuch' not found"],
  ] as const)('that no %s has are refused', async (what, text) => {
    const requested = runQuery(what, ['name'], ['|', ['==', 'name', 'nosuch']], goldenSource())
    await expect(requested).rejects.toEqual(new OpPrereqError(text, 'unknown_entity'))
  })

  test('that do not exist are left out of the older calls', async () => {
    expect(await classicQuery('node', ['node2', 'nosuch', 'node1'], ['name'], false, goldenSource())).toEqual([
      ['node2.gnt.example'],
      [NODE1],
    ])
  })

  test('unless asked for are in natural order', async () => {
    const config = changed('instances', 'inst2.gnt.example', { name: 'inst10.gnt.example' })
    const result = await runQuery('instance', ['name'], null, goldenSource(config))
    expect(names(result).slice(-2)).toEqual(['inst6.gnt.example', 'inst10.gnt.example'])
  })
})

describe('an instance', () => {
  test('on a node that is marked offline', async () => {
    const source = goldenSource(changed('nodes', 'node2.gnt.example', { offline: true }))
    expect(await status(source, 'inst1')).toEqual([
      [0, 'ERROR_nodeoffline'],
      [4, null],
      [4, null],
    ])
  })

  test('on a node that does not answer', async () => {
    const source = goldenSource()
    source.live.down.add('node2.gnt.example')
    expect(await status(source, 'inst1')).toEqual([
      [0, 'ERROR_nodedown'],
      [2, null],
      [2, null],
    ])
  })

  test.each([
    [{ admin_state: 'down' }, 'ERROR_up'],
    [{ admin_state: 'offline' }, 'ERROR_up'],
    [{ primary_node: 'e8d56ac1-915c-49f9-8bb1-36e90c83850b' }, 'ERROR_wrongnode'],
    [{}, 'running'],
  ])('that runs, with %j, is %s', async (change, expected) => {
    const source = goldenSource(changed('instances', 'inst1.gnt.example', change))
    const { data } = await runQuery('instance', ['name', 'status'], null, source)
    expect(data.find(([cell]) => cell?.[1] === 'inst1.gnt.example')?.[1]).toEqual([0, expected])
  })

  test.each([
    [{ admin_state: 'up' }, 'ERROR_down'],
    [{ admin_state: 'offline' }, 'ADMIN_offline'],
    [{ admin_state: 'down', admin_state_source: 'user' }, 'USER_down'],
    [{}, 'ADMIN_down'],
  ])('that does not run, with %j, is %s', async (change, expected) => {
    const source = goldenSource(changed('instances', 'inst4.gnt.example', change))
    expect((await status(source, 'inst4'))?.[0]).toEqual([0, expected])
  })

  test('that its user shut down is USER_down only where the cluster lets users do so', async () => {
    const source = goldenSource()
    const info = source.live.recorded.instanceInfo['node2.gnt.example']?.['inst1.gnt.example']
    if (info) info.state = 1
    expect((await status(source, 'inst1'))?.[0]).toEqual([0, 'ERROR_down'])
    const config = { ...source.config, cluster: { ...source.config.cluster, enabled_user_shutdown: true } }
    expect((await status({ ...source, config }, 'inst1'))?.[0]).toEqual([0, 'USER_down'])
  })
})

test('a node that may not run instances has no live data and is not asked', async () => {
  const source = goldenSource(changed('nodes', NODE1, { vm_capable: false }))
  const { data } = await runQuery('node', ['mfree', 'bootid'], ['==', 'name', 'node1'], source)
  expect(data).toEqual([
    [
      [3, null],
      [3, null],
    ],
  ])
  expect(source.live.asked).toEqual([{ call: 'nodeInfo', nodes: [] }])
})

test('instances of a network come in the order of their uuids', async () => {
  const result = await runQuery('network', ['inst_list'], ['==', 'name', 'net1'], goldenSource())
  const uuids = Object.values(goldenConfig().instances)
    .filter(({ name }) => ['inst2.gnt.example', 'inst6.gnt.example'].includes(name ?? ''))
    .sort((a, b) => (a.uuid < b.uuid ? -1 : 1))
  expect(names(result)).toEqual([uuids.map(({ name }) => name)])
})

test('archived jobs are listed only when asked for', async () => {
  expect((await runQuery('job', ['id'], null, goldenSource())).data).toHaveLength(5)
  expect((await runQuery('job', ['id', 'archived'], null, goldenSource())).data).toHaveLength(7)
})

test('operating systems are those that every node has, with what they have in common', async () => {
  const source = goldenSource()
  source.live.recorded.operatingSystems[NODE1] = [['noop', '/os/noop', true, '', [], [], [10, 20], true]]
  const { data } = await runQuery('os', ['name', 'valid', 'variants', 'api_versions'], null, source)
  expect(data.map((row) => row.map(([, value]) => value))).toEqual([
    ['debootstrap', false, [], []],
    ['noop', true, [], [10]],
  ])
})

describe('the text of an answer is what its values are in JSON', () => {
  const textOf = async ({ pieces }: JsonText) => {
    let text = ''
    for await (const piece of pieces) text += piece.toString()
    return text
  }
  const everyField = (what: QueryResource) => queryFields(what, null).fields.map(({ name }) => name)

  test.each(['instance', 'node', 'group', 'network', 'export', 'job', 'lock', 'filter'] as const)(
    '%s',
    async (what) => {
      const question = [what, [...everyField(what), 'nonsense'], null, goldenSource()] as const
      expect(await textOf(await queryText(...question))).toBe(JSON.stringify(await runQuery(...question)))
    },
  )

  test('instances that have much in common, and some that do not', async () => {
    const config = goldenConfig()
    const [model] = Object.values(config.instances).filter(({ name }) => name === 'inst3.gnt.example')
    if (model === undefined) throw new Error('the recorded cluster has no inst3')
    const [nic, other] = model.nics
    const disks = Object.keys(config.disks)
    const differences = [
      {},
      { nics: [], disks: [] },
      { nics: [], disks: [] },
      { hvparams: { migration_mode: 'non-live' }, disks: disks.slice(0, 1) },
      { hypervisor: 'kvm', disks: disks.slice(0, 2), nics: [other, nic, nic, other, nic] },
      { hypervisor: 'kvm', disks: disks.slice(1, 2), nics: [nic, other, nic, other, nic] },
      { beparams: { vcpus: 3 }, nics: [nic] },
    ]
    const instances = differences.map((own, at) => [`u${at}`, { ...model, ...own, uuid: `u${at}`, name: `i${at}` }])
    const source = { ...goldenSource(), config: { ...config, instances: Object.fromEntries(instances) as never } }
    const question = ['instance', everyField('instance'), null, source] as const
    expect(await textOf(await queryText(...question))).toBe(JSON.stringify(await runQuery(...question)))
  })

  test.each(['instance', 'node', 'group', 'network', 'job'] as const)('%s, asked by the older call', async (what) => {
    const question = [what, [], everyField(what), false, goldenSource()] as const
    expect(await textOf(await classicText(...question))).toBe(JSON.stringify(await classicQuery(...question)))
  })
})

test('a lock that names an object by its UUID tells the name of the object', async () => {
  const [node] = Object.values(goldenConfig().nodes)
  const names = [
    `node/${node?.uuid}`,
    `node-res/${node?.uuid}`,
    'node/gone',
    'node/[lockset]',
    'instance/inst1',
    'cluster/BGL',
  ]
  const locks = { locks: async () => names.map((name) => ({ name, mode: null, owner: [], pending: [] })) }
  const { data } = await runQuery('lock', ['object'], null, { ...goldenSource(), locks })
  expect(data.map(([value]) => value?.[1])).toEqual([node?.name, node?.name, null, null, null, null])
})

describe("fields that Ganeti's queries do not have", () => {
  const OURS = [
    ['instance', 'machine_state'],
    ['lock', 'object'],
    ['instance', 'status_seen'],
    ['instance', 'user_nics'],
    ['instance', 'disk.parameters'],
    ['job', 'opids'],
    ['node', 'seen'],
    ['node', 'pinst_hidden'],
    ['node', 'sinst_hidden'],
    ['group', 'inst_hidden'],
  ] as const

  test.each(OURS)('%s %s is told to who asks for it by name, and in no list of all', (what, name) => {
    expect(queryFields(what, [name]).fields[0]?.kind).not.toBe('unknown')
    expect(queryFields(what, null).fields.map((field) => field.name)).not.toContain(name)
  })

  test('tell when a node last told of itself, without asking it', async () => {
    const source = goldenSource()
    const node = Object.values(source.config.nodes).find(({ name }) => name === NODE1)
    const seen_ms = (uuid: string) => (uuid === node?.uuid ? 1500 : undefined)
    const received = { seen_ms, runningSeen_ms: seen_ms }
    const nodes = await runQuery('node', ['name', 'seen'], ['!=', 'seen', 7], { ...source, heard: received })
    expect(nodes.data.find(([name]) => name?.[1] === NODE1)?.[1]).toEqual([0, 1.5])
    const instances = await runQuery('instance', ['pnode', 'status_seen'], null, { ...source, heard: received })
    for (const [pnode, observed] of instances.data)
      expect(observed).toEqual(pnode?.[1] === NODE1 ? [0, 1.5] : [2, null])
    expect(source.live.asked).toEqual([])
  })
})
