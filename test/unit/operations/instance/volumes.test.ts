// What can go wrong with instances on logical volumes and DRBD: nothing is left behind, and nothing is deleted that was there before.
import { drbdId } from '../../../../src/config/lookup'
import type { FakeCluster } from '../../../support/fake-cluster'
import { drbdInstance, plainInstance, storageCluster } from '../../../support/storage-cluster'

const CREATE = 'OP_INSTANCE_CREATE'
const REMOVE = 'OP_INSTANCE_REMOVE'

let cluster: FakeCluster
beforeEach(() => {
  cluster = storageCluster()
})

const ports = () => [cluster.config.cluster.highest_used_port, cluster.config.cluster.tcpudp_port_pool]

test.each([
  ['blockdev_create', 1],
  ['blockdev_create', 3],
  ['blockdev_create', 5],
  ['blockdev_create', 6],
] as const)('when %s fails the %d. time, nothing of a mirrored instance is left', async (call, which) => {
  let count = 0
  cluster.answers[call] = () => {
    if (++count === which) throw new Error('no space left')
    return undefined
  }
  await expect(cluster.run(CREATE, drbdInstance)).rejects.toThrow('no space left')
  expect(cluster.diskFiles()).toEqual([])
  expect(cluster.config.instances).toEqual({})
  expect(cluster.config.disks).toEqual({})
  expect(ports()).toEqual([11000, [11000]])
})

test.each([1, 2])(
  'when the answer to the %d. addition is lost, which was made, nothing of the instance is left',
  async (which) => {
    let count = 0
    cluster.losesAnswer = (changes) => changes.some(([name]) => name === 'addInstance') && ++count === which
    await expect(cluster.run(CREATE, drbdInstance)).rejects.toThrow('closed the connection')
    expect(count).toBe(which)
    expect(cluster.diskFiles()).toEqual([])
    expect(cluster.config.instances).toEqual({})
    expect(cluster.config.disks).toEqual({})
    expect(ports()).toEqual([11000, [11000]])
  },
)

test('a mirror that does not become whole takes the instance with it', async () => {
  cluster.answers.blockdev_getmirrorstatus = (_node, [disks]) =>
    disks.map(() => ({ dev_path: '/dev/drbd0', is_degraded: true, ldisk_status: 1 }))
  await expect(cluster.run(CREATE, drbdInstance)).rejects.toThrow('degraded disks')
  expect(cluster.diskFiles()).toEqual([])
  expect(cluster.config.instances).toEqual({})
})

test('disks that are active but degraded stay noted as active, so that verify tells of them', async () => {
  await cluster.run(CREATE, { ...drbdInstance, start: false })
  const [instance] = Object.values(cluster.config.instances)
  const activate = { instance_name: instance?.name, wait_for_sync: true }
  cluster.answers.blockdev_getmirrorstatus = (_node, [disks]) =>
    disks.map(() => ({ dev_path: '/dev/drbd0', is_degraded: true, ldisk_status: 4 }))
  await expect(cluster.run('OP_INSTANCE_ACTIVATE_DISKS', activate)).rejects.toThrow(
    `They stay active; "gnt-instance repair ${instance?.name}" mends them`,
  )
  expect(Object.values(cluster.config.instances).map((one) => one.disks_active)).toEqual([true])
})

test('who does not want to wait gets a mirror that is being filled, and the scripts have the disk for themselves', async () => {
  cluster.answers.blockdev_getmirrorstatus = (_node, [disks]) =>
    disks.map(() => ({
      dev_path: '/dev/drbd0',
      is_degraded: true,
      ldisk_status: 1,
      sync_percent: 3,
      estimated_time: 90,
    }))
  await cluster.run(CREATE, { ...drbdInstance, wait_for_sync: false })
  const calls = cluster.asked.map(({ call }) => call)
  expect(calls.filter((call) => /pause|os_add/.test(call))).toEqual([
    'blockdev_pause_resume_sync',
    'instance_os_add',
    'blockdev_pause_resume_sync',
  ])
  expect(cluster.log).toContain('* checking mirrors status')
  expect(cluster.log).toContain(' - INFO: - device disk/0:  3.00% done, 1m 30s remaining (estimated)')
})

