// A resolver turns short names into full ones. A name server of the test's own answers.
import { resolveFully } from '../../../src/lib/net/resolve'
import { type FakeCluster, simulatedCluster } from '../../support/fake-cluster'

/** Addresses by name, and the names that these have. */
const ADDRESSES: Readonly<Record<string, string>> = {
  web: '192.0.2.7',
  'web.gnt.example': '192.0.2.7',
  www: '192.0.2.8',
  new: '192.0.2.9',
  nameless: '192.0.2.10',
  taken: '198.51.100.12',
  numbered: '192.0.2.11',
}
const NAMES: Readonly<Record<string, string>> = {
  '192.0.2.7': 'WEB.gnt.example.',
  '192.0.2.8': 'server.gnt.example',
  '192.0.2.9': 'new.gnt.example',
  '192.0.2.11': '192.0.2.11',
  '198.51.100.12': 'taken.gnt.example',
  '127.0.0.9': 'localhost',
}

jest.mock('node:dns/promises', () => ({
  async lookup(name: string) {
    const address = ADDRESSES[name]
    if (address === undefined) throw new Error(`getaddrinfo ENOTFOUND ${name}`)
    return { address }
  },
  async lookupService(ip: string) {
    const hostname = NAMES[ip]
    if (hostname === undefined) throw new Error(`getnameinfo ENOTFOUND ${ip}`)
    return { hostname }
  },
}))

const create = {
  ...{ mode: 'create', disk_template: 'diskless', disks: [], nics: [], os_type: 'noop', hypervisor: 'fake' },
  ...{ beparams: { memory: 32 }, pnode: 'node1.gnt.example', name_check: true, ip_check: false },
}

let cluster: FakeCluster
beforeEach(() => {
  cluster = simulatedCluster()
})

test('a full name is that of the address; who has none keeps the name that was given', async () => {
  expect(await resolveFully('web')).toEqual({ ip: '192.0.2.7', name: 'web.gnt.example' })
  expect(await resolveFully('nameless')).toEqual({ ip: '192.0.2.10', name: 'nameless' })
  expect(await resolveFully('numbered')).toEqual({ ip: '192.0.2.11', name: 'numbered' })
  expect(await resolveFully('nosuch')).toMatchObject({ error: expect.stringContaining('ENOTFOUND') })
  const local = { address: async () => ({ ip: '127.0.0.9' }), nameOf: async () => 'localhost.localdomain' }
  expect(await resolveFully('virtual', 4, local)).toEqual({ ip: '127.0.0.9', name: 'virtual' })
})

test('a new instance gets its full name where the name is to be checked', async () => {
  await cluster.run('OP_INSTANCE_CREATE', { ...create, instance_name: 'web' })
  expect(cluster.instance('web.gnt.example')?.name).toBe('web.gnt.example')
  expect(cluster.noted).toMatchObject({ instance_name: 'web.gnt.example' })
  expect(cluster.log.filter((line) => line.includes('Resolved'))).toEqual([
    " - INFO: Resolved given name 'web' to 'web.gnt.example'",
  ])
  expect(cluster.lockRequests.flat().flat(2)).toContain('instance/web.gnt.example')
  await cluster.run('OP_INSTANCE_CREATE', { ...create, instance_name: 'new', name_check: false })
  expect(cluster.instance('new')?.name).toBe('new')
})

test('a full name that is another one is refused, and so is one that is taken', async () => {
  const refused = (name: string) => cluster.failure('OP_INSTANCE_CREATE', { ...create, instance_name: name })
  expect(await refused('www')).toEqual([
    'OpPrereqError',
    ["Resolved hostname 'server.gnt.example' does not look the same as given hostname 'www'", 'wrong_input'],
  ])
  await cluster.run('OP_INSTANCE_CREATE', { ...create, instance_name: 'web' })
  expect(await refused('web')).toEqual([
    'OpPrereqError',
    ["Instance 'web.gnt.example' is already in the cluster", 'already_exists'],
  ])
})

test('an instance gets the full one of a new name', async () => {
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: 'inst2' })
  const rename = { instance_name: 'inst2', new_name: 'new', name_check: true, ip_check: false }
  expect(await cluster.run('OP_INSTANCE_RENAME', rename)).toBe('new.gnt.example')
  expect(cluster.noted).toMatchObject({ new_name: 'new.gnt.example' })
  expect(cluster.instance('new.gnt.example')).toBeDefined()
})

test('a node that is refused is shown with its full name, its addresses and what it can do', async () => {
  expect(await cluster.failure('OP_NODE_ADD', { node_name: 'taken', group: 'default' })).toEqual([
    'OpPrereqError',
    ['New node ip address(es) conflict with existing node node2.gnt.example', 'resource_not_unique'],
  ])
  expect(cluster.noted).toEqual({
    node_name: 'taken.gnt.example',
    primary_ip: '198.51.100.12',
    secondary_ip: '198.51.100.12',
  })
  await cluster.failure('OP_NODE_ADD', { node_name: 'new', secondary_ip: '192.0.2.99', group: 'default' })
  expect(cluster.noted).toEqual({
    node_name: 'new.gnt.example',
    ...{ primary_ip: '192.0.2.9', secondary_ip: '192.0.2.99', master_capable: true, vm_capable: true },
  })
  expect(await cluster.failure('OP_NODE_ADD', { node_name: 'nosuch', group: 'default' })).toMatchObject([
    'OpPrereqError',
    [expect.stringContaining('The given name (nosuch) does not resolve'), 'resolver_error'],
  ])
})
