// Exports of instances on logical volumes: they are copied from snapshots while the instance runs.
import type { FakeCluster } from '../../../support/fake-cluster'
import { drbdInstance, plainInstance, storageCluster } from '../../../support/storage-cluster'

const desired = { mode: 'local', target_node: 'node3.gnt.example', shutdown: false }

let cluster: FakeCluster
beforeEach(() => {
  cluster = storageCluster()
})

const volumes = () => [...cluster.world.node('node1.gnt.example').disks.keys()].sort()
const exported = (op: object) => cluster.run('OP_BACKUP_EXPORT', { ...desired, ...op })

test.each([plainInstance, drbdInstance])('%j runs on while it is exported', async (instance) => {
  await cluster.run('OP_INSTANCE_CREATE', { ...instance, disks: [{ size: 64 }] })
  const { instance_name } = instance
  const before = volumes()
  cluster.log.length = 0
  cluster.asked.length = 0
  await expect(exported({ instance_name })).resolves.toEqual([true, [true]])
  expect(cluster.runningOn(instance_name)).toEqual(['node1.gnt.example'])
  expect(cluster.calls('instance_shutdown')).toEqual([])
  expect(cluster.log.filter((line) => /snapshot/i.test(line))).toEqual(
    expect.arrayContaining([
      'Creating a snapshot of disk/0 on node node1.gnt.example',
      'Exporting snapshot/0 from node1.gnt.example to node3.gnt.example',
      'Removing snapshot of disk/0 on node node1.gnt.example',
    ]),
  )
  expect(volumes()).toEqual(before)
})

test.each([false, true])(
  'a mirror whose copy on the primary node is not complete is not exported from snapshots; shut down: %s',
  async (shutdown) => {
    await cluster.run('OP_INSTANCE_CREATE', drbdInstance)
    cluster.answers.blockdev_find = () => ({ dev_path: '/dev/drbd0', is_degraded: true, ldisk_status: 4 })
    cluster.asked.length = 0
    const op = { instance_name: drbdInstance.instance_name, shutdown }
    await expect(exported(op)).rejects.toThrow(
      /^Not all disks could be snapshotted, .*: A snapshot of disk.0 on node node1.gnt.example would lack data/,
    )
    expect([cluster.calls('instance_shutdown'), cluster.calls('blockdev_snapshot')]).toEqual([[], []])
    if (!shutdown) return
    // Copied from the mirror's device, which reads what is missing from the other node.
    await expect(exported({ ...op, long_sleep: true })).resolves.toEqual([true, [true]])
    expect(cluster.calls('blockdev_snapshot')).toEqual([])
  },
)

test('an instance that is stopped for it starts again before its snapshots are copied', async () => {
  await cluster.run('OP_INSTANCE_CREATE', plainInstance)
  cluster.asked.length = 0
  await exported({ instance_name: 'inst1.gnt.example', shutdown: true })
  const steps: readonly string[] = ['instance_shutdown', 'instance_start', 'export_start', 'blockdev_remove']
  const made = cluster.instance('inst1')?.disks.map(() => 'blockdev_snapshot') ?? []
  const removed = made.map(() => 'blockdev_remove')
  expect(cluster.asked.map(({ call }) => call).filter((call) => [...steps, ...made].includes(call))).toEqual([
    ...[...made, ...removed],
    ...['instance_shutdown', ...made, 'instance_start'],
    ...[...made.map(() => 'export_start'), ...removed],
  ])
})

test.each([plainInstance, drbdInstance])('%j is not stopped for an export that would fail', async (instance) => {
  await cluster.run('OP_INSTANCE_CREATE', instance)
  const { instance_name } = instance
  const before = volumes()
  cluster.asked.length = 0
  cluster.answers.blockdev_snapshot = () => {
    throw new Error('no room')
  }
  await expect(exported({ instance_name, shutdown: true })).rejects.toThrow(
    'aborting: Could not snapshot disk/0 on node node1.gnt.example: no room',
  )
  expect(cluster.calls('instance_shutdown')).toEqual([])
  await expect(exported({ instance_name, shutdown: true, long_sleep: true })).resolves.toMatchObject({ 0: true })
  expect(cluster.log).toContain(' - WARNING: Could not snapshot disk/0 on node node1.gnt.example: no room')
  expect(cluster.calls('instance_start')).toHaveLength(1)
  expect(volumes()).toEqual(before)
})

test('where one snapshot fails, the others are removed, and nothing is copied from disks that change', async () => {
  await cluster.run('OP_INSTANCE_CREATE', plainInstance)
  const before = volumes()
  let count = 0
  cluster.answers.blockdev_snapshot = () => {
    if (++count === 2) throw new Error('no room')
    return undefined
  }
  await expect(exported({ instance_name: 'inst1.gnt.example' })).rejects.toThrow(
    'Not all disks could be snapshotted, and you requested a live export; aborting',
  )
  expect(volumes()).toEqual(before)
  expect(cluster.calls('export_start')).toEqual([])
})

test('snapshots go, too, when the copying fails', async () => {
  await cluster.run('OP_INSTANCE_CREATE', plainInstance)
  const before = volumes()
  cluster.answers.export_start = () => {
    throw new Error('no connection')
  }
  await expect(exported({ instance_name: 'inst1.gnt.example' })).rejects.toThrow('Export failed')
  expect(volumes()).toEqual(before)
})