test('a sync that ends long before its estimate is noticed soon; a line tells of it once a minute', async () => {
  const done = { dev_path: '/dev/drbd0', is_degraded: false, ldisk_status: 1 }
  let probes = 0
  cluster.answers.blockdev_getmirrorstatus = (_node, [disks]) =>
    disks.map(() => (++probes > 14 ? done : { ...done, is_degraded: true, sync_percent: 3, estimated_time: 3600 }))
  await cluster.run(CREATE, drbdInstance)
  // Looked at every five seconds for seventy.
  expect(cluster.log.filter((line) => line.includes('% done'))).toHaveLength(2)
  expect(probes).toBeLessThan(20)
})

test('wherever its job is killed, removing a mirrored instance leaves nothing on the nodes', async () => {
  for (let after = 1; ; after++) {
    const one = storageCluster()
    const killed = await one.runUntilKilled(CREATE, drbdInstance, after)
    one.asked.length = 0
    if (one.instance('inst2') === undefined) expect(one.diskFiles()).toEqual([])
    else await one.run(REMOVE, { instance_name: 'inst2.gnt.example', ignore_failures: true })
    expect(one.diskFiles()).toEqual([])
    expect(one.config.disks).toEqual({})
    if (!killed) return
  }
})

test('a mirror that grows on one node only says where its storage stays larger', async () => {
  await cluster.run(CREATE, drbdInstance)
  const before = Object.values(cluster.config.disks).map(({ size }) => size)
  const grow = (isLast: (dryRun: boolean, backing: boolean, node: string) => boolean) => {
    cluster.log.length = 0
    cluster.answers.blockdev_grow = ({ name }, [, , dryRun, backing]) => {
      if (isLast(dryRun, backing, name)) throw new Error('cable cut')
      return null
    }
    const op = { instance_name: drbdInstance.instance_name, disk: 0, amount: 64 }
    return expect(cluster.run('OP_INSTANCE_GROW_DISK', op)).rejects
  }
  const reported = () => cluster.log.filter((line) => line.includes('stays larger'))
  await grow((dryRun, _backing, node) => dryRun && node === drbdInstance.snode).toThrow('cable cut')
  expect(reported()).toEqual([])
  await grow((dryRun, _backing, node) => !dryRun && node === drbdInstance.snode).toThrow('cable cut')
  expect(reported()).toEqual([
    ' - WARNING: The storage of disk/0 stays larger by 64M on node1.gnt.example, because it does not shrink',
  ])
  await grow((_dryRun, backing) => !backing).toThrow('cable cut')
  expect(reported()).toEqual([
    ' - WARNING: The storage of disk/0 stays larger by 64M on node1.gnt.example, node2.gnt.example, because it does not shrink',
  ])
  expect(Object.values(cluster.config.disks).map(({ size }) => size)).toEqual(before)
})

test('a second mirror on the same nodes gets minors, a port and a secret of its own', async () => {
  await cluster.run(CREATE, drbdInstance)
  await cluster.run(CREATE, {
    ...drbdInstance,
    instance_name: 'inst3.gnt.example',
    disks: [{ size: 16 }, { size: 16 }],
  })
  const ids = Object.values(cluster.config.disks).flatMap((disk) => drbdId(disk) ?? [])
  expect(ids.map(({ port }) => port).sort()).toEqual([11000, 11001, 11002])
  expect(ids.map(({ minorA, minorB }) => [minorA, minorB]).sort()).toEqual([
    [0, 0],
    [1, 1],
    [2, 2],
  ])
  expect(new Set(ids.map(({ secret }) => secret)).size).toBe(3)
  expect(cluster.inconsistencies()).toEqual([])
})

