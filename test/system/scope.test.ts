// What a token with a scope reads: every address of the remote API that only reads, with objects that it may know, with
// hidden ones and with missing ones. No answer has a word of a hidden object, and nobody can tell hidden from missing.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

interface Document {
  readonly paths: Readonly<Record<string, { readonly get?: unknown }>>
}
const { paths } = JSON.parse(fs.readFileSync(path.join(__dirname, '../../openapi/rapi.json'), 'utf8')) as Document
const ADDRESSES = Object.keys(paths).filter((one) => paths[one]?.get !== undefined && /^\/(3\/|metrics)/.test(one))

/** An object of each kind that the token may know, a hidden one, and one that does not exist. */
const NAMES: Readonly<Record<string, readonly [known: string, hidden: string, missing: string]>> = {
  instances: ['vm-a.gantry.local', 'hidden-vm.gantry.local', 'missing-vm.gantry.local'],
  nodes: ['node1.gantry.local', 'node2.gantry.local', 'node9.gantry.local'],
  groups: ['default', 'hidden-group', 'missing-group'],
  networks: ['net-a', 'hidden-net', 'missing-net'],
}
/** Streams do not end; their events are those of /3/events/past. */
const STREAMS = ['/3/events']
/** Lists may be asked for what is hidden in many ways. */
const QUESTIONS: Readonly<Record<string, readonly string[]>> = {
  '/3/instances': [
    '',
    '?filter=name%20%3D%3D%20%22hidden-vm.gantry.local%22',
    '?fields=name,pnode,snodes,tags',
    '?sort=name',
  ],
  '/3/nodes': [
    '',
    '?fields=name,pinst_list,sinst_list,pinst_cnt,group,tags',
    '?filter=name%20%3D%3D%20%22node2.gantry.local%22',
  ],
  '/3/groups': ['', '?fields=name,node_list,node_cnt,pinst_list,pinst_cnt'],
  '/3/networks': ['', '?fields=name,inst_list,group_list,map'],
  '/3/jobs': ['', '?include=ended', '?fields=id,ops,summary,oplog'],
  '/3/events/past': ['', '?objects=instance/hidden-vm.gantry.local', '?objects=node/*', '?limit=200'],
  '/3/tags': ['', '?like=hidden'],
  '/3/monitoring': ['', '?node=node2.gantry.local', '?node=node9.gantry.local'],
}

let cluster: EmbeddedCluster
let token: string
/** Words that only hidden objects have. */
let hidden: string[]
const read = async (address: string, user = `Bearer ${token}`) => cluster.rapi('GET', address, undefined, user)
const ok = async (...words: string[]) => {
  const { code, stderr, stdout } = await cluster.gnt(...words)
  expect([words.join(' '), code, code === 0 ? '' : stdout + stderr]).toEqual([words.join(' '), 0, ''])
}

