// Disks that become mirrors and back, and mirrors that are made anew: what fails leaves the data where it was, under its old name.
import { LOCAL_DISK_STATUS } from '../../../../../src/model/constants/disks'
import { drbdId } from '../../../../../src/config/lookup'
import type { CallName } from '../../../../../src/rpc/node/calls'
import type { NamedChange } from '../../../../../src/rpc/wconfd/calls'
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
      expect(cluster.config.cluster.tcpudp_port_pool).toEqual([11001, 11000])
    }
  },
)

describe.each([
  ['done', true],
  ['not done', false],
])('what the daemon of a node was told is %s when it is killed', (_text, done) => {
  test.each(['blockdev_create', 'blockdev_rename'] satisfies CallName[])(
    'whichever %s it is, the disks are as before once it is back',
    async (call) => {
      const whole = await stopped(plainInstance)
      await whole.run(MODIFY, toDrbd)
      for (let killed = 1; killed <= whole.calls(call).length; killed++) {
        const cluster = await stopped(plainInstance)
        const [disks, before] = [cluster.config.disks, everywhere(cluster)]
        killDaemon(cluster, { call, at: killed, done })
        await expect(cluster.run(MODIFY, toDrbd)).rejects.toThrow('hung up')
        expect(cluster.config.disks).toEqual(disks)
        expect(everywhere(cluster)).toEqual(before)
        expect(cluster.log.join()).not.toContain('by hand')
      }
    },
  )
})

describe('the answer to the change of the configuration is lost', () => {
  const isChange = (changes: readonly NamedChange[]) => changes.some(([name]) => name === 'addInstanceDisk')
  const children = (cluster: FakeCluster) =>
    Object.values(cluster.config.disks).flatMap((disk) => disk.children.map(({ logical_id }) => logical_id.join('/')))

  test('disks that become mirrors: the job reads that they are, and goes on', async () => {
    const cluster = await stopped(plainInstance)
    cluster.losesAnswer = isChange
    await cluster.run(MODIFY, toDrbd)
    for (const node of [0, 2]) expect(everywhere(cluster)[node]).toEqual(children(cluster).sort())
  })

  test('disks that become mirrors: while nobody can say whether they are, their data keeps its new name', async () => {
    const cluster = await stopped(plainInstance)
    const [before] = everywhere(cluster)
    cluster.losesAnswer = (changes) => changes.length === 0 || isChange(changes)
    await expect(cluster.run(MODIFY, toDrbd)).rejects.toThrow('stays as it is')
    for (const node of [0, 2]) expect(everywhere(cluster)[node]).toEqual(children(cluster).sort())
    expect(cluster.log.join('\n')).toContain('give the volumes of the disks on node node1.gnt.example their names back')
    expect(before?.length).toBe(children(cluster).length / 2)
  })

  test('mirrors that become plain: the job reads that they are, and removes the other copies', async () => {
    const cluster = await stopped(drbdInstance)
    cluster.losesAnswer = isChange
    await cluster.run(MODIFY, { instance_name: drbdInstance.instance_name, disk_template: 'plain' })
    const disks = Object.values(cluster.config.disks).map(({ logical_id }) => logical_id.join('/'))
    expect(everywhere(cluster)).toEqual([disks.sort(), [], []])
  })
})

/** The daemon that gets this call ends, and answers again after it was asked some times. */
function killDaemon(cluster: FakeCluster, { call, at, done }: { call: CallName; at: number; done: boolean }): void {
  let [reported, silent] = [0, 0]
  let victim: string | undefined
  cluster.losing = (node, name) => {
    if (name === call && ++reported === at) {
      ;[victim, silent] = [node, 2]
      return done ? 'after' : 'before'
    }
    return node === victim && silent-- > 0 ? 'before' : undefined
  }
}

test('a node that does not come back is waited for once', async () => {
  const cluster = await stopped(plainInstance)
  const before = cluster.clock.monotonic_ms()
  let gone = false
  cluster.losing = (node, name) => {
    gone ||= name === 'blockdev_rename'
    return gone && node === 'node1.gnt.example' ? 'before' : undefined
  }
  await expect(cluster.run(MODIFY, toDrbd)).rejects.toThrow('hung up')
  expect(cluster.log.join()).toContain('give the volumes of the disks on node node1.gnt.example their names back')
  expect(cluster.clock.monotonic_ms() - before).toBeLessThan(2 * 60_000)
})

test('data that was part of a mirror before keeps its name', async () => {
  const cluster = await stopped(plainInstance)
  await cluster.run(MODIFY, toDrbd)
  const before = volumesOf(cluster, 'node1')
  await cluster.run(MODIFY, { instance_name: 'inst1.gnt.example', disk_template: 'plain' })
  cluster.asked.length = 0
  await cluster.run(MODIFY, toDrbd)
  expect(volumesOf(cluster, 'node1')).toEqual(before)
  expect(cluster.calls('blockdev_rename')).toEqual([])
  expect(cluster.inconsistencies()).toEqual([])
})

/** As DRBD tells of a copy that is still being made. */
const incomplete = { dev_path: '/dev/drbd0', is_degraded: true, ldisk_status: LOCAL_DISK_STATUS.syncing }