describe('volume groups', () => {
  test('data and metadata can be in groups of their own', async () => {
    await cluster.run(CREATE, { ...drbdInstance, disks: [{ size: 64, vg: 'fast', metavg: 'slow' }] })
    const [disk] = Object.values(cluster.config.disks)
    expect(disk?.children.map(({ logical_id: [vg], size }) => [vg, size])).toEqual([
      ['fast', 64],
      ['slow', 128],
    ])
  })

  test('metadata is by default in the group that the diskparams of the node group name', async () => {
    const group = cluster.groupNamed('default')
    cluster.given(['patchNodeGroup', group.uuid, { diskparams: { drbd: { metavg: 'meta', 'data-stripes': 2 } } }])
    await cluster.run(CREATE, drbdInstance)
    const made = cluster
      .calls('blockdev_create')
      .filter(({ node }) => node === drbdInstance.pnode)
      .map(({ args: [disk] }) => disk as { logical_id: unknown[]; params: object })
    expect(made.slice(0, 2).map(({ logical_id: [vg], params }) => [vg, params])).toEqual([
      ['xenvg', { stripes: 2 }],
      ['meta', { stripes: 1 }],
    ])
  })

  test.each([
    [{ ...drbdInstance, snode: undefined }, 'The networked disk templates need a mirror node'],
    [{ ...drbdInstance, snode: 'node1.gnt.example' }, 'The secondary node cannot be the primary node'],
    [{ ...plainInstance, disks: [{ size: 9, metavg: 'xenvg' }] }, "Disks of template 'plain' have no 'metavg'"],
    [{ ...plainInstance, disks: [{ size: 9, spindles: 1 }] }, 'when exclusive storage is not active'],
    [{ ...drbdInstance, disks: [{ size: 9, adopt: 'mine' }] }, "not supported for the 'drbd' disk template"],
  ])('%j is refused', async (op, text) => {
    await expect(cluster.run(CREATE, op)).rejects.toThrow(text)
    expect(cluster.calls('blockdev_create')).toEqual([])
  })

  test('a group without room, or that a node does not have, is refused before anything is made', async () => {
    cluster.answers.node_info = ({ name }, [units]) =>
      units === null || units.length === 0
        ? undefined
        : [
            'boot',
            [{ type: 'lvm-vg', name: 'xenvg', storage_free: name.startsWith('node2') ? 255 : 999, storage_size: 999 }],
            [],
          ]
    await expect(cluster.run(CREATE, drbdInstance)).rejects.toThrow(
      'Not enough disk space on target node node2.gnt.example vg xenvg: required 256 MiB, available 255 MiB; remove what is not needed there, extend the group with vgextend',
    )
    cluster.answers.node_info = (_node, [units]) =>
      units === null || units.length === 0
        ? undefined
        : ['boot', [{ type: 'lvm-vg', name: 'xenvg', storage_free: null, storage_size: null }], []]
    await expect(cluster.run(CREATE, plainInstance)).rejects.toThrow(
      'on node node1.gnt.example for vg xenvg: if "vgs" does not list that volume group there, make it with vgcreate',
    )
    expect(cluster.calls('blockdev_create')).toEqual([])
  })

  test('without a volume group of the cluster there are no such instances', async () => {
    cluster.given(['patchCluster', { volume_group_name: null }])
    await expect(cluster.run(CREATE, plainInstance)).rejects.toThrow('Cluster does not support lvm-based instances')
  })

  test('with exclusive storage, spindles are asked for and kept', async () => {
    const { uuid } = cluster.node('node1')
    cluster.given(['patchNode', uuid, { ndparams: { exclusive_storage: true } }])
    await expect(cluster.run(CREATE, plainInstance)).rejects.toThrow('You must specify spindles')
    await expect(cluster.run(CREATE, drbdInstance)).rejects.toThrow('drbd not supported with exclusive storage')
    await cluster.run(CREATE, { ...plainInstance, disks: [{ size: 64, spindles: 2 }] })
    expect(Object.values(cluster.config.disks)).toMatchObject([{ spindles: 2 }])
    expect(cluster.calls('blockdev_create')[0]?.args[5]).toBe(true)
  })
})

