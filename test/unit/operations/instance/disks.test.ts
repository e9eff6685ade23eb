// Disks of an instance are activated, grown, and made anew.
import { type FakeCluster, simulatedCluster } from '../../../support/fake-cluster'

// inst6: sharedfile, up on node3; inst2: file, up on node2; inst1: diskless.
let cluster: FakeCluster
beforeEach(() => {
  cluster = simulatedCluster()
})
afterEach(() => {
  expect(cluster.table.owners.size).toBe(0)
  expect(cluster.inconsistencies()).toEqual([])
})

const fail = (text: string) => () => {
  throw new Error(text)
}
const raise = (): never => {
  throw new Error('no such disk')
}
const disk = (name: string, index = 0) => cluster.config.disks[cluster.instance(name)?.disks[index] ?? '']
const stop = (name: string) => cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: name })

test('disks whose size is wrong in the configuration are activated without it', async () => {
  await stop('inst6')
  await cluster.run('OP_INSTANCE_ACTIVATE_DISKS', { instance_name: 'inst6', ignore_size: true })
  await cluster.run('OP_INSTANCE_ACTIVATE_DISKS', { instance_name: 'inst6' })
  const sizes = cluster.calls('blockdev_assemble').map(({ args }) => (args[0] as { size: number }).size)
  expect([...new Set(sizes)]).toEqual([0, 8])
})

test('disks that cannot be activated are as wanted as before', async () => {
  cluster.answers.blockdev_assemble = fail('no process')
  const activate = () => cluster.failure('OP_INSTANCE_ACTIVATE_DISKS', { instance_name: 'inst6' })
  await expect(activate()).resolves.toEqual(['OpExecError', ['Cannot activate block devices']])
  expect(cluster.instance('inst6')?.disks_active).toBe(true)
  await stop('inst6')
  await expect(activate()).resolves.toEqual(['OpExecError', ['Cannot activate block devices']])
  expect(cluster.instance('inst6')?.disks_active).toBe(false)
})

describe('grow', () => {
  const grow = { instance_name: 'inst6', disk: 0, amount: 4 }

  test('by an amount, with the log of a real master, and the guest is told', async () => {
    cluster.answers.resize_disk = () => null
    await expect(cluster.run('OP_INSTANCE_GROW_DISK', grow)).resolves.toBeNull()
    expect(cluster.log).toEqual([
      "Growing disk 0 of instance 'inst6.gnt.example' by 4M to 12M",
      ' - INFO: Waiting for instance inst6.gnt.example to sync disks',
      " - INFO: Instance inst6.gnt.example's disks are in sync",
    ])
    expect(disk('inst6')?.size).toBe(12)
    expect(cluster.calls('blockdev_grow').map(({ args }) => args.slice(1, 4))).toEqual([
      [4, true, true],
      [4, false, true],
      [4, false, false],
    ])
    expect(cluster.calls('resize_disk')[0]?.args[2]).toBe(12 * 1024 * 1024)
  })

  test('to a size; not to a smaller one, nor a disk that is not there', async () => {
    await cluster.run('OP_INSTANCE_GROW_DISK', { ...grow, amount: 32, absolute: true })
    expect(disk('inst6')?.size).toBe(32)
    await expect(cluster.failure('OP_INSTANCE_GROW_DISK', { ...grow, absolute: true })).resolves.toEqual([
      'OpPrereqError',
      ['Requested size (4M) is smaller than current disk size (32M)', 'wrong_state'],
    ])
    await expect(cluster.failure('OP_INSTANCE_GROW_DISK', { ...grow, disk: 3 })).resolves.toEqual([
      'OpPrereqError',
      ['Invalid disk index: 3 (instance has disks 0 to 0)', 'wrong_input'],
    ])
  })

  test('not beyond the policy of its group, which can be ignored', async () => {
    const huge = { ...grow, amount: 2_000_000 }
    const text = 'Growing disk 0 violates policy: disk-size/0 value 2000008 is not in range [0, 1048576]'
    await expect(cluster.failure('OP_INSTANCE_GROW_DISK', huge)).resolves.toEqual([
      'OpPrereqError',
      [text, 'wrong_input'],
    ])
    await cluster.run('OP_INSTANCE_GROW_DISK', { ...huge, ignore_ipolicy: true })
    expect(cluster.log).toContain(` - WARNING: ${text}`)
  })

  test('a stopped one is switched off again, unless nobody waits for it to be in sync', async () => {
    await stop('inst6')
    await cluster.run('OP_INSTANCE_GROW_DISK', grow)
    const [before] = [cluster.calls('blockdev_shutdown').length]
    await cluster.run('OP_INSTANCE_GROW_DISK', { ...grow, wait_for_sync: false })
    expect(cluster.calls('blockdev_shutdown')).toHaveLength(before)
    expect(cluster.log.at(-1)).toMatch(/^ - WARNING: Not shutting down the disk even if/)
  })

  test('a node that says no leaves the size', async () => {
    cluster.answers.blockdev_grow = fail('disk full')
    await expect(cluster.failure('OP_INSTANCE_GROW_DISK', grow)).resolves.toEqual([
      'OpExecError',
      ['Dry-run grow request failed to node node3.gnt.example: disk full'],
    ])
    expect(disk('inst6')?.size).toBe(8)
  })
})

