// New disks for mirrors, where something fails half-way: the mirror keeps its old volumes or has its new ones, and nothing is left that
// nobody knows of.
import { drbdId } from '../../../../src/config/lookup'
import type { CallName } from '../../../../src/rpc/node/calls'
import type { NamedChange } from '../../../../src/rpc/wconfd/calls'
import type { FakeCluster } from '../../../support/fake-cluster'
import { drbdInstance, storageCluster } from '../../../support/storage-cluster'

const REPLACE = 'OP_INSTANCE_REPLACE_DISKS'
const op = { instance_name: 'inst2.gnt.example', early_release: false, ignore_ipolicy: false }
const newSecondary = { ...op, mode: 'replace_new_secondary', remote_node: 'node3.gnt.example' }

let cluster: FakeCluster
beforeEach(async () => {
  cluster = await withInstance()
})

async function withInstance(): Promise<FakeCluster> {
  const one = storageCluster()
  await one.run('OP_INSTANCE_CREATE', { ...drbdInstance, disks: [{ size: 128 }, { size: 64 }] })
  one.asked.length = 0
  one.log.length = 0
  return one
}

const volumesOf = (one: FakeCluster, node: string) => [...one.world.node(`${node}.gnt.example`).disks.keys()].sort()
const everywhere = (one: FakeCluster) => ['node1', 'node2', 'node3'].map((node) => volumesOf(one, node))
const named = (one: FakeCluster) =>
  Object.values(one.config.disks).flatMap(({ children }) => children.map(({ logical_id }) => logical_id.join('/')))

/** What changes something on nodes before the configuration names the new side. */
const CHANGES: readonly [mode: string, call: CallName][] = [
  ['replace_on_primary', 'blockdev_create'],
  ['replace_on_primary', 'blockdev_removechildren'],
  ['replace_on_primary', 'blockdev_rename'],
  ['replace_on_primary', 'blockdev_addchildren'],
  ['replace_on_secondary', 'blockdev_create'],
  ['replace_on_secondary', 'blockdev_rename'],
  ['replace_new_secondary', 'blockdev_create'],
  ['replace_new_secondary', 'drbd_disconnect_net'],
]

test('disks of a guest that runs stay active, although they did not count as active', async () => {
  cluster.change('setInstanceStatus', cluster.instance('inst2')?.uuid, null, false, null)
  await cluster.run(REPLACE, { ...op, mode: 'replace_on_secondary' })
  expect(
    cluster.calls('blockdev_shutdown').filter(({ args }) => (args[0] as { dev_type: string }).dev_type === 'drbd'),
  ).toEqual([])
  expect(cluster.instance('inst2')?.disks_active).toBe(true)
})

test.each(CHANGES)('%s: whichever %s fails, the disks are what they were', async (mode, call) => {
  const params = mode === 'replace_new_secondary' ? newSecondary : { ...op, mode }
  await cluster.run(REPLACE, params)
  const times = cluster.calls(call).length
  expect(times).toBeGreaterThan(0)
  for (let failing = 1; failing <= times; failing++) {
    const one = await withInstance()
    const [disks, before] = [one.config.disks, everywhere(one)]
    let count = 0
    const fails = () => {
      // What undoes the failure works again.
      if (++count === failing) throw new Error('the disk is broken')
      return undefined
    }
    Object.assign(one.answers, { [call]: fails })
    await expect(one.run(REPLACE, params)).rejects.toThrow('the disk is broken')
    expect(one.config.disks).toEqual(disks)
    // Disks that were exchanged before the failure have new volumes of the same names, and the log names the old ones.
    const old = everywhere(one).flatMap((node) => node.filter((volume) => volume.includes('_replaced-')))
    for (const volume of old) expect(one.log.join('\n')).toContain(volume)
    expect(everywhere(one).map((node) => node.filter((volume) => !old.includes(volume)))).toEqual(before)
  }
})