beforeAll(async () => {
  cluster = await startCluster(['--hypervisor', 'fake'])
  await ok('group', 'add', 'hidden-group')
  await ok('group', 'assign-nodes', '--force', 'hidden-group', 'node3')
  await ok('group', 'add-tags', 'hidden-group', 'hidden-group-tag')
  await ok('node', 'add-tags', 'node2', 'hidden-node-tag')
  for (const [name, network] of [
    ['net-a', '192.0.2.0/24'],
    ['hidden-net', '198.51.100.0/24'],
  ] as const) {
    // prettier-ignore
    await ok('network', 'add', '--network', network, name)
    await ok('network', 'connect', '--nic-parameters=mode=bridged,link=br0', name, 'default')
  }
  const add = [
    'instance',
    'add',
    '-t',
    'diskless',
    '-o',
    'gantry-tiny',
    '--no-install',
    '--no-start',
    '--no-conflicts-check',
  ]
  await ok(
    ...add,
    '-n',
    'node1',
    '--net=0:ip=192.0.2.7,network=net-a,mac=aa:00:00:00:00:01',
    '--tags=team-a',
    'vm-a.gantry.local',
  )
  await ok(
    ...add,
    '-n',
    'node2',
    '--net=0:ip=198.51.100.7,network=hidden-net,mac=aa:00:00:66:66:66',
    '--tags=hidden-tag',
    'hidden-vm.gantry.local',
  )
  const made = await cluster.rapi('POST', '/3/tokens', { name: 'scoped', permissions: ['*'], tags: ['team-a'] })
  token = (made.body as { secret: string }).secret
  expect(token).toMatch(/^\S{20,}$/)
  const uuids = [
    '/3/instances/hidden-vm.gantry.local',
    '/3/nodes/node2',
    '/3/nodes/node3',
    '/3/groups/hidden-group',
    '/3/networks/hidden-net',
  ]
  const bodies = await Promise.all(
    uuids.map(async (address) => (await read(address, `admin:${cluster.password}`)).body),
  )
  hidden = [
    ...bodies.map((body) => (body as { uuid: string }).uuid),
    ...['hidden-', 'node2', 'node3', 'aa:00:00:66:66:66', '198.51.100.'],
  ]
})
afterAll(() => cluster.remove())

/** A word of the request itself tells nothing. */
function leaks(body: unknown, requested: string): string[] {
  const text = JSON.stringify(body)
  return hidden.filter((word) => !decodeURIComponent(requested).includes(word) && text.includes(word))
}

const SINGLE = ADDRESSES.filter((one) => one.includes('{name}') && NAMES[one.split('/')[2] ?? ''] !== undefined)
const OTHER = ADDRESSES.filter((one) => !one.includes('{') && !STREAMS.includes(one))

test.each(OTHER.flatMap((one) => (QUESTIONS[one] ?? ['']).map((query) => `${one}${query}`)))(
  'GET %s has no word of what is hidden',
  async (address) => {
    const { status, body } = await read(address)
    expect([status, leaks(body, address)]).toEqual([expect.any(Number), []])
    expect(status).toBeLessThan(500)
  },
)

test.each(SINGLE)('GET %s answers for a hidden object as for a missing one', async (address) => {
  const [known = '', secret = '', missing = ''] = NAMES[address.split('/')[2] ?? ''] ?? []
  const of = async (name: string) => {
    const { status, body } = await read(address.replace('{name}', name))
    expect(leaks(body, name)).toEqual([])
    return [status, JSON.stringify(body).replaceAll(name, 'NAME').replaceAll(name.replace('.gantry.local', ''), 'NAME')]
  }
  const [desired, none] = [await of(secret), await of(missing)]
  expect(desired).toEqual(none)
  // Where it may not be asked about anything, it is refused for the known one, too.
  const [status] = await of(known)
  expect([200, desired[0]]).toContain(status)
})

test('a token sees the nodes, groups and networks of its instances, and only those', async () => {
  const names = async (kind: string) =>
    ((await read(`/3/${kind}`)).body as { items: { name: string }[] }).items.map(({ name }) => name)
  expect(await names('instances')).toEqual(['vm-a.gantry.local'])
  expect(await names('nodes')).toEqual(['node1.gantry.local'])
  expect(await names('groups')).toEqual(['default'])
  expect(await names('networks')).toEqual(expect.arrayContaining(['net-a']))
  for (const kind of ['instances', 'nodes', 'groups', 'networks'])
    expect([kind, (await read(`/3/${kind}/${NAMES[kind]?.[0] ?? ''}`)).status]).toEqual([kind, 200])
})

test('each address that names something else is asked here or needs no scope', () => {
  const rest = ADDRESSES.filter((one) => !SINGLE.includes(one) && !OTHER.includes(one) && !STREAMS.includes(one))
  expect(rest).toEqual(['/3/filters/{name}', '/3/locks/{name}', '/3/os/{name}', '/3/jobs/{id}'])
})