describe('adoption', () => {
  const adopting = { ...plainInstance, disks: [{ size: 0, adopt: 'mine' }] }
  const volumes = () => [...cluster.world.node('node1.gnt.example').disks.keys()]

  beforeEach(() => {
    cluster.answers.lv_list = () => ({ 'xenvg/mine': ['48.00', false, false], 'xenvg/busy': ['48.00', false, true] })
    cluster.world
      .node('node1.gnt.example')
      .disks.set('xenvg/mine', { size: 48, dev_type: 'plain', logical_id: ['xenvg', 'mine'] })
  })

  test('gives a volume the name of a disk, wipes nothing, and installs nothing over what is there', async () => {
    cluster.given(['patchCluster', { prealloc_wipe_disks: true }])
    await cluster.run(CREATE, adopting)
    const [disk] = Object.values(cluster.config.disks)
    expect(disk).toMatchObject({ size: 48, params: {}, dev_type: 'plain' })
    expect(volumes()).toEqual([disk?.logical_id.join('/')])
    expect(cluster.calls('blockdev_setinfo').map(({ args }) => args[1])).toEqual(['originstname+inst1.gnt.example'])
    for (const call of ['blockdev_wipe', 'blockdev_create', 'instance_os_add'] as const)
      expect(cluster.calls(call)).toEqual([])
  })

  test.each([
    [[{ adopt: 'busy' }], 'Online logical volumes found, cannot adopt: xenvg/busy'],
    [[{ adopt: 'lost' }], 'Missing logical volume(s): xenvg/lost'],
    [[{ adopt: 'mine' }, { adopt: 'mine' }], 'Duplicate volume names given for adoption'],
    [[{ adopt: 'mine' }, { size: 9 }], 'Either all disks are adopted or none is'],
  ])('%j is refused', async (disks, text) => {
    await expect(cluster.run(CREATE, { ...adopting, disks })).rejects.toThrow(text)
    expect(volumes()).toEqual(['xenvg/mine'])
  })

  test('one that fails gives the volume its name back', async () => {
    cluster.answers.blockdev_getmirrorstatus = () => {
      throw new Error('the node has gone')
    }
    await expect(cluster.run(CREATE, adopting)).rejects.toThrow()
    expect(volumes()).toEqual(['xenvg/mine'])
    expect(cluster.config.instances).toEqual({})
  })

  test('wherever its job is killed, removing the half-made instance keeps the volume and its name', async () => {
    for (let after = 1; ; after++) {
      cluster = storageCluster()
      cluster.answers.lv_list = () => ({ 'xenvg/mine': ['48.00', false, false] })
      cluster.world
        .node('node1.gnt.example')
        .disks.set('xenvg/mine', { size: 48, dev_type: 'plain', logical_id: ['xenvg', 'mine'] })
      const killed = await cluster.runUntilKilled(CREATE, adopting, after)
      const halfMade = cluster.instance('inst1')?.forthcoming === true
      if (halfMade) await cluster.run(REMOVE, { instance_name: 'inst1.gnt.example' })
      if (halfMade || cluster.instance('inst1') === undefined) expect(volumes()).toEqual(['xenvg/mine'])
      else expect(volumes()).toHaveLength(1)
      if (!killed) return
    }
  })
})

