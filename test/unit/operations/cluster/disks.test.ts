// Opcodes that look at all disks of the cluster, or measure them.
import { change } from '../../../../src/config/changes'
import type { Disk } from '../../../../src/model/config'
import { diskUuid, nodeUuid } from '../../../../src/model/ids'
import { buildDisk, buildInstance, buildNode, id, master, smallConfig } from '../../config/builders'
import { FakeCluster } from '../../../support/fake-cluster'

const base = smallConfig()
const node2 = buildNode(base, 2)
const volume = (name: string, size: number): Disk => ({
  ...buildDisk(50, { dev_type: 'plain', logical_id: ['xenvg', name], size, iv_name: '' }),
  uuid: diskUuid(id(name.length + size)),
})
const drbd = buildDisk(1, {
  dev_type: 'drbd',
  logical_id: [master(base).uuid, node2.uuid, 11000, 0, 0, 'secret'],
  nodes: [master(base).uuid, nodeUuid(node2.uuid)],
  children: [volume('data', 128), volume('meta', 64)],
})
const file = buildDisk(2)
const inst1 = buildInstance(base, 1, { disks: [drbd.uuid], disks_active: true, admin_state: 'up' })
const inst2 = buildInstance(base, 2, { disks: [file.uuid] })

const cluster = () =>
  new FakeCluster(base).given(
    change('addNode', node2),
    change('addInstance', inst1, [drbd]),
    change('addInstance', inst2, [file]),
  )

const ACTIVE: [string, boolean, boolean] = ['128.00', false, true]
const verify = (fake: FakeCluster, more = {}) => fake.run('OP_GROUP_VERIFY_DISKS', { group_name: 'default', ...more })

test('disks that are all active need nothing', async () => {
  const fake = cluster()
  fake.answers.lv_list = () => ({ 'xenvg/data': ACTIVE, 'xenvg/meta': ACTIVE })
  fake.answers.drbd_needs_activation = () => []
  expect(await verify(fake)).toEqual([{}, [], {}])
  expect(fake.lockRequests.flat()).toContainEqual(['instance/inst1.example.com', 'shared'])
  expect(fake.lockRequests.flat()).not.toContainEqual(['instance/inst2.example.com', 'shared'])
})

test('inactive volumes, missing volumes, broken mirrors and silent nodes are told', async () => {
  const fake = cluster()
  fake.answers.lv_list = (node) => {
    if (node.name === 'node1.example.com') throw new Error('no lvm')
    return { 'xenvg/data': ['128.00', true, false] }
  }
  fake.answers.drbd_needs_activation = () => [drbd.uuid]
  expect(await verify(fake)).toEqual([
    { 'node1.example.com': 'no lvm' },
    ['inst1.example.com'],
    { 'inst1.example.com': [['node2.example.com', 'xenvg/meta']] },
  ])
})

test('a volume that its machine has activated, but that nobody has open, is inactive', async () => {
  const fake = cluster()
  fake.answers.lv_list = (node) => ({
    'xenvg/data': node.name === 'node2.example.com' ? ['128.00', false, false] : ACTIVE,
    'xenvg/meta': ACTIVE,
  })
  fake.answers.drbd_needs_activation = () => []
  expect(await verify(fake)).toEqual([{}, ['inst1.example.com'], {}])
})

test('only a strict check minds that a node cannot tell of its mirrors', async () => {
  const fake = cluster()
  fake.answers.lv_list = () => ({ 'xenvg/data': ACTIVE, 'xenvg/meta': ACTIVE })
  expect(await verify(fake)).toMatchObject([{ 'node1.example.com': 'no answer to drbd_needs_activation' }, [], {}])
  expect(await verify(fake, { is_strict: false })).toEqual([{}, [], {}])
})

test('sizes that differ are written down, also of the volume below', async () => {
  const fake = cluster()
  fake.answers.blockdev_getdimensions = (_node, [disks]) =>
    disks.map((disk) => (disk.dev_type === 'drbd' ? [256 * 1024 * 1024 + 5, null] : null))
  const rows = await fake.run('OP_CLUSTER_REPAIR_DISK_SIZES', {})
  expect(rows).toEqual([['inst1.example.com', 0, 'size', 256]])
  expect(fake.config.disks[drbd.uuid]).toMatchObject({ size: 256, children: [{ size: 256 }, { size: 64 }] })
  expect(fake.log).toEqual([
    ' - INFO: Disk 0 of instance inst1.example.com has mismatched size, correcting: recorded 128, actual 256',
    ' - INFO: Child disk of disk 0 of instance inst1.example.com is recorded too small, correcting',
    ' - WARNING: Disk 0 of instance inst2.example.com did not return size information, ignoring',
  ])
})

test('only the named instances are measured, and a node that does not answer is passed over', async () => {
  const fake = cluster()
  expect(await fake.run('OP_CLUSTER_REPAIR_DISK_SIZES', { instances: ['inst2'] })).toEqual([])
  expect(fake.calls('blockdev_getdimensions')).toHaveLength(1)
  expect(fake.log[0]).toMatch(/Failure in blockdev_getdimensions call to node node1\.example\.com, ignoring/)
  await expect(fake.run('OP_CLUSTER_REPAIR_DISK_SIZES', { instances: ['nosuch'] })).rejects.toThrow(/nosuch/)
})
