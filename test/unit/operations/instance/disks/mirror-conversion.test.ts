// Disks that become mirrors and back, and mirrors that are made anew: what fails leaves the data where it was, under its old name.
import { drbdId } from '../../../../../src/config/lookup'
import type { CallName } from '../../../../../src/rpc/node/calls'
import type { FakeCluster } from '../../../../support/fake-cluster'
import { drbdInstance, plainInstance, storageCluster } from '../../../../support/storage-cluster'

const MODIFY = 'OP_INSTANCE_SET_PARAMS'
const RECREATE = 'OP_INSTANCE_RECREATE_DISKS'
const toDrbd = { instance_name: 'inst1.gnt.example', disk_template: 'drbd', remote_node: 'node3.gnt.example' }

const NODES = ['node1', 'node2', 'node3'] as const
const volumesOf = (one: FakeCluster, node: string) => [...one.world.node(`${node}.gnt.example`).disks.keys()].sort()
const everywhere = (one: FakeCluster) => NODES.map((node) => volumesOf(one, node))

async function stopped(params: object): Promise<FakeCluster> {
  const one = storageCluster()
  await one.run('OP_INSTANCE_CREATE', { start: false, ...params })
  one.asked.length = 0
  return one
}

test.each(['blockdev_create', 'blockdev_rename'] satisfies CallName[])(
  'whichever %s fails, an instance that was to become mirrored has its disks as before',
  async (call) => {
    const whole = await stopped(plainInstance)
    await whole.run(MODIFY, toDrbd)
    const times = whole.calls(call).length
    expect(times).toBeGreaterThan(0)
    for (let failing = 1; failing <= times; failing++) {
      const cluster = await stopped(plainInstance)
      const [disks, before] = [cluster.config.disks, everywhere(cluster)]
      let count = 0
      const fails = () => {
        if (++count === failing) throw new Error('no space left')
        return undefined
      }
      Object.assign(cluster.answers, { [call]: fails })
      await expect(cluster.run(MODIFY, toDrbd)).rejects.toThrow('no space left')
      expect(cluster.config.disks).toEqual(disks)
      expect(everywhere(cluster)).toEqual(before)
      expect(cluster.config.cluster.tcpudp_port_pool).toEqual([11000, 11001])
    }
  },
)

test('the allocator chooses the other side', async () => {
  const cluster = await stopped(plainInstance)
  await cluster.run(MODIFY, { ...toDrbd, remote_node: undefined, iallocator: 'hail' })
  const [id] = Object.values(cluster.config.disks).flatMap((disk) => drbdId(disk) ?? [])
  expect([cluster.node('node2').uuid, cluster.node('node3').uuid]).toContain(id?.nodeB)
  expect(cluster.inconsistencies()).toEqual([])
})

test('volumes stay in their groups', async () => {
  const cluster = await stopped({ ...plainInstance, disks: [{ size: 64, vg: 'fast' }] })
  await cluster.run(MODIFY, toDrbd)
  const groups = Object.values(cluster.config.disks).map(({ children }) => children.map(({ logical_id: [vg] }) => vg))
  expect(groups).toEqual([['fast', 'xenvg']])
})

test.each([
  [{ remote_node: undefined }, 'requires specifying a secondary node or an allocator'],
  [{ remote_node: 'node1.gnt.example' }, 'is the same as the primary node of the instance'],
  [{ iallocator: 'hail' }, 'Do not specify both'],
  [{ disk_template: 'plain' }, 'Instance already has disk template plain'],
])('%j is refused', async (params, text) => {
  const cluster = await stopped(plainInstance)
  await expect(cluster.run(MODIFY, { ...toDrbd, ...params })).rejects.toThrow(text)
  expect(cluster.calls('blockdev_create')).toEqual([])
})

test('back to one side, the data stays and all else goes', async () => {
  const cluster = await stopped(drbdInstance)
  const [disk] = Object.values(cluster.config.disks)
  await cluster.run(MODIFY, { instance_name: 'inst2.gnt.example', disk_template: 'plain' })
  expect(everywhere(cluster)).toEqual([[disk?.children[0]?.logical_id.join('/')], [], []])
  expect(cluster.config.cluster.tcpudp_port_pool).toEqual([11000])
  expect(cluster.inconsistencies()).toEqual([])
})

describe('mirrors that are made anew', () => {
  const lose = (cluster: FakeCluster, nodes: readonly string[]) =>
    nodes.forEach((node) => cluster.world.node(`${node}.gnt.example`).disks.clear())

  test('have their volumes again on both nodes', async () => {
    const cluster = await stopped(drbdInstance)
    const before = everywhere(cluster)
    lose(cluster, ['node1', 'node2'])
    await cluster.run(RECREATE, { instance_name: 'inst2.gnt.example', disks: [[0, { size: 256 }]] })
    expect(everywhere(cluster)).toEqual(before)
    const [disk] = Object.values(cluster.config.disks)
    expect([disk?.size, ...(disk?.children.map(({ size }) => size) ?? [])]).toEqual([256, 256, 128])
  })

  test('keep what one node still has, and leave nothing new when that is in the way', async () => {
    const cluster = await stopped(drbdInstance)
    lose(cluster, ['node1'])
    const before = everywhere(cluster)
    await expect(cluster.run(RECREATE, { instance_name: 'inst2.gnt.example' })).rejects.toThrow('File exists')
    expect(everywhere(cluster)).toEqual(before)
  })

  test.each([
    [{ nodes: ['node3.gnt.example', 'node2.gnt.example'] }, ['node3', 'node2']],
    [{ iallocator: 'hail' }, undefined],
  ])('can be on other nodes: %j', async (where, expected) => {
    const cluster = await stopped(drbdInstance)
    lose(cluster, NODES)
    await cluster.run(RECREATE, { instance_name: 'inst2.gnt.example', ...where })
    const [disk] = Object.values(cluster.config.disks)
    const id = disk && drbdId(disk)
    const uuids = [id?.nodeA, id?.nodeB]
    if (expected !== undefined) expect(uuids).toEqual(expected.map((name) => cluster.node(name).uuid))
    expect(cluster.instance('inst2')?.primary_node).toBe(id?.nodeA)
    for (const { uuid, name } of Object.values(cluster.config.nodes))
      expect(cluster.world.node(name).disks.size).toBe(uuids.includes(uuid) ? 2 : 0)
    expect(cluster.inconsistencies()).toEqual([])
  })
})