describe('rename', () => {
  const rename = { instance_name: 'inst6', new_name: 'New6.gnt.example' }

  test('a stopped instance gets its name and its folder', async () => {
    await stop('inst6')
    await expect(cluster.run('OP_INSTANCE_RENAME', rename)).resolves.toBe('new6.gnt.example')
    expect(cluster.instance('inst6')).toBeUndefined()
    expect(disk('new6')?.logical_id[1]).toMatch(/^\/srv\/ganeti\/shared-file-storage\/new6\.gnt\.example\//)
    expect(cluster.calls('instance_run_rename')[0]?.args[1]).toBe('inst6.gnt.example')
    expect(cluster.instance('new6')?.disks_active).toBe(false)
    const locks = cluster.lockRequests
      .flat()
      .map(([name]) => name)
      .filter((name) => name.startsWith('instance/'))
    expect(locks.slice(-2)).toEqual(['instance/inst6.gnt.example', 'instance/new6.gnt.example'])
  })

  test('not while it runs, and not to a name that is taken', async () => {
    await expect(cluster.failure('OP_INSTANCE_RENAME', rename)).resolves.toEqual([
      'OpPrereqError',
      ["Instance 'inst6.gnt.example' is marked to be up, cannot rename", 'wrong_state'],
    ])
    const taken = { ...rename, new_name: 'inst1.gnt.example' }
    await expect(cluster.failure('OP_INSTANCE_RENAME', taken)).resolves.toEqual([
      'OpPrereqError',
      ["Instance 'inst1.gnt.example' is already in the cluster", 'already_exists'],
    ])
  })

  const file = (index: number) => String(disk('inst2', index)?.logical_id[1])
  const inFolder = (folder: string) => {
    const { uuid, logical_id, ...rest } = cluster.config.disks[cluster.instance('inst2')?.disks[1] ?? ''] ?? raise()
    const moved = { ...rest, uuid, logical_id: [String(logical_id[0]), file(1).replace('/inst2', `/${folder}/inst2`)] }
    cluster.config = { ...cluster.config, disks: { ...cluster.config.disks, [uuid]: moved } }
  }
  const two = { instance_name: 'inst2', new_name: 'new2.gnt.example' }

  test('moves the files of all disks, whose folders differ, before the configuration has their new places', async () => {
    await stop('inst2')
    inFolder('sub')
    const before = [file(0), file(1)]
    cluster.answers.gantry_file_link = () => (expect([file(0), file(1)]).toEqual(before), true)
    cluster.answers.blockdev_remove = (_node, [{ logical_id }]) => (
      expect(before).toContain(logical_id?.[1]),
      expect(file(0)).toContain('/new2.'),
      null
    )
    cluster.answers.blockdev_find = () => ({ dev_path: '/x', is_degraded: false, ldisk_status: 1 })
    await cluster.run('OP_INSTANCE_RENAME', two)
    const [one, other] = ['/srv/ganeti/file-storage', '/srv/ganeti/file-storage/sub']
    const dirs = (call: 'file_storage_dir_create' | 'file_storage_dir_remove') =>
      cluster.calls(call).map(({ args }) => args[0])
    expect(dirs('file_storage_dir_create')).toEqual([`${one}/new2.gnt.example`, `${other}/new2.gnt.example`])
    expect(dirs('file_storage_dir_remove')).toEqual([`${one}/inst2.gnt.example`, `${other}/inst2.gnt.example`])
    const after = before.map((path) => path.replace('/inst2.', '/new2.'))
    const names = cluster.calls('gantry_file_link')[0]?.args[0]
    expect(names).toEqual(before.map((path, index) => [path, after[index]]))
    expect([disk('new2', 0)?.logical_id[1], disk('new2', 1)?.logical_id[1]]).toEqual(after)
    expect(cluster.calls('blockdev_remove')).toHaveLength(2)
  })

  test.each([
    ['a second name', (answers: FakeCluster['answers']) => (answers.gantry_file_link = fail('no')), 'no'],
    ['another name', (answers: FakeCluster['answers']) => (answers.blockdev_rename = fail('no')), 'no'],
  ])('keeps the name and all files when one cannot get %s', async (_what, input, why) => {
    await stop('inst2')
    inFolder('sub')
    const [before, instance] = [[file(0), file(1)], cluster.instance('inst2')]
    input(cluster.answers)
    await expect(cluster.failure('OP_INSTANCE_RENAME', two)).resolves.toEqual([
      'OpExecError',
      [`Cannot rename instance inst2.gnt.example: ${why}`],
    ])
    expect(cluster.instance('inst2')).toEqual(instance)
    expect([file(0), file(1)]).toEqual(before)
  })

  test('gives the files their old names back when the configuration cannot be changed', async () => {
    await stop('inst2')
    cluster.refuses = (changes) => changes.some(([name]) => name === 'renameInstance')
    await cluster.failure('OP_INSTANCE_RENAME', two)
    const [there = [], back = []] = cluster.calls('blockdev_rename').map(({ args }) => args[0] as [{ logical_id: unknown }, unknown][]) // prettier-ignore
    expect(back.map(([from, to]) => [to, from.logical_id])).toEqual(there.map(([from, to]) => [from.logical_id, to]))
    cluster.answers.gantry_file_link = () => true
    cluster.answers.blockdev_remove = (_node, [{ logical_id }]) => (expect(logical_id?.[1]).toContain('/new2.'), null)
    await cluster.failure('OP_INSTANCE_RENAME', two)
    expect(cluster.calls('blockdev_remove')).toHaveLength(2)
    expect(cluster.log.join()).not.toContain('could not be removed')
  })

  test('an OS script that fails is a warning, a folder that cannot be moved an error', async () => {
    await stop('inst6')
    cluster.answers.instance_run_rename = fail('no')
    await cluster.run('OP_INSTANCE_RENAME', rename)
    expect(cluster.log.join('\n')).toContain('(but the instance has been renamed in Ganeti): no')
    cluster.answers.file_storage_dir_create = fail('no')
    const [, [text]] = (await cluster.failure('OP_INSTANCE_RENAME', {
      instance_name: 'new6',
      new_name: 'inst6.gnt.example',
    })) as [string, [string]]
    expect(text).toMatch(/^Failed to create directory '.*' on node node3.gnt.example: no/)
  })
})

describe('reinstall', () => {
  test('writes the image that its parameters name, before the scripts run', async () => {
    cluster.answers.blockdev_image = () => null
    await stop('inst6')
    const osparams = { 'os-image': 'http://127.0.0.1/image' }
    await cluster.run('OP_INSTANCE_REINSTALL', { instance_name: 'inst6', osparams })
    expect(cluster.log[0]).toBe("Using OS image 'http://127.0.0.1/image'")
    const order = cluster.asked.map(({ call }) => call).filter((call) => /image|os_add/.test(call))
    expect(order).toEqual(['blockdev_image', 'instance_os_add'])
  })

  test('looks at the image that the instance has beside what is given, before anything is done', async () => {
    cluster.answers.blockdev_image = () => null
    await stop('inst6')
    const uuid = cluster.instance('inst6')?.uuid
    const has = (image: string) => cluster.change('patchInstance', uuid, { osparams: { 'os-image': image } })
    has('relative.img')
    const again = { instance_name: 'inst6', osparams: { dhcp: 'no' } }
    const [, [text]] = (await cluster.failure('OP_INSTANCE_REINSTALL', again)) as [string, [string]]
    expect(text).toBe('OS image must be an absolute path or a URL')
    expect(cluster.instance('inst6')?.osparams).toEqual({ 'os-image': 'relative.img' })
    has('/images/a.img')
    await cluster.run('OP_INSTANCE_REINSTALL', again)
    expect(cluster.log[0]).toBe("Using OS image '/images/a.img'")
    cluster.log.length = 0
    await cluster.run('OP_INSTANCE_REINSTALL', { instance_name: 'inst6', osparams: { 'os-image': 'default' } })
    expect(cluster.log.join()).not.toContain('image')
  })

  test('runs the scripts of the OS again, with the log of a real master', async () => {
    await stop('inst6')
    const os = { instance_name: 'inst6', os_type: 'debootstrap', osparams: { dhcp: 'no' }, osparams_secret: {} }
    cluster.secrets = { osparams_secret: { password: 'hunter2' } }
    await cluster.run('OP_INSTANCE_REINSTALL', os)
    expect(cluster.log).toEqual([
      "Changing OS scripts to 'debootstrap'...",
      ' - INFO: Running instance OS create scripts...',
    ])
    expect(cluster.instance('inst6')).toMatchObject({
      os: 'debootstrap',
      osparams: { dhcp: 'no' },
      disks_active: false,
    })
    expect(cluster.calls('instance_os_add')[0]?.args[0]).toMatchObject({ osparams_private: { password: 'hunter2' } })
    expect(cluster.calls('instance_os_add')[0]?.args[1]).toBe(true)
    expect(JSON.stringify(cluster.config)).not.toContain('hunter2')
  })

  test('gives cloud-init a new identity where the definition lists it, or the one that is asked for', async () => {
    await stop('inst6')
    const parameters: [string, string][] = [['instance_id', 'By this cloud-init knows the installation']]
    cluster.answers.os_diagnose = () => [['debootstrap', '/os/debootstrap', true, '', [], parameters, [20], true]]
    const identity = async (op: object = {}) => {
      await cluster.run('OP_INSTANCE_REINSTALL', { instance_name: 'inst6', ...op })
      return cluster.instance('inst6')?.osparams['instance_id']
    }
    expect(await identity()).toBeUndefined()
    const first = await identity({ os_type: 'debootstrap' })
    const second = await identity()
    expect(first).toMatch(/^[0-9a-f-]{36}$/)
    expect(second).not.toBe(first)
    expect(await identity({ osparams: { instance_id: 'mine' } })).toBe('mine')
    expect(await identity({ osparams: { cloud_init: 'no' } })).toBe('mine')
  })

  test.each([
    ['OP_INSTANCE_REINSTALL', { os_type: 'other+x', osparams: { mine: 'new' } }],
    ['OP_INSTANCE_SET_PARAMS', { os_name: 'other+x', osparams: { mine: 'new' } }],
  ])('another OS does not get the parameters that only the old one has (%s)', async (id, op) => {
    await stop('inst6')
    const uuid = cluster.instance('inst6')?.uuid
    const [osparams, osparams_private] = [{ banner: 'first', both: 'kept', 'os-image': '/a.img' }, { key: 's' }]
    cluster.change('patchInstance', uuid, { osparams, osparams_private })
    cluster.answers.blockdev_image = () => null
    const parameters: [string, string][] = [
      ['both', 'that'],
      ['mine', 'too'],
    ]
    cluster.answers.os_diagnose = () => [['other', '/os/other', true, '', ['x'], parameters, [20], true]]
    cluster.answers.os_validate = () => true
    await cluster.run(id, { instance_name: 'inst6', ...op })
    expect(cluster.instance('inst6')).toMatchObject({ os: 'other+x' })
    expect(cluster.instance('inst6')?.osparams).toEqual({ both: 'kept', 'os-image': '/a.img', mine: 'new' })
    expect(cluster.instance('inst6')?.osparams_private).toEqual({})
    expect(cluster.calls('os_validate')[0]?.args[3]).not.toHaveProperty('banner')
    expect(cluster.log).toContain(" - INFO: OS 'other' does not have these parameters, which are removed: banner, key")
    // Another variant of an OS has the same parameters.
    cluster.change('patchInstance', uuid, { osparams })
    await cluster.run('OP_INSTANCE_SET_PARAMS', { instance_name: 'inst6', os_name: 'other+y' })
    expect(cluster.instance('inst6')?.osparams).toEqual(osparams)
  })

  test('not a running or a diskless instance', async () => {
    await expect(cluster.failure('OP_INSTANCE_REINSTALL', { instance_name: 'inst6' })).resolves.toEqual([
      'OpPrereqError',
      ["Instance 'inst6.gnt.example' is marked to be up, cannot reinstall", 'wrong_state'],
    ])
    await cluster.run('OP_INSTANCE_STARTUP', { instance_name: 'inst4' })
    await expect(cluster.failure('OP_INSTANCE_REINSTALL', { instance_name: 'inst4' })).resolves.toEqual([
      'OpPrereqError',
      ["Instance 'inst4.gnt.example' has no disks", 'wrong_input'],
    ])
  })

  test('a script that fails is the error, and the disks are off', async () => {
    await stop('inst6')
    cluster.answers.instance_os_add = fail('exit 1')
    await expect(cluster.failure('OP_INSTANCE_REINSTALL', { instance_name: 'inst6' })).resolves.toEqual([
      'OpExecError',
      ["Could not install OS for instance 'inst6.gnt.example' on node 'node3.gnt.example': exit 1"],
    ])
    expect(cluster.instance('inst6')?.disks_active).toBe(false)
  })
})

describe('recreate disks', () => {
  test('a disk that is still there is an error, and is not touched', async () => {
    await stop('inst2')
    const before = cluster.diskFiles()
    const [, [text]] = (await cluster.failure('OP_INSTANCE_RECREATE_DISKS', {
      instance_name: 'inst2',
      disks: [[0, {}]],
    })) as [string, [string]]
    expect(text).toMatch(
      /^Can't create block device <Disk\(type=file, .*\)> on node node2.gnt.example for instance inst2/,
    )
    expect(cluster.diskFiles()).toEqual(before)
    expect(cluster.calls('blockdev_remove')).toEqual([])
  })

  test('with parameters that disks have', async () => {
    await stop('inst2')
    const op = { instance_name: 'inst2', disks: [[0, { siez: 4 }]] }
    await expect(cluster.failure('OP_INSTANCE_RECREATE_DISKS', op)).resolves.toEqual([
      'TypeEnforcementError',
      ["Unknown parameter 'siez'"],
    ])
  })

  test('on another node, where the instance then lives, also when its old node is off', async () => {
    cluster.change('patchNode', cluster.node('node2').uuid, { offline: true, master_candidate: false })
    const op = { instance_name: 'inst2', nodes: ['node4.gnt.example'] }
    await expect(cluster.failure('OP_INSTANCE_RECREATE_DISKS', { ...op, disks: [0] })).resolves.toEqual([
      'OpPrereqError',
      ["Can't recreate disks partially and change the nodes at the same time", 'wrong_input'],
    ])
    const two = ['node1.gnt.example', 'node3.gnt.example']
    await expect(cluster.failure('OP_INSTANCE_RECREATE_DISKS', { ...op, nodes: two })).resolves.toEqual([
      'OpPrereqError',
      ['Instance inst2.gnt.example currently has 1 nodes, but 2 replacement nodes were specified', 'wrong_input'],
    ])
    await cluster.run('OP_INSTANCE_RECREATE_DISKS', op)
    const { uuid } = cluster.node('node4')
    expect(cluster.instance('inst2')?.primary_node).toBe(uuid)
    expect(disk('inst2')?.nodes).toEqual([uuid])
    expect([...cluster.world.node('node4.gnt.example').disks.keys()].sort()).toEqual(
      [...(cluster.instance('inst2')?.disks ?? [])].sort(),
    )
    expect(cluster.log).toContainEqual(expect.stringContaining("Changing the instance's nodes"))
    expect(cluster.noted).toMatchObject({ nodes: ['node4.gnt.example'], node_uuids: [uuid] })
  })

  test('once each, and with another size or mode only', async () => {
    await stop('inst2')
    const refusal = async (disks: unknown) =>
      ((await cluster.failure('OP_INSTANCE_RECREATE_DISKS', { instance_name: 'inst2', disks })) as unknown[])[1]
    const twice = [
      [1, {}],
      [1, {}],
    ]
    expect(await refusal(twice)).toEqual(['Some disks have been specified more than once: 1', 'wrong_input'])
    expect(await refusal([[0, { name: 'x' }]])).toEqual([
      'Parameters for disk 0 try to change unmodifyable parameter(s): name',
      'wrong_input',
    ])
  })

  test("where an allocator says, among the nodes of the instance's group", async () => {
    cluster.change('patchNode', cluster.node('node2').uuid, { offline: true, master_candidate: false })
    const op = { instance_name: 'inst2', iallocator: 'hail' }
    await expect(
      cluster.failure('OP_INSTANCE_RECREATE_DISKS', { ...op, nodes: ['node4.gnt.example'] }),
    ).resolves.toEqual(['OpPrereqError', ['Do not specify both, iallocator and node', 'wrong_input']])
    await cluster.run('OP_INSTANCE_RECREATE_DISKS', op)
    const uuid = cluster.instance('inst2')?.primary_node ?? ''
    expect(uuid).not.toBe(cluster.node('node2').uuid)
    expect(cluster.config.nodes[uuid]?.group).toBe(cluster.node('node2').group)
    expect(disk('inst2')?.nodes).toEqual([uuid])
    expect(cluster.log).toContain(
      ` - INFO: Selected nodes for instance inst2.gnt.example via iallocator hail: ${cluster.config.nodes[uuid]?.name}`,
    )
  })

  test('a disk that is lost is made again, maybe bigger', async () => {
    await stop('inst2')
    cluster.world.node('node2.gnt.example').disks.clear()
    await cluster.run('OP_INSTANCE_RECREATE_DISKS', { instance_name: 'inst2', disks: [[1, { size: 64 }]] })
    expect(disk('inst2', 1)?.size).toBe(64)
    expect([...cluster.world.node('node2.gnt.example').disks.keys()]).toEqual([disk('inst2', 1)?.uuid])
  })
})

test('wiping covers a new disk in pieces', async () => {
  cluster.change('patchCluster', { prealloc_wipe_disks: true })
  await stop('inst6')
  await cluster.run('OP_INSTANCE_SET_PARAMS', { instance_name: 'inst6', disks: [['add', -1, { size: 20 }]] })
  const pieces = cluster.calls('blockdev_wipe').map(({ args }) => args.slice(1))
  expect(pieces).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18].map((offset) => [offset, 2]))
})

test('a disk whose size nobody tells does not grow where new parts are wiped: the guest may use what would be wiped', async () => {
  cluster.change('patchCluster', { prealloc_wipe_disks: true })
  await stop('inst6')
  cluster.answers.blockdev_getdimensions = () => {
    throw new Error('no answer')
  }
  await expect(
    cluster.run('OP_INSTANCE_GROW_DISK', { instance_name: 'inst6', disk: 0, amount: 8, wait_for_sync: true }),
  ).rejects.toThrow(/does not tell how large disk\/0 is/)
  expect([cluster.calls('blockdev_grow'), cluster.calls('blockdev_wipe')]).toEqual([[], []])
})
