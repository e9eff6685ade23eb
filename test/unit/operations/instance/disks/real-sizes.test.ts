// Volumes are rounded up to whole extents, and guests use them to their ends: what is made of them is as large as they are.
import type { Disk } from '../../../../../src/model/config'
import { simulatedCluster, type FakeCluster } from '../../../../support/fake-cluster'
import { drbdInstance, plainInstance, storageCluster } from '../../../../support/storage-cluster'

const MODIFY = 'OP_INSTANCE_SET_PARAMS'
const NAME = 'inst1.gnt.example'
const MIB = 2 ** 20
const toDrbd = { instance_name: NAME, disk_template: 'drbd', remote_node: 'node3.gnt.example' }

/** An instance whose disk of 10 MiB has so many. */
async function rounded(real_mib: number, params: object = plainInstance): Promise<FakeCluster> {
  const cluster = storageCluster()
  await cluster.run('OP_INSTANCE_CREATE', { ...params, start: false, disks: [{ size: 10 }] })
  cluster.answers.blockdev_getdimensions = (_node, [disks]) => disks.map(() => [real_mib * MIB, null])
  cluster.asked.length = 0
  cluster.log.length = 0
  return cluster
}

const disks = (cluster: FakeCluster): Disk[] => Object.values(cluster.config.disks)
const TOLD = ' - INFO: Disk 0 has 12 MiB, and not 10 as in the configuration: all of it is kept'

test('a volume that becomes a mirror is attached in its whole size, on both sides', async () => {
  const cluster = await rounded(12)
  await cluster.run(MODIFY, toDrbd)
  expect(disks(cluster).map(({ size, children }) => [size, children[0]?.size])).toEqual([[12, 12]])
  const made = cluster.calls('blockdev_create').map(({ args: [disk, size] }) => [(disk as Disk).dev_type, size])
  expect(made).toEqual([['plain', 128], ['plain', 12], ['plain', 128], ['drbd', 12], ['drbd', 12]]) // prettier-ignore
  expect(cluster.log).toContain(TOLD)
})

test('what is copied finds room for all of it', async () => {
  const cluster = await rounded(12)
  cluster.change('patchCluster', { enabled_disk_templates: ['plain', 'drbd', 'file'] })
  cluster.change('patchCluster', {
    ipolicy: { ...cluster.config.cluster.ipolicy, 'disk-templates': ['plain', 'file'] },
  })
  await cluster.run(MODIFY, { instance_name: NAME, disk_template: 'file' })
  expect(disks(cluster).map(({ dev_type, size }) => [dev_type, size])).toEqual([['file', 12]])
  const [copied] = cluster.calls('blockdev_convert')
  expect(copied?.args).toMatchObject([{ size: 10 }, { size: 12 }])
})

test('a mirror that has grown without the configuration gives its whole data back', async () => {
  const cluster = await rounded(12, drbdInstance)
  await cluster.run(MODIFY, { instance_name: 'inst2.gnt.example', disk_template: 'plain' })
  expect(disks(cluster).map(({ dev_type, size }) => [dev_type, size])).toEqual([['plain', 12]])
})

test.each([
  [
    8,
    'has 8 MiB on node node1.gnt.example, and 10 in the configuration: gnt-cluster repair-disk-sizes records its size',
  ],
  [10.5, 'would cut off the last part of a MiB; gnt-instance grow-disk makes it larger'],
])('a volume of %p MiB is refused as the data of a mirror', async (real_mib, text) => {
  const cluster = await rounded(real_mib)
  await expect(cluster.run(MODIFY, toDrbd)).rejects.toThrow(text)
  expect(cluster.calls('blockdev_create')).toEqual([])
})

test('nothing becomes the data of a mirror whose size nobody tells', async () => {
  const cluster = await rounded(12)
  cluster.answers.blockdev_getdimensions = () => {
    throw new Error('no lvs')
  }
  await expect(cluster.run(MODIFY, toDrbd)).rejects.toThrow(
    'Disk 0 has no size that node node1.gnt.example tells, and a mirror could cut off its end',
  )
  expect(cluster.log).toContain(' - WARNING: Cannot ask node node1.gnt.example how large the disks are: no lvs')
  expect(cluster.calls('blockdev_create')).toEqual([])
})

test('an instance moves with all that its disks have', async () => {
  const cluster = await rounded(12)
  await cluster.run('OP_INSTANCE_MOVE', { instance_name: NAME, target_node: 'node3.gnt.example' })
  expect(cluster.calls('blockdev_create').map(({ args: [, size] }) => size)).toEqual([12])
  expect(disks(cluster).map(({ size }) => size)).toEqual([12])
})

test('a disk that grows is wiped from its real end on', async () => {
  const cluster = await rounded(12)
  cluster.change('patchCluster', { prealloc_wipe_disks: true })
  await cluster.run('OP_INSTANCE_GROW_DISK', { instance_name: NAME, disk: 0, amount: 4 })
  expect(cluster.calls('blockdev_wipe').map(({ args }) => args.slice(1))).toEqual([[12, 1], [13, 1]]) // prettier-ignore
})

test('a volume is wiped to its real end, when it is made and when it grows', async () => {
  const cluster = storageCluster()
  cluster.change('patchCluster', { prealloc_wipe_disks: true })
  cluster.answers.blockdev_getdimensions = (_node, [disks]) =>
    disks.map(({ size }) => [Math.ceil(size / 4) * 4 * MIB, null])
  const wiped = () => cluster.calls('blockdev_wipe').map(({ args: [, offset, size] }) => Number(offset) + Number(size))
  await cluster.run('OP_INSTANCE_CREATE', { ...plainInstance, start: false, disks: [{ size: 10 }] })
  expect(Math.max(...wiped())).toBe(12)
  cluster.asked.length = 0
  await cluster.run('OP_INSTANCE_GROW_DISK', { instance_name: NAME, disk: 0, amount: 3 })
  expect([Math.min(...wiped()), Math.max(...wiped())]).toEqual([13, 16])
})

test('an export says how large its disks are', async () => {
  const cluster = await rounded(12)
  await cluster.run('OP_BACKUP_EXPORT', { instance_name: NAME, target_node: 'node2.gnt.example', shutdown: true })
  expect(cluster.calls('finalize_export')[0]?.args[1]).toMatchObject([{ size: 12 }])
})

test('before an instance is sent to another cluster, its sizes are noted, so that room is made for all of it', async () => {
  const cluster = await rounded(12)
  cluster.files.set('/var/lib/ganeti/cluster-domain-secret', 'the secret\n')
  await cluster.run('OP_BACKUP_PREPARE', { instance_name: NAME, mode: 'remote' })
  expect(disks(cluster).map(({ size }) => size)).toEqual([12])
})

test('sizes that are right change nothing', async () => {
  const cluster = simulatedCluster()
  const before = cluster.config.disks
  await cluster.run('OP_BACKUP_EXPORT', { instance_name: 'inst2', target_node: 'node1.gnt.example', shutdown: true, long_sleep: true }) // prettier-ignore
  expect(cluster.config.disks).toEqual(before)
  expect(cluster.log.join()).not.toContain('as in the configuration')
})
