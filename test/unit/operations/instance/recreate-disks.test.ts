// Disks that are made anew: for an instance whose start has failed, with other spindles, and of every template on other nodes.
import type { FakeCluster } from '../../../support/fake-cluster'
import { plainInstance, storageCluster } from '../../../support/storage-cluster'

const RECREATE = 'OP_INSTANCE_RECREATE_DISKS'
const PLAIN = plainInstance.instance_name

let cluster: FakeCluster
beforeEach(async () => {
  cluster = storageCluster()
  await cluster.run('OP_INSTANCE_CREATE', plainInstance)
})

const lose = () => cluster.world.node('node1.gnt.example').disks.clear()

async function failToStart(): Promise<void> {
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: PLAIN })
  lose()
  await expect(cluster.run('OP_INSTANCE_STARTUP', { instance_name: PLAIN })).rejects.toThrow()
  cluster.log.length = 0
}

test('an instance whose start has failed gets new disks, and is not started with them by itself', async () => {
  await failToStart()
  expect(cluster.instance(PLAIN)?.admin_state).toBe('up')
  await cluster.run(RECREATE, { instance_name: PLAIN })
  expect(cluster.world.node('node1.gnt.example').disks.size).toBe(2)
  expect(cluster.instance(PLAIN)?.admin_state).toBe('down')
  expect(cluster.log).toContain(
    ` - INFO: Instance ${PLAIN} is marked to be up, but does not run: it is marked down, as its disks will be empty`,
  )
  await cluster.run('OP_INSTANCE_STARTUP', { instance_name: PLAIN })
  expect(cluster.runningOn(PLAIN)).toEqual(['node1.gnt.example'])
})

test('one that runs keeps its disks', async () => {
  await expect(cluster.run(RECREATE, { instance_name: PLAIN })).rejects.toThrow(
    `Instance ${PLAIN} is running, cannot recreate disks`,
  )
  expect(cluster.instance(PLAIN)?.admin_state).toBe('up')
})

test('when they cannot be made, the instance is as it was', async () => {
  await failToStart()
  cluster.answers.blockdev_create = () => {
    throw new Error('no room')
  }
  await expect(cluster.run(RECREATE, { instance_name: PLAIN })).rejects.toThrow('no room')
  expect(cluster.instance(PLAIN)?.admin_state).toBe('up')
})

test('spindles are changed where nodes count them, and nowhere else', async () => {
  await failToStart()
  const op = { instance_name: PLAIN, disks: [[0, { spindles: 2 }]] }
  await expect(cluster.run(RECREATE, op)).rejects.toThrow(
    'Spindles in instance disks cannot be specified when exclusive storage is not active',
  )
  cluster.change('patchNodeGroup', cluster.groupNamed('default').uuid, { ndparams: { exclusive_storage: true } })
  await cluster.run(RECREATE, op)
  const [first] = cluster.instance(PLAIN)?.disks ?? []
  expect(Object.values(cluster.config.disks).find(({ uuid }) => uuid === first)?.spindles).toBe(2)
})

describe('on a node of another group', () => {
  /** Disks there are in stripes, and have whole physical volumes. */
  beforeEach(() => {
    const group = cluster.addGroup('rack2')
    const params = { ndparams: { exclusive_storage: true }, diskparams: { plain: { stripes: 3 } } }
    cluster.change('patchNodeGroup', group, params)
    cluster.change('patchNode', cluster.node('node3').uuid, { group })
  })

  const made = () =>
    cluster
      .calls('blockdev_create')
      .filter(({ node }) => node === 'node3.gnt.example')
      .map(({ args: [disk, , , , , exclusive] }) => [(disk as { params: object }).params, exclusive])
  const AS_THERE = Array.from({ length: 2 }, () => [{ stripes: 3 }, true])

  test('they are made as disks there are', async () => {
    await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: PLAIN })
    lose()
    await cluster.run(RECREATE, { instance_name: PLAIN, nodes: ['node3.gnt.example'] })
    expect(made()).toEqual(AS_THERE)
  })

  test('so are those of an instance that moves there', async () => {
    await cluster.run('OP_INSTANCE_MOVE', { instance_name: PLAIN, target_node: 'node3.gnt.example' })
    expect(made()).toEqual(AS_THERE)
  })
})

test('an image of storage that all nodes reach stays in its pool, and its instance goes to the node that is named', async () => {
  const rbd = cluster.addInstance('rbd1', 'node1')
  cluster.addRbdDisk(rbd.uuid)
  cluster.answers.blockdev_create = (_node, [disk]) => [...(disk.logical_id ?? [])]
  cluster.change('patchNode', cluster.node('node1').uuid, { offline: true, master_candidate: false })
  await cluster.run(RECREATE, { instance_name: 'rbd1', nodes: ['node3.gnt.example'] })
  expect(cluster.instance('rbd1')?.primary_node).toBe(cluster.node('node3').uuid)
  expect(cluster.calls('blockdev_create').at(-1)).toMatchObject({ node: 'node3.gnt.example' })
})
