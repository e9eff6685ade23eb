// Checks that instances get and lose the NIC over which they ask their node, and what their node is told.
import type { MetadataDict } from '../../../../src/rpc/node/dicts'
import { type FakeCluster, simulatedCluster } from '../../../support/fake-cluster'

const NAME = 'inst20.gnt.example'
const create = {
  ...{ instance_name: NAME, mode: 'create', disk_template: 'diskless', disks: [], nics: [], os_type: 'noop' },
  ...{ hypervisor: 'fake', beparams: { memory: 32 }, pnode: 'node1.gnt.example', instance_communication: true },
}
const params = { osparams: { a: 'b' }, osparams_private: { c: 'd' }, osparams_secret: { e: 'f' } }
const metadataNic = {
  name: `ganeti:communication:${NAME}`,
  ip: '169.254.0.1',
  mac: expect.stringMatching(/^52:54:00:/),
}

let cluster: FakeCluster
beforeEach(() => {
  cluster = simulatedCluster()
  cluster.answers.os_validate = () => true
})

/** The jobs that the change of the cluster's parameter makes. */
async function withNetwork(): Promise<void> {
  await cluster.run('OP_CLUSTER_SET_PARAMS', { instance_communication_network: 'comm' })
  for (const { OP_ID, ...op } of cluster.submitted.flat()) await cluster.run(OP_ID, op)
}
const reported = (): MetadataDict[] =>
  cluster.calls('instance_metadata_modify').map(({ args }) => args[0] as MetadataDict)
const modify = (more: object) => cluster.run('OP_INSTANCE_SET_PARAMS', { instance_name: NAME, ...more })

test('a new instance gets a NIC of its own, and its node all OS parameters before it starts', async () => {
  await withNetwork()
  await cluster.run('OP_INSTANCE_CREATE', { ...create, ...params, nics: [{ mac: 'aa:00:00:12:34:56' }] })
  expect(cluster.instance('inst20')?.nics).toMatchObject([{ mac: 'aa:00:00:12:34:56' }, metadataNic])
  expect(reported()).toMatchObject([
    { name: NAME, nics: [{}, { ...metadataNic, nicparams: { mode: 'routed' } }], ...params },
  ])
  const order = cluster.asked.map(({ call }) => call)
  expect(order.indexOf('instance_metadata_modify')).toBeLessThan(order.indexOf('instance_start'))
  // Secrets are in that call alone.
  expect(JSON.stringify(cluster.config)).not.toContain('"e":"f"')
})

test('the addresses that nodes and QEMU need are given to no instance', async () => {
  await withNetwork()
  const network = Object.values(cluster.config.networks).find(({ name }) => name === 'comm')
  const taken = ['169.254.169.252', '169.254.169.253', '169.254.169.254']
  const place = (ip: string) => ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) & 0xffff
  expect(taken.map((ip) => network?.ext_reservations?.[place(ip)])).toEqual(['1', '1', '1'])
})

test('without a network there is no communication, and the refusal says how to get one', async () => {
  const text = 'The cluster has no network for instance communication'
  await expect(cluster.failure('OP_INSTANCE_CREATE', create)).resolves.toMatchObject([
    'OpPrereqError',
    [expect.stringContaining(text), 'wrong_state'],
  ])
  const on = { instance_name: 'inst6', instance_communication: true }
  await expect(cluster.failure('OP_INSTANCE_SET_PARAMS', on)).resolves.toMatchObject([
    'OpPrereqError',
    [expect.stringContaining(text), 'wrong_state'],
  ])
})

test('communication is switched on and off; other NICs stay', async () => {
  await withNetwork()
  await cluster.run('OP_INSTANCE_CREATE', {
    ...create,
    instance_communication: false,
    nics: [{ mac: 'aa:00:00:12:34:56' }],
  })
  expect(reported()).toEqual([])
  await modify({ instance_communication: true, hotplug: false })
  expect(cluster.instance('inst20')?.nics).toMatchObject([{}, metadataNic])
  await modify({ nics: [['add', -1, { mac: 'aa:00:00:12:34:57' }]], hotplug: false })
  await modify({ instance_communication: true, hotplug: false })
  expect(cluster.instance('inst20')?.nics).toHaveLength(3)
  await modify({ instance_communication: false, hotplug: false })
  expect(cluster.instance('inst20')?.nics).toMatchObject([{ mac: 'aa:00:00:12:34:56' }, { mac: 'aa:00:00:12:34:57' }])
  // The node hears of each change, also of the last; none of them begins an installation.
  expect(reported().map(({ nics }) => nics.length)).toEqual([2, 3, 3, 2])
  expect(reported().map((one) => one.osparams_private ?? one.osparams_secret)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  await modify({ osparams: { a: 'b' } })
  expect(reported()).toHaveLength(4)
})

test('a node that cannot be told is a warning', async () => {
  await withNetwork()
  cluster.answers.instance_metadata_modify = () => {
    throw new Error('no metad')
  }
  await cluster.run('OP_INSTANCE_CREATE', create)
  expect(cluster.log.join('\n')).toMatch(
    /WARNING: Could not update metadata for instance 'inst20.gnt.example': .*no metad/,
  )
  expect(cluster.runningOn('inst20')).toEqual(['node1.gnt.example'])
})

test('a reinstallation tells the new secrets', async () => {
  await withNetwork()
  const disks = [{ size: 8 }]
  await cluster.run('OP_INSTANCE_CREATE', { ...create, disk_template: 'sharedfile', disks, start: false })
  await cluster.run('OP_INSTANCE_REINSTALL', { instance_name: NAME, ...params })
  expect(reported().at(-1)).toMatchObject(params)
})
