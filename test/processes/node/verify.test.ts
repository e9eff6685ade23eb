// A node answers each check of cluster verify.
import * as fs from 'node:fs'
import * as net from 'node:net'
import { createCertificate } from '../../../src/lib/tls'
import { nodeHandlers } from '../../../src/node/handlers/node'
import { verifyNode } from '../../../src/node/verify'
import { type TestNode, testNode } from '../../support/node-context'

let node: TestNode
beforeEach(() => void (node = testNode()))
afterEach(() => node.remove())

const verify = (checks: Record<string, unknown>) =>
  verifyNode(node.context, { checks, clusterName: 'cluster', hvparams: { fake: { migration_mode: 'live' } } })

test('each requested check has its answer, in the shapes of Ganeti', async () => {
  node.put('/var/lib/ganeti/known_hosts', 'x')
  const answer = await verify({
    filelist: ['/var/lib/ganeti/known_hosts', '/var/lib/ganeti/missing'],
    hypervisor: ['fake'],
    hvparms: [['cluster', 'fake', { migration_mode: 'live' }]],
    instancelist: ['fake'],
    version: null,
    hvinfo: 'fake',
    nodesetup: null,
    time: null,
    oslist: null,
    'user-scripts': ['/etc/ganeti/nosuch'],
    bridges: ['nosuch'],
    nodelist: [['node1'], {}, []],
    'unknown check': 1,
  })
  expect(answer).toEqual({
    filelist: { '/var/lib/ganeti/known_hosts': '11f6ad8ec52a2984abaafd7c3b516503785c2072' },
    hypervisor: { fake: null },
    hvparms: [],
    instancelist: [],
    version: [3010000, '3.1.0'],
    hvinfo: expect.objectContaining({ memory_total: expect.any(Number), cpu_total: expect.any(Number) }),
    nodesetup: [],
    time: [expect.any(Number), expect.any(Number)],
    oslist: [],
    'user-scripts': ['/etc/ganeti/nosuch'],
    bridges: [],
    nodelist: {},
  })
})

test("a node speaks the protocol of its cluster's master, which refuses any other", async () => {
  node.put('/var/lib/ganeti/ssconf_release_version', '3.0.2\n')
  expect(await verify({ version: null })).toEqual({ version: [3000000, '3.1.0'] })
  expect(nodeHandlers.version(node.context)).toBe(3000000)
  node.put('/var/lib/ganeti/ssconf_release_version', '9.9.9 of another time\n')
  expect(nodeHandlers.version(node.context)).toBe(3010000)
})

test('a check that cannot be made answers with its reason, and the others stand', async () => {
  const answer = await verify({ instancelist: ['xen-pvm'], hypervisor: ['xen-pvm'], version: null })
  expect(answer['instancelist']).toContain("Unknown hypervisor 'xen-pvm'")
  expect(answer['hypervisor']).toEqual({ 'xen-pvm': expect.stringContaining('Unknown hypervisor') })
  expect(answer['version']).toEqual([3010000, '3.1.0'])
})

test('a node that is not to host instances skips what only hosts need', async () => {
  const answer = await verify({ nonvmnodes: [node.context.hostname], instancelist: ['fake'], oslist: null, time: null })
  expect(Object.keys(answer)).toEqual(['time'])
})

test('storage directories are reported only when they are not usable', async () => {
  const good = { 'file-storage-path': '/srv/ganeti/file-storage' }
  await expect(verify(good)).resolves.toEqual({})
  const bad = { 'file-storage-path': '/srv/other', 'shared-file-storage-path': '/srv/ganeti/shared-file-storage/x' }
  await expect(verify(bad)).resolves.toEqual({
    'file-storage-path': expect.stringContaining('not acceptable'),
    'shared-file-storage-path': expect.stringContaining('does not exist'),
  })
  node.put('/etc/ganeti/file-storage-paths', '/srv/ganeti\n/etc/disks\n')
  const lookedAt = { 'allowed-file-storage-paths': node.context.hostname }
  await expect(verify(lookedAt)).resolves.toEqual({ 'allowed-file-storage-paths': ['/etc/disks'] })
})

test('the client certificate is missing, ends soon, or has a digest', async () => {
  const check = async () => (await verify({ 'client-cert': null }))['client-cert']
  await expect(check()).resolves.toEqual(['ERROR', expect.stringContaining('missing')])
  fs.writeFileSync(node.paths.clientCert, await createCertificate({ validity_days: 20 }))
  await expect(check()).resolves.toEqual(['WARNING', expect.stringContaining('days')])
  fs.writeFileSync(node.paths.clientCert, await createCertificate())
  await expect(check()).resolves.toEqual([null, expect.stringMatching(/^[0-9A-F:]{59}$/)])
})

test('nodes that do not answer are named with the interface that fails', async () => {
  const me = node.context.hostname
  const server = net.createServer((socket) => socket.destroy()).listen(1811, '127.77.0.2')
  await new Promise((resolve) => server.once('listening', resolve))
  const nodes = [[me, '127.77.0.2', '127.77.0.2'], ['node2', '127.77.0.2', '127.77.0.3'], ['node3', '127.77.0.4', '127.77.0.4']] // prettier-ignore
  await expect(verify({ 'node-net-test': [nodes, [me]] })).resolves.toEqual({
    'node-net-test': {
      node2: 'failure using the secondary interface(s)',
      node3: 'failure using the primary interface(s)',
    },
  })
  await expect(verify({ 'node-net-test': [nodes, ['other']] })).resolves.toEqual({ 'node-net-test': {} })
  await expect(verify({ 'master-ip': [me, '127.77.0.2', [me]] })).resolves.toEqual({ 'master-ip': true })
  await expect(verify({ 'master-ip': [me, '127.77.0.9', [me]] })).resolves.toEqual({ 'master-ip': false })
  server.close()
})

test('a master asks for its own address from the loopback address of the same version', async () => {
  const { hostname, paths } = node.context
  const context = { ...node.context, paths: { ...paths, root: '' } }
  for (const address of ['127.0.0.1', '::1']) {
    const server = net.createServer((socket) => socket.destroy()).listen(1811, address)
    await new Promise((resolve) => server.once('listening', resolve))
    const checks = { 'master-ip': [hostname, address, [hostname]] }
    const answer = await verifyNode(context, { checks, clusterName: 'cluster', hvparams: {} })
    server.close()
    expect({ [address]: answer }).toEqual({ [address]: { 'master-ip': true } })
  }
})

test('node_info tells boot, storage and hypervisors; what is not there leaves its place, or its figures, empty', async () => {
  const [boot, storage, live] = await nodeHandlers.node_info(
    node.context,
    [
      ['file', '/srv/ganeti/file-storage', []],
      ['file', '/srv/nosuch', []],
      ['lvm-vg', 'nosuch', [false]],
    ],
    [
      ['fake', {}],
      ['nosuch', {}],
    ],
  )
  expect(boot).toMatch(/^[0-9a-f-]{36}$/)
  expect(storage).toEqual([
    {
      type: 'file',
      name: '/srv/ganeti/file-storage',
      storage_free: expect.any(Number),
      storage_size: expect.any(Number),
    },
    null,
    { type: 'lvm-vg', name: 'nosuch', storage_free: null, storage_size: null },
  ])
  expect(live).toEqual([expect.objectContaining({ memory_free: expect.any(Number) }), null])
})