describe('the answer to the change of the configuration is lost', () => {
  const isChange = (changes: readonly NamedChange[]) => changes.some(([name]) => name === 'patchDisk')

  test('the job reads that it was made, and goes on', async () => {
    cluster.losesAnswer = isChange
    await cluster.run(REPLACE, newSecondary)
    const { node1, node3 } = { node1: volumesOf(cluster, 'node1'), node3: volumesOf(cluster, 'node3') }
    expect(node1).toEqual(named(cluster).sort())
    expect(node3).toEqual(node1)
    expect(volumesOf(cluster, 'node2')).toEqual([])
    for (const { nodes } of Object.values(cluster.config.disks)) expect(nodes[1]).toBe(cluster.node('node3').uuid)
  })

  test('while nobody can say whether it was made, nothing is undone, and the log names what may be left', async () => {
    cluster.losesAnswer = (changes) => changes.length === 0 || isChange(changes)
    await expect(cluster.run(REPLACE, newSecondary)).rejects.toThrow(
      "INSTANCE_REPLACE_DISKS(inst2.gnt.example) did before stays as it is: 'gnt instance info inst2.gnt.example' shows it",
    )
    for (const node of ['node1', 'node2', 'node3']) expect(volumesOf(cluster, node)).toEqual(named(cluster).sort())
    const reported = cluster.log.find((line) => line.includes('nothing was undone'))
    for (const volume of named(cluster)) expect(reported).toContain(`remove volume ${volume} on node node3.gnt.example`)
  })

  test('what was certainly not made is undone', async () => {
    const before = [cluster.config.disks, everywhere(cluster)]
    cluster.refuses = isChange
    await expect(cluster.run(REPLACE, newSecondary)).rejects.toThrow('did not happen')
    expect([cluster.config.disks, everywhere(cluster)]).toEqual(before)
  })
})

test('verify names a volume that the new node has made when its answer was lost, and how it is removed', async () => {
  const nodes = Object.values(cluster.config.nodes)
  cluster.replicas = nodes.map(({ uuid, name }) => ({ node: uuid, name, state: 'in sync', reason: null }))
  let lost = 0
  cluster.losing = (_node, call) => (call === 'blockdev_create' && lost++ === 0 ? 'after' : undefined)
  await expect(cluster.run(REPLACE, newSecondary)).rejects.toThrow('hung up')
  const [volume, ...others] = volumesOf(cluster, 'node3')
  expect(others).toEqual([])
  cluster.log.length = 0
  await cluster.run('OP_CLUSTER_VERIFY_GROUP', {
    ...{ group_name: 'default', error_codes: true, debug_simulate_errors: false, verbose: false },
    ...{ skip_checks: [], ignore_errors: [], verify_clutter: false },
  })
  expect(cluster.log.filter((line) => line.includes('ENODEORPHANLV'))).toEqual([
    expect.stringContaining(
      `node3.gnt.example:volume ${volume} is unknown; if nobody needs it, remove it there with 'lvremove ${volume}'`,
    ),
  ])
})

test('a mirror that has taken its new volumes, though nobody heard so, gives them back before they lose their names', async () => {
  let lost = 0
  cluster.losing = (_node, call) => (call === 'blockdev_addchildren' && lost++ === 0 ? 'after' : undefined)
  await expect(cluster.run(REPLACE, { ...op, mode: 'replace_on_primary' })).rejects.toThrow('hung up')
  const [taken, ...undone] = cluster.asked
    .filter(({ call }) => /^blockdev_(add|remove)children$|^blockdev_rename$/.test(call))
    .slice(3)
  expect(undone.map(({ call }) => call)).toEqual([
    'blockdev_removechildren',
    'blockdev_rename',
    'blockdev_rename',
    'blockdev_rename',
    'blockdev_rename',
    'blockdev_addchildren',
  ])
  expect(undone[0]?.args).toEqual(taken?.args)
})

test('new volumes that cannot be detached any more keep their names, and nothing is removed', async () => {
  let lost = 0
  cluster.losing = (_node, call) => (call === 'blockdev_addchildren' && lost++ === 0 ? 'after' : undefined)
  let detached = 0
  cluster.answers.blockdev_removechildren = () => {
    if (++detached > 1) throw new Error('the mirror keeps its volumes')
    return undefined
  }
  await expect(cluster.run(REPLACE, { ...op, mode: 'replace_on_primary' })).rejects.toThrow('hung up')
  const calls = cluster.asked.map(({ call }) => call)
  const after = calls.slice(calls.indexOf('blockdev_addchildren') + 1)
  expect(after.filter((call) => /rename|remove$|addchildren/.test(call))).toEqual([])
  // The configuration names the volumes that the mirror has.
  expect(volumesOf(cluster, 'node1')).toEqual(expect.arrayContaining(named(cluster)))
  const log = cluster.log.join('\n')
  expect(log).toMatch(/Could not detach the new volumes of disk\/0 on node node1\S*: .*the mirror keeps its volumes/)
  expect(log).toMatch(/nobody tried to take the names from the new volumes of disk\/0 on node node1/)
})