describe('an instance whose copy on the primary node is not complete', () => {
  const plain = { instance_name: 'inst2.gnt.example', disk_template: 'plain' }
  let cluster: FakeCluster
  beforeEach(async () => {
    cluster = await stopped(drbdInstance)
    cluster.answers.blockdev_find = () => incomplete
  })

  test('keeps the copy on the other node, whose deletion would lose data', async () => {
    const [disks, before] = [cluster.config.disks, everywhere(cluster)]
    await expect(cluster.run(MODIFY, plain)).rejects.toThrow(
      'The copies of disk/0 on node node1.gnt.example are not complete, or cannot be looked at, and the other copies would be deleted; ' +
        '"gnt-instance activate-disks --wait-for-sync inst2.gnt.example" completes them from the other node',
    )
    expect([cluster.config.disks, everywhere(cluster)]).toEqual([disks, before])
    expect(cluster.calls('blockdev_shutdown').length).toBeGreaterThan(0)
  })

  test('keeps it when the disks cannot be activated', async () => {
    Object.assign(cluster.answers, {
      blockdev_assemble: () => {
        throw new Error('no metadata')
      },
    })
    const before = everywhere(cluster)
    await expect(cluster.run(MODIFY, plain)).rejects.toThrow('the other copies would be deleted')
    expect(everywhere(cluster)).toEqual(before)
  })

  test('becomes plain when that is forced, with a warning', async () => {
    await cluster.run(MODIFY, { ...plain, force: true })
    expect(volumesOf(cluster, 'node2')).toEqual([])
    expect(cluster.log.join()).toContain('the other copies are deleted nevertheless, because this was forced')
  })
})

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

describe('disks of several templates', () => {
  const NAME = 'inst1.gnt.example'
  /** The second disk is a mirror. */
  async function mixed(): Promise<FakeCluster> {
    const cluster = await stopped({ ...plainInstance, disks: [{ size: 64 }] })
    await cluster.run('OP_INSTANCE_CREATE', { ...drbdInstance, start: false, disks: [{ size: 32 }] })
    const mirror = cluster.instance('inst2')?.disks[0] ?? ''
    await cluster.run(MODIFY, { instance_name: 'inst2.gnt.example', disks: [['detach', 0, {}]] })
    cluster.change('attachInstanceDisk', cluster.instance(NAME)?.uuid, mirror, 1)
    cluster.asked.length = 0
    return cluster
  }
  const templates = (cluster: FakeCluster) =>
    (cluster.instance(NAME)?.disks ?? []).map((uuid) => cluster.config.disks[uuid]?.dev_type)

  test('become those of one, and what is one already stays as it is', async () => {
    const cluster = await mixed()
    const [first, second] = cluster.instance(NAME)?.disks ?? []
    await cluster.run(MODIFY, { instance_name: NAME, disk_template: 'plain' })
    expect(templates(cluster)).toEqual(['plain', 'plain'])
    expect(cluster.instance(NAME)?.disks[0]).toBe(first)
    expect(cluster.instance(NAME)?.disks[1]).not.toBe(second)
    expect(cluster.calls('blockdev_convert')).toHaveLength(1)
    expect(everywhere(cluster).map((volumes) => volumes.length)).toEqual([2, 0, 0])
    expect(cluster.inconsistencies()).toEqual([])
  })

  test('become mirrors on the node that has the others', async () => {
    const cluster = await mixed()
    // No policy allows disks of several templates.
    const desired = { instance_name: NAME, disk_template: 'drbd', ignore_ipolicy: true }
    await expect(cluster.run(MODIFY, { ...desired, remote_node: 'node3.gnt.example' })).rejects.toThrow(
      "Node node2.gnt.example has the mirrors of the instance's other disks: name it as the secondary node",
    )
    await cluster.run(MODIFY, { ...desired, remote_node: 'node2.gnt.example' })
    expect(templates(cluster)).toEqual(['drbd', 'drbd'])
    expect(everywhere(cluster).map((volumes) => volumes.length)).toEqual([4, 4, 0])
    expect(cluster.inconsistencies()).toEqual([])
  })

  test('stay as they are when one cannot be copied', async () => {
    const cluster = await mixed()
    const before = [cluster.config.disks, everywhere(cluster)]
    cluster.answers.blockdev_convert = () => {
      throw new Error('no room')
    }
    await expect(cluster.run(MODIFY, { instance_name: NAME, disk_template: 'plain' })).rejects.toThrow('no room')
    expect([cluster.config.disks, everywhere(cluster)]).toEqual(before)
  })
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

test.each([
  [true, ['node1', 'node3'], false],
  [false, [], true],
])('waiting for the first sync: %p; then new mirrors do not stay active', async (wait_for_sync, nodes, reported) => {
  const cluster = await stopped({ ...plainInstance, disks: [{ size: 64 }] })
  await cluster.run(MODIFY, { ...toDrbd, wait_for_sync })
  const mirrors = cluster.calls('blockdev_shutdown').filter(({ args }) => (args[0] as { dev_type: string }).dev_type === 'drbd') // prettier-ignore
  expect(mirrors.map(({ node }) => node.split('.')[0])).toEqual(nodes)
  expect(cluster.log.join().includes('Not shutting down the new disks')).toBe(reported)
})
