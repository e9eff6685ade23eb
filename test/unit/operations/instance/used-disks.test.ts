// A guest may run although its disks do not count as active, such as after a failover that failed. They are in use all the same: nothing
// shuts them down, and what looks at disks looks at them.
import type { FakeCluster } from '../../../support/fake-cluster'
import { drbdInstance, storageCluster } from '../../../support/storage-cluster'

const name = { instance_name: 'inst2.gnt.example' }
let cluster: FakeCluster

beforeEach(async () => {
  cluster = storageCluster()
  await cluster.run('OP_INSTANCE_CREATE', drbdInstance)
  cluster.change('setInstanceStatus', cluster.instance('inst2')?.uuid, null, false, null)
  expect(cluster.runningOn('inst2')).toEqual(['node1.gnt.example'])
  cluster.asked.length = 0
})

const isMirror = (disk: unknown) => (disk as { dev_type: string }).dev_type === 'drbd'

test.each([
  ['OP_INSTANCE_GROW_DISK', { ...name, disk: 0, amount: 32 }],
  ['OP_INSTANCE_SNAPSHOT', { ...name, disks: [[0, { snapshot_name: 'before' }]] }],
  ['OP_BACKUP_EXPORT', { ...name, target_node: 'node3.gnt.example', shutdown: false }],
  ['OP_INSTANCE_SET_PARAMS', { ...name, disks: [['add', -1, { size: 32 }]], hotplug: false }],
])('%s shuts down no disk of a guest that runs', async (id, params) => {
  await cluster.run(id, params)
  expect(cluster.calls('blockdev_shutdown').filter(({ args }) => isMirror(args[0]))).toEqual([])
  expect(cluster.runningOn('inst2')).toEqual(['node1.gnt.example'])
})

test('a failover looks whether the copy is whole', async () => {
  cluster.answers.blockdev_getmirrorstatus = (_node, [disks]) =>
    disks.map(() => ({ dev_path: '/dev/drbd0', is_degraded: true, ldisk_status: 4 }))
  cluster.answers.blockdev_find = () => ({ dev_path: '/dev/drbd0', is_degraded: true, ldisk_status: 4 })
  await expect(cluster.run('OP_INSTANCE_FAILOVER', { ...name, ignore_ipolicy: false })).rejects.toThrow(
    'Disk 0 is degraded on target node',
  )
})

test('verify-disks tells of disks that must be activated, and takes the lock of their instance', async () => {
  const verify = () => cluster.run('OP_GROUP_VERIFY_DISKS', { group_name: 'default' })
  cluster.answers.drbd_needs_activation = (_node, [disks]) => disks.map(({ uuid }) => uuid)
  expect(await verify()).toMatchObject([{}, ['inst2.gnt.example'], {}])
  expect(cluster.lockRequests.flat()).toContainEqual(['instance/inst2.gnt.example', 'shared'])
  await cluster.run('OP_INSTANCE_SHUTDOWN', name)
  expect(await verify()).toMatchObject([{}, [], {}])
})