test('a new side that cannot be connected is in the configuration, and activating the disks connects it', async () => {
  cluster.answers.drbd_attach_net = () => {
    throw new Error('connection refused')
  }
  const before = volumesOf(cluster, 'node2')
  await expect(cluster.run(REPLACE, newSecondary)).rejects.toThrow('gnt-instance activate-disks')
  expect(volumesOf(cluster, 'node2')).toEqual(before)
  const kept = cluster.log.filter((line) => line.includes('The old volumes stay on node node2.gnt.example'))
  expect(before.filter((volume) => !kept.join().includes(volume))).toEqual([])
  const ids = Object.values(cluster.config.disks).flatMap((disk) => drbdId(disk) ?? [])
  expect(ids.map(({ nodeB }) => nodeB)).toEqual([cluster.node('node3').uuid, cluster.node('node3').uuid])
  expect(volumesOf(cluster, 'node3')).toEqual(named(cluster).sort())
  expect(cluster.inconsistencies()).toEqual([])
})

test('the new secondary gets minors of its own, and the old node keeps nothing', async () => {
  await cluster.run('OP_INSTANCE_CREATE', {
    ...drbdInstance,
    instance_name: 'inst3.gnt.example',
    pnode: 'node3.gnt.example',
  })
  await cluster.run(REPLACE, newSecondary)
  const moved = cluster
    .instance('inst2')
    ?.disks.flatMap((uuid) => cluster.config.disks[uuid] ?? [])
    .flatMap((disk) => drbdId(disk) ?? [])
  expect(moved?.map(({ minorA, minorB }) => [minorA, minorB])).toEqual([
    [0, 1],
    [1, 2],
  ])
  expect(volumesOf(cluster, 'node2').every((volume) => volumesOf(cluster, 'node3').includes(volume))).toBe(true)
  expect(cluster.inconsistencies()).toEqual([])
})

test('degraded disks after the sync keep their old volumes, which the log names', async () => {
  let synced = false
  cluster.answers.blockdev_getmirrorstatus = () => void (synced = true)
  cluster.answers.blockdev_find = () =>
    synced ? { dev_path: '/dev/drbd0', is_degraded: true, ldisk_status: 1 } : undefined
  await expect(cluster.run(REPLACE, { ...op, mode: 'replace_on_secondary', disks: [1] })).rejects.toThrow(
    'DRBD device disk/1 is degraded!',
  )
  const kept = volumesOf(cluster, 'node2').filter((volume) => volume.includes('_replaced-'))
  expect(kept).toHaveLength(2)
  for (const volume of kept) expect(cluster.log.join('\n')).toContain(volume)
})

test('early release removes the old volumes before the new ones are in sync', async () => {
  await cluster.run(REPLACE, { ...newSecondary, early_release: true })
  const calls = cluster.asked.map(({ call }) => call)
  expect(calls.indexOf('blockdev_remove')).toBeLessThan(calls.indexOf('blockdev_getmirrorstatus'))
  expect(cluster.log).toEqual(expect.arrayContaining(['STEP 5/6 Removing old storage', 'STEP 6/6 Sync devices']))
  expect(volumesOf(cluster, 'node2')).toEqual([])
})

test('an old secondary that is offline is left alone, and so are its volumes', async () => {
  cluster.given(['patchNode', cluster.node('node2').uuid, { offline: true }])
  cluster.answers.blockdev_remove = () => {
    throw new Error('Node is marked offline')
  }
  cluster.answers.blockdev_shutdown = () => {
    throw new Error('Node is marked offline')
  }
  await cluster.run(REPLACE, newSecondary)
  expect(cluster.log.join('\n')).toContain(
    'Old secondary node2.gnt.example is offline, automatically enabling early-release mode',
  )
  expect(cluster.log.join('\n')).toContain("Can't remove old LV")
  expect(volumesOf(cluster, 'node3')).toEqual(named(cluster).sort())
})

