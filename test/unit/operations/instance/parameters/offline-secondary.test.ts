// An instance changes while the node of its mirrors' other side is offline.
import { drbdInstance, storageCluster } from '../../../../support/storage-cluster'

const NAME = { instance_name: drbdInstance.instance_name }

async function withOfflineSecondary() {
  const cluster = storageCluster()
  await cluster.run('OP_INSTANCE_CREATE', { ...drbdInstance, start: false })
  const { name } = cluster.node('node2')
  cluster.change('patchNode', cluster.node(name).uuid, { offline: true, master_candidate: false })
  return { cluster, name }
}

test('it gets more memory, with a warning: nobody can ask that node', async () => {
  const { cluster, name } = await withOfflineSecondary()
  const beparams = { minmem: 300, maxmem: 300 }
  await cluster.run('OP_INSTANCE_SET_PARAMS', { ...NAME, beparams })
  expect(cluster.instance(NAME.instance_name)?.beparams).toMatchObject(beparams)
  expect(cluster.log.join('\n')).toContain(`Secondary node ${name} is offline`)
})

test.each([
  ['OP_INSTANCE_SET_PARAMS', { disks: [['add', -1, { size: 4 }]] }],
  ['OP_INSTANCE_GROW_DISK', { disk: 0, amount: 4 }],
])('%s of a disk is refused, with what to do', async (op, params) => {
  const { cluster } = await withOfflineSecondary()
  const [, [text]] = (await cluster.failure(op, { ...NAME, ...params })) as [string, string[]]
  expect(text).toMatch(/^Can't use offline node: .*replace-disks -n NODE .* or 'gnt-instance modify -t plain/)
})
