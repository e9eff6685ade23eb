// What the search of the console asks for, answered by the queries of the server: each letter is another question, so that the server searches.
import type { ConfigData } from '../../../src/model/config'
import { runQuery } from '../../../src/query/engine'
import type { QueryResource } from '../../../src/rpc/luxi/calls'
import { consoleModule } from '../../support/console-actions'
import { consoleServer } from '../../support/console-server'
import { goldenConfig, goldenSource } from '../../support/golden-query'

interface Found {
  readonly id: string
  readonly label: string
  readonly note?: string
  readonly target?: string
}
type Kinds = Readonly<Record<string, { find(letters: string, client: object): Promise<readonly Found[]> }>>

const KINDS: Readonly<Record<string, QueryResource>> = {
  ...{ instances: 'instance', nodes: 'node', groups: 'group', networks: 'network' },
  ...{ exports: 'export', filters: 'filter' },
}
const FILTER_FIELDS = ['action', 'predicates', 'priority', 'reason_trail', 'uuid', 'watermark']
const RULE = '11111111-2222-4333-8444-555555555555'

const source = () => goldenSource({ ...goldenConfig(), filters: { [RULE]: rule } } as unknown as ConfigData)
const rule = {
  ...{
    uuid: RULE,
    action: 'PAUSE',
    priority: 3,
    watermark: 1,
    predicates: [['opcode', ['=', 'OP_ID', 'OP_TEST_DELAY']]],
  },
  reason_trail: [
    ['gnt:user', 'The rack moves', 1],
    ['gnt:client:gnt-filter', 'add', 2],
  ],
}

const requested = consoleServer(async ({ path }) => {
  const { pathname, searchParams: words } = new URL(path, 'https://cluster.example')
  const kind = KINDS[pathname.split('/')[2] ?? '']
  if (kind === undefined) return [200, { items: [{ id: 't1', name: 'watcher', user: 'anna' }] }]
  const defaults = kind === 'filter' ? FILTER_FIELDS : ['node', 'export']
  const fields = words.get('fields')?.split(',') ?? defaults
  const { data } = await runQuery(kind, fields, JSON.parse(words.get('filter') ?? 'null'), source())
  const items = data.map((row) => Object.fromEntries(fields.map((field, at) => [field, row[at]?.[1] ?? null])))
  return [200, { items: items.slice(0, Number(words.get('limit'))), next: null }]
})
const { FOUND_KINDS } = consoleModule<{ FOUND_KINDS: Kinds }>('app/find.ts')

const find = async (kind: string, letters: string, client = {}) =>
  (await FOUND_KINDS[kind]?.find(letters, client)) ?? []
const labels = async (kind: string, letters: string) => (await find(kind, letters)).map(({ label }) => label)

test('an instance is found by its name, its IP address, its MAC address and its UUID', async () => {
  expect(await labels('instances', 'INST3')).toEqual(['inst3.gnt.example'])
  expect(await find('instances', '10.1.2.3')).toMatchObject([{ label: 'inst3.gnt.example', note: '10.1.2.3' }])
  expect(await labels('instances', '10.99.0.')).toEqual(['inst2.gnt.example', 'inst6.gnt.example'])
  expect(await labels('instances', 'AA:00:00:35:22:21')).toEqual(['inst3.gnt.example'])
  expect(await labels('instances', '35:22')).toEqual(['inst3.gnt.example'])
  expect(await labels('instances', '8df58645-d796')).toEqual(['inst1.gnt.example'])
})

test('a whole address finds no longer one, and letters that may be a name are compared with names alone', async () => {
  expect(await labels('instances', '10.99.0.5')).toEqual([])
  expect(await labels('instances', '10.99.0.50')).toEqual(['inst6.gnt.example'])
  expect(await labels('instances', 'aa')).toEqual([])
  expect(await labels('instances', '8df5')).toEqual([])
})

test('a node is found by its addresses, and a network also by an address within it', async () => {
  expect(await labels('nodes', '198.51.100.12')).toEqual(['node2.gnt.example'])
  expect(await labels('nodes', '7c48018d')).toEqual(['node4.gnt.example'])
  expect(await find('networks', '10.99.0.77')).toMatchObject([{ label: 'net1', note: '10.99.0.0/24' }])
  expect(await labels('networks', '10.98.0.15')).toEqual(['net2'])
  expect(await labels('networks', '10.98.0.16')).toEqual([])
  expect(await labels('networks', '10.99.0.1')).toEqual(['net1'])
  expect(await labels('networks', 'fd00:98::1')).toEqual(['net2'])
  expect(await labels('networks', 'aa:bb')).toEqual(['net2'])
})

test('exports are found without nodes that do not answer, and rules by their conditions and reasons', async () => {
  expect(await find('exports', 'inst')).toEqual([
    { id: 'node2.gnt.example/inst31.gnt.example', label: 'inst31.gnt.example', note: 'node2.gnt.example' },
  ])
  const found = [{ label: 'Hold: OP_ID == OP_TEST_DELAY', note: 'The rack moves', target: RULE }]
  for (const letters of ['test_delay', 'rack', RULE.slice(0, 9)])
    expect(await find('rules', letters)).toMatchObject(found)
  expect(await find('rules', 'gnt-filter')).toEqual([])
})

test('tokens are asked for by a part of their name, and each question has a limit', async () => {
  expect(await find('tokens', 'Watch')).toEqual([{ id: 't1', label: 'watcher', note: 'anna' }])
  expect(requested.at(-1)?.path).toBe('/3/tokens?like=Watch&limit=6')
  expect(requested.filter(({ path }) => !path.includes('limit=6'))).toEqual([])
})

test('settings are found by their names, by parameters within them, and by what they mean', async () => {
  const client = { query: async () => ({ enabled_hypervisors: ['kvm'] }) }
  const targets = async (letters: string) =>
    (await find('settings', letters, client)).map(({ label, target }) => [label, target])
  expect(await targets('candidate_pool')).toEqual([['candidate_pool_size', 'candidate_pool_size']])
  expect(await targets('kernel_path')).toEqual([['hvparams/kvm: kernel_path', 'hvparams/kvm']])
  expect(await targets('metavg')).toEqual([['diskparams: drbd/metavg', 'diskparams']])
  expect(await targets('wipe new')).toContainEqual(['prealloc_wipe_disks', 'prealloc_wipe_disks'])
})