describe('by itself', () => {
  const broken = (nodes: readonly string[]) => {
    cluster.answers.blockdev_getmirrorstatus = ({ name }, [disks]) =>
      disks.map((_disk, index) => {
        const faulty = nodes.includes(name.split('.')[0] ?? '') && index === 1
        return {
          dev_path: '/dev/drbd0',
          is_degraded: faulty,
          ldisk_status: faulty ? 4 : 1,
          ...(faulty && { sync_percent: undefined }),
        }
      })
  }

  test('a disk that has lost its data on the secondary gets new volumes there', async () => {
    broken(['node2'])
    await cluster.run(REPLACE, { ...op, mode: 'replace_auto' })
    expect(cluster.log).toContain("Replacing disk(s) 1 for instance 'inst2.gnt.example'")
    expect(cluster.calls('blockdev_addchildren').map(({ node }) => node)).toEqual(['node2.gnt.example'])
  })

  test('a primary that has lost its data, with the volumes, gets new ones there and reads from the other side meanwhile', async () => {
    broken(['node1'])
    const [, disk] = Object.values(cluster.config.disks).toSorted((a, b) => a.iv_name.localeCompare(b.iv_name))
    const lost = disk?.children.map(({ logical_id }) => logical_id.join('/')) ?? []
    for (const volume of lost) cluster.world.node('node1.gnt.example').disks.delete(volume)
    // Its device is there all the same.
    const device = { dev_path: '/dev/drbd1', is_degraded: true, ldisk_status: 4 }
    const isMended = () => cluster.calls('blockdev_addchildren').length > 0
    cluster.answers.blockdev_find = ({ name }, [{ dev_type }]) =>
      dev_type === 'drbd' && name === 'node1.gnt.example' && !isMended() ? device : undefined
    cluster.answers.blockdev_removechildren = () => null
    await cluster.run(REPLACE, { ...op, mode: 'replace_auto' })
    expect(cluster.log).toContain("Replacing disk(s) 1 for instance 'inst2.gnt.example'")
    expect(cluster.calls('blockdev_addchildren').map(({ node }) => node)).toEqual(['node1.gnt.example'])
    expect(volumesOf(cluster, 'node1')).toEqual(expect.arrayContaining(lost))
    expect(cluster.inconsistencies()).toEqual([])
  })

  test('disks that are broken on both sides are not touched', async () => {
    broken(['node1', 'node2'])
    await expect(cluster.run(REPLACE, { ...op, mode: 'replace_auto' })).rejects.toThrow(
      'has faulty disks on more than one node and can not be repaired automatically',
    )
    expect(cluster.calls('blockdev_create')).toEqual([])
  })

  test('disks that are not active are to be activated first', async () => {
    cluster.answers.blockdev_find = () => null
    await expect(cluster.run(REPLACE, { ...op, mode: 'replace_auto' })).rejects.toThrow('Please run activate-disks')
  })
})

test.each([
  [{ mode: 'replace_new_secondary' }, 'A new secondary node is either named or chosen by an allocator'],
  [{ mode: 'replace_on_primary', remote_node: 'node3' }, 'for a change of the secondary node only'],
  [{ mode: 'replace_auto', disks: [0] }, 'Cannot specify disks to be replaced'],
  [{ ...newSecondary, remote_node: 'node1' }, 'The specified node is the primary node of the instance'],
  [{ ...newSecondary, remote_node: 'node2' }, 'already the secondary node of the instance'],
  [{ mode: 'replace_on_primary', disks: [2] }, 'Invalid disk index: 2 (instance has disks 0 to 1)'],
])('%j is refused', async (params, text) => {
  await expect(cluster.run(REPLACE, { ...op, ...params })).rejects.toThrow(text)
})

test('wherever its job is killed, the configuration is whole and names volumes that exist', async () => {
  for (const params of [newSecondary, { ...op, mode: 'replace_on_primary' }])
    for (let after = 1; ; after++) {
      const one = storageCluster()
      await one.run('OP_INSTANCE_CREATE', drbdInstance)
      one.asked.length = 0
      const killed = await one.runUntilKilled(REPLACE, params, after)
      expect(one.inconsistencies()).toEqual([])
      const [disk] = Object.values(one.config.disks)
      const id = disk && drbdId(disk)
      const whole = Object.values(one.config.nodes).filter(({ name }) =>
        named(one).every((volume) => one.world.node(name).disks.has(volume)),
      )
      // The side that is not being replaced has all data.
      expect(whole.some(({ uuid }) => uuid === id?.nodeA || uuid === id?.nodeB)).toBe(true)
      if (!killed) break
    }
})
