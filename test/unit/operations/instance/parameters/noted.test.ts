// Jobs show notes about their opcodes after these have run.
import { type FakeCluster, simulatedCluster } from '../../../../support/fake-cluster'

const inst2 = 'inst2.gnt.example'
let cluster: FakeCluster
beforeEach(() => {
  cluster = simulatedCluster()
})

test('a short name is shown in full, with the uuid', async () => {
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: 'inst2' })
  const uuid = cluster.instance('inst2')?.uuid
  expect(cluster.noted).toEqual({ instance_name: inst2, instance_uuid: uuid, admin_state_source: 'admin' })
})

test('changes of devices are shown in their long form, with what new ones got', async () => {
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: inst2 })
  const op = { nics: [['add', { link: 'xen-br0' }]], disks: [['add', { size: 4 }]], hotplug: false }
  await cluster.run('OP_INSTANCE_SET_PARAMS', { instance_name: inst2, ...op })
  const nic = cluster.instance('inst2')?.nics.at(-1)
  const disk = cluster.config.disks[cluster.instance('inst2')?.disks.at(-1) ?? '']
  expect(cluster.noted).toMatchObject({
    nics: [['add', -1, { link: 'xen-br0', mac: nic?.mac }]],
    disks: [['add', -1, { size: 4, mode: 'rw', dev_type: disk?.dev_type }]],
    file_driver: 'loop',
  })
})

test('words for addresses are shown as what they meant, and disks by number', async () => {
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: inst2 })
  const modify = (op: object) => cluster.run('OP_INSTANCE_SET_PARAMS', { instance_name: inst2, ...op })
  await modify({ nics: [['modify', 0, { mac: 'generate', name: 'none' }]] })
  const [nic] = cluster.instance('inst2')?.nics ?? []
  expect(cluster.noted).toMatchObject({ nics: [['modify', 0, { mac: nic?.mac }]], hotplug: false })
  await modify({ nics: [['modify', 0, { ip: 'none', network: 'none' }]] })
  expect(cluster.noted).toMatchObject({ nics: [['modify', 0, {}]] })
  await modify({ nics: [['modify', 0, { ip: 'pool', network: 'net1' }]] })
  const [pooled] = cluster.instance('inst2')?.nics ?? []
  expect(cluster.noted).toMatchObject({ nics: [['modify', 0, { ip: pooled?.ip, network: 'net1' }]] })
  await modify({ disks: [['modify', 1, { name: 'data' }]] })
  await modify({ disks: [['detach', 'data', {}]] })
  expect(cluster.noted).toMatchObject({ disks: [['detach', 1, {}]] })
  await modify({ disks: [['attach', { name: 'data' }]] })
  expect(cluster.noted).toMatchObject({
    disks: [['attach', -1, { name: 'data', size: 8, mode: 'rw' }]],
    file_driver: 'loop',
  })
  await expect(
    cluster.failure('OP_INSTANCE_SET_PARAMS', { instance_name: inst2, disks: [['detach', 'nosuch', {}]] }),
  ).resolves.toEqual(['OpPrereqError', ["Lookup of disk 'nosuch' failed"]])
})

test('the source of a stop is shown even if there is none', async () => {
  await cluster.failure('OP_INSTANCE_SHUTDOWN', { instance_name: 'nosuch' })
  expect(cluster.noted).toEqual({ admin_state_source: 'admin' })
})

test('nodes are shown in full, with their uuids', async () => {
  const { name, uuid } = cluster.node('node2')
  await cluster.run('OP_OOB_COMMAND', { node_names: ['node2'], command: 'health' })
  expect(cluster.noted).toMatchObject({ node_names: [name], node_uuids: [uuid] })
  await cluster.run('OP_RESTRICTED_COMMAND', { nodes: ['node2'], command: 'x' })
  expect(cluster.noted).toMatchObject({ nodes: [name], node_uuids: [uuid] })
  await cluster.failure('OP_NODE_EVACUATE', { node_name: 'node2', remote_node: 'node2', mode: 'secondary-only' })
  expect(cluster.noted).toMatchObject({ remote_node: name, remote_node_uuid: uuid })
})

test('a refused change shows its disks in long form, and the node that it names', async () => {
  const op = { instance_name: 'nosuch', pnode: 'node2', disks: [['add', { size: 8 }]] }
  await cluster.failure('OP_INSTANCE_SET_PARAMS', op)
  const { name, uuid } = cluster.node('node2')
  expect(cluster.noted).toMatchObject({ disks: [['add', -1, { size: 8 }]], pnode: name, pnode_uuid: uuid })
})

test('a mistake that needs no look at the cluster shows no uuid', async () => {
  for (const op of [
    { hvparams: { migration_mode: 'live' } },
    { nics: [['add', { ip: 'pool' }]] },
    { nics: [['modify', 0, { network: 'net1', link: 'br0' }]] },
    { nics: [['modify', 0, { mac: 'auto' }]] },
  ])
    await cluster.failure('OP_INSTANCE_SET_PARAMS', { instance_name: inst2, ...op })
  expect(cluster.noted).not.toHaveProperty('instance_uuid')
})

test('changes are told as they were asked for', async () => {
  const op = { beparams: { memory: 96, vcpus: 'default' }, os_name: 'noop', osparams_private: { key: 'secret' } }
  await expect(cluster.run('OP_INSTANCE_SET_PARAMS', { instance_name: 'inst4', ...op })).resolves.toEqual([
    ['be/memory', 96],
    ['be/vcpus', 'default'],
    ['os_private/key', "Private(?, descr='key')"],
  ])
})