describe('where instances go', () => {
  const files = (node: string) => [...cluster.world.node(`${node}.gnt.example`).disks.keys()]

  test('the allocator chooses both nodes of a mirror', async () => {
    const { pnode: _p, snode: _s, ...anywhere } = drbdInstance
    const nodes = await cluster.run(CREATE, { ...anywhere, iallocator: 'hail' })
    expect(nodes).toHaveLength(2)
    expect((nodes as string[]).every((name) => cluster.world.node(name).disks.size === 2)).toBe(true)
  })

  test('volumes move to another node with their data, and leave nothing behind', async () => {
    await cluster.run(CREATE, plainInstance)
    const before = files('node1')
    const move = { instance_name: 'inst1.gnt.example', target_node: 'node2.gnt.example' }
    await cluster.run('OP_INSTANCE_MOVE', move)
    expect([files('node1'), files('node2')]).toEqual([[], before])
    expect(cluster.runningOn('inst1')).toEqual(['node2.gnt.example'])
    expect(cluster.inconsistencies()).toEqual([])
  })

  test('an instance is not stopped for a move to a node that has no room for its volumes', async () => {
    await cluster.run(CREATE, plainInstance)
    cluster.asked.length = 0
    cluster.answers.node_info = (_node, [units]) =>
      units?.length
        ? ['boot', units.map(() => ({ type: 'lvm-vg', name: 'xenvg', storage_free: 80, storage_size: 999 })), []]
        : undefined
    const move = { instance_name: 'inst1.gnt.example', target_node: 'node2.gnt.example' }
    await expect(cluster.run('OP_INSTANCE_MOVE', move)).rejects.toThrow(
      'Not enough disk space on target node node2.gnt.example vg xenvg: required 96 MiB, available 80 MiB',
    )
    expect(cluster.calls('instance_shutdown')).toEqual([])
  })

  describe('with exclusive storage', () => {
    const { pnode: _pnode, ...anywhere } = { ...plainInstance, disks: [{ size: 64, spindles: 2 }] }
    const FREE: Readonly<Record<string, number>> = { node1: 1, node2: 5, node3: 0 }

    beforeEach(() => {
      const group = cluster.groupNamed('default')
      cluster.given(['patchNodeGroup', group.uuid, { ndparams: { exclusive_storage: true } }])
      const room = (node: string, type: string) =>
        type === 'lvm-pv'
          ? { type, name: 'xenvg', storage_free: FREE[node] ?? 0, storage_size: 6 }
          : { type, name: 'xenvg', storage_free: 9000, storage_size: 9000 }
      cluster.answers.node_info = ({ name }, [units, hypervisors]) => {
        const memory = { memory_total: 4096, memory_free: 4096, memory_dom0: 0, cpu_total: 8, cpu_nodes: 1, cpu_sockets: 1, cpu_dom0: 0 } // prettier-ignore
        const stored = units?.map(([type]) => room(name.split('.')[0] ?? '', type)) ?? null
        return ['boot', stored, hypervisors?.map(() => memory) ?? null]
      }
    })

    test('the allocator takes a node that has as many spindles left as the disks need', async () => {
      await expect(cluster.run(CREATE, { ...anywhere, iallocator: 'hail' })).resolves.toEqual(['node2.gnt.example'])
      const many = { ...anywhere, instance_name: 'inst3.gnt.example', disks: [{ size: 64, spindles: 6 }] }
      await expect(cluster.run(CREATE, { ...many, iallocator: 'hail' })).rejects.toThrow(/spindles/)
    })

    test('the policy counts the spindles of the disks, as verify does', async () => {
      const { ipolicy } = cluster.config.cluster
      const minmax = ipolicy.minmax.map(({ min, max }) => ({ min, max: { ...max, 'spindle-use': 3 } }))
      cluster.given(['patchCluster', { ipolicy: { ...ipolicy, minmax } }])
      const four = { ...plainInstance, disks: [{ size: 64, spindles: 4 }] }
      const text = 'spindle-use value 4 is not in range [0, 3]'
      await expect(cluster.run(CREATE, four)).rejects.toThrow(text)
      await cluster.run(CREATE, { ...plainInstance, disks: [{ size: 64, spindles: 3 }] })
      const more = { instance_name: plainInstance.instance_name, disks: [['add', -1, { size: 64, spindles: 1 }]] }
      await expect(cluster.run('OP_INSTANCE_SET_PARAMS', more)).rejects.toThrow(text)
    })
  })

  test('secondaries leave a node that is evacuated, one job for each instance', async () => {
    await cluster.run(CREATE, drbdInstance)
    const evacuate = { node_name: 'node2.gnt.example', mode: 'secondary-only', remote_node: 'node3.gnt.example' }
    await cluster.run('OP_NODE_EVACUATE', evacuate)
    const [[job] = []] = cluster.submitted
    if (job === undefined) throw new Error('nothing was submitted')
    await cluster.run(job)
    expect([files('node2'), files('node3')]).toEqual([[], files('node1')])
  })

  test('a plan of a mirror names its calls, and takes no port and no minor', async () => {
    const { config } = cluster
    const [planned] = await cluster.plan({ OP_ID: CREATE, ...drbdInstance })
    expect(JSON.stringify(planned)).toContain('blockdev_create')
    expect(cluster.config).toBe(config)
    await cluster.run(CREATE, drbdInstance)
    expect(ports()).toEqual([11000, []])
  })
})

test('a cluster whose nodes have no volume group is told which package makes one', async () => {
  cluster.given([
    'patchCluster',
    {
      enabled_disk_templates: ['file'],
      volume_group_name: null,
      ipolicy: { ...cluster.config.cluster.ipolicy, 'disk-templates': ['file'] },
    },
  ])
  cluster.answers.vg_list = () => ({})
  const enable = { enabled_disk_templates: ['file', 'plain'], vg_name: 'xenvg' }
  await expect(cluster.run('OP_CLUSTER_SET_PARAMS', enable)).rejects.toThrow(
    "volume group 'xenvg' missing: it has none at all; vgcreate, of the package lvm2, makes one",
  )
})
