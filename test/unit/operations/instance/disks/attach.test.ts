// Disks are taken from one instance and given to another.
import { type FakeCluster, simulatedCluster } from '../../../../support/fake-cluster'

// inst6 and inst3: sharedfile, one disk each, up on node3; inst2: file, two disks, on node2; inst4: diskless, down on node3.
let cluster: FakeCluster
beforeEach(() => {
  cluster = simulatedCluster()
})
afterEach(() => {
  expect(cluster.table.owners.size).toBe(0)
})

const modify = (name: string, more: object) => cluster.run('OP_INSTANCE_SET_PARAMS', { instance_name: name, ...more })
async function refused(name: string, more: object) {
  const [, [text, code]] = (await cluster.failure('OP_INSTANCE_SET_PARAMS', { instance_name: name, ...more })) as [
    string,
    string[],
  ]
  return { text, code }
}
const stop = (name: string) => cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: name })
const disksOf = (name: string) => (cluster.instance(name)?.disks ?? []).map((uuid) => cluster.config.disks[uuid])
const renamed = () =>
  cluster.calls('blockdev_rename').map(({ node, args }) => {
    const [[from, to] = []] = args[0] as [{ logical_id: unknown[] }, unknown[]][]
    return [node, from?.logical_id[1], to?.[1]]
  })

describe('a detached disk', () => {
  test('keeps its data and its record, outside the folder of the instance, and goes to another instance', async () => {
    await stop('inst6')
    const [disk] = disksOf('inst6')
    const file = String(disk?.logical_id[1])
    const outside = file.replace('/inst6.gnt.example/', '/')
    await expect(modify('inst6', { disks: [['detach', 0, {}]] })).resolves.toEqual([['disk/0', 'detach']])
    expect(renamed()).toEqual([['node3.gnt.example', file, outside]])
    expect(disksOf('inst6')).toEqual([])
    expect(cluster.config.disks[disk?.uuid ?? '']).toMatchObject({
      iv_name: 'disk/0',
      logical_id: [disk?.logical_id[0], outside],
    })
    expect(cluster.diskFiles()).toContain(disk?.uuid)

    const attach = ['attach', -1, { uuid: disk?.uuid }]
    await expect(modify('inst4', { disks: [attach] })).resolves.toEqual([
      ['disk/0', `attach:size=${disk?.size},mode=${disk?.mode}`],
    ])
    expect(renamed()[1]).toEqual(['node3.gnt.example', outside, expect.stringContaining('/inst4.gnt.example/')])
    expect(disksOf('inst4')).toMatchObject([{ uuid: disk?.uuid, iv_name: 'disk/0', size: disk?.size }])
    expect(cluster.inconsistencies()).toEqual([])
  })

  test('is found by name, when only one has it', async () => {
    await modify('inst2', { disks: [[1, { name: 'data' }]] })
    await stop('inst2')
    await modify('inst2', { disks: [['detach', 'data', {}]] })
    const text = "Instance has 'sharedfile' template while disk has 'file' template"
    expect(await refused('inst6', { disks: [['attach', -1, { name: 'data' }]] })).toMatchObject({ text })
    await modify('inst2', { disks: [['attach', 0, { name: 'data' }]] })
    expect(disksOf('inst2')).toMatchObject([{ iv_name: 'disk/0', name: 'data' }, { iv_name: 'disk/1' }])
  })

  test('stays where it is when its file cannot be moved', async () => {
    await stop('inst6')
    const [disk] = disksOf('inst6')
    cluster.answers.blockdev_rename = () => {
      throw new Error('disk full')
    }
    expect(await refused('inst6', { disks: [['detach', 0, {}]] })).toMatchObject({
      text: expect.stringContaining('Failed before detach'),
    })
    expect(disksOf('inst6')).toEqual([disk])
  })

  test('cannot be taken from a running instance without hotplug, nor from one that it belongs to', async () => {
    cluster.answers.hotplug_supported = () => {
      throw new Error('no')
    }
    expect(await refused('inst6', { disks: [['detach', 0, {}]] })).toMatchObject({
      text: expect.stringContaining("can't detach volume from a running instance without using hotplug"),
    })
    const [disk] = disksOf('inst6')
    expect(await refused('inst4', { disks: [['attach', -1, { uuid: disk?.uuid }]] })).toMatchObject({
      text: `Disk ${disk?.uuid} is attached to instance inst6.gnt.example; detach it there first`,
    })
    expect(cluster.calls('blockdev_rename')).toEqual([])
  })

  test.each([
    [[['attach', -1, { uuid: 'x', name: 'y' }]], 'Only one argument is permitted in attach op, either name or uuid'],
    [[['attach', -1, { uuid: 'nosuch' }]], 'No disk was found with this UUID: nosuch'],
    [[['attach', -1, { name: 'nosuch' }]], 'No disk was found with this name: nosuch'],
    [[['detach', 0, { mode: 'ro' }]], 'No settings should be passed when removing or detaching a disk'],
    [[['detach', {}], ['detach', {}]], 'Only one disk add/attach/remove/detach operation is supported at a time'], // prettier-ignore
  ])('that is asked for as %j is refused', async (disks, text) => {
    expect(await refused('inst6', { disks })).toMatchObject({ text, code: 'wrong_input' })
  })

  test('needs an active instance when nobody waits for it to sync', async () => {
    await stop('inst6')
    expect(await refused('inst6', { disks: [['add', -1, { size: 4 }]], wait_for_sync: false })).toMatchObject({
      text: "Can't add a disk to an instance with deactivated disks and --no-wait-for-sync given",
    })
  })

  test('is for disks: NICs have no such thing', async () => {
    expect(await refused('inst6', { nics: [['attach', -1, {}]] })).toMatchObject({
      text: 'Attach operation is not supported for NICs',
    })
  })
})

describe('another disk template', () => {
  test('comes with new disks that have the data of the old ones', async () => {
    await stop('inst2')
    const before = disksOf('inst2')
    await expect(modify('inst2', { disk_template: 'sharedfile' })).resolves.toEqual([['disk_template', 'sharedfile']])
    const after = disksOf('inst2')
    expect(after.map((disk) => [disk?.dev_type, disk?.size, disk?.iv_name, disk?.nodes])).toEqual(
      before.map((disk) => ['sharedfile', disk?.size, disk?.iv_name, []]),
    )
    expect(
      cluster.calls('blockdev_convert').map(({ args }) => (args as { uuid: string }[]).map(({ uuid }) => uuid)),
    ).toEqual(before.map((disk, index) => [disk?.uuid, after[index]?.uuid]))
    for (const disk of before) {
      expect(cluster.config.disks[disk?.uuid ?? '']).toBeUndefined()
      expect(cluster.diskFiles()).not.toContain(disk?.uuid)
    }
    expect(cluster.log).toContain("Converting disk template from 'file' to 'sharedfile'")
    expect(cluster.log).toContain("Removing old block devices of type 'file'...")
    expect(cluster.inconsistencies()).toEqual([])
  })

  test('is filled while the old disks are active, and only then', async () => {
    await stop('inst2')
    const [disk] = disksOf('inst2')
    await modify('inst2', { disk_template: 'sharedfile' })
    const old = cluster.asked.flatMap(({ call, args }) =>
      (args as { uuid?: string }[])[0]?.uuid === disk?.uuid ? [call] : [],
    )
    expect(old.slice(-4)).toEqual(['blockdev_assemble', 'blockdev_convert', 'blockdev_shutdown', 'blockdev_remove'])
  })

  test('needs old disks that can be read, and leaves nothing new otherwise', async () => {
    await stop('inst2')
    const [before, files] = [disksOf('inst2'), cluster.diskFiles().sort()]
    cluster.answers.blockdev_assemble = () => {
      throw new Error('no such file')
    }
    expect(await refused('inst2', { disk_template: 'sharedfile' })).toMatchObject({
      text: 'Cannot activate the disks to copy them',
    })
    expect([disksOf('inst2'), cluster.diskFiles().sort()]).toEqual([before, files])
  })

  test('that cannot be filled is taken back', async () => {
    await stop('inst2')
    const [before, files] = [disksOf('inst2'), cluster.diskFiles().sort()]
    cluster.answers.blockdev_convert = () => {
      throw new Error('no room')
    }
    expect(await refused('inst2', { disk_template: 'sharedfile' })).toMatchObject({
      text: expect.stringContaining("Error while converting the instance's template"),
    })
    expect([disksOf('inst2'), cluster.diskFiles().sort()]).toEqual([before, files])
    expect(cluster.log).toContain(' - INFO: Newly created disks removed successfully')
  })

  test.each([
    ['inst2', 'sharedfile', "Instance 'inst2.gnt.example' is marked to be up, cannot change disk template"],
    ['inst2', 'file', 'Instance already has disk template file'],
    [
      'inst2',
      'diskless',
      expect.stringMatching(/^Conversion to the 'diskless' disk template is not supported; disks come and go with/),
    ],
    [
      'inst4',
      'file',
      expect.stringMatching(/^Conversion from the 'diskless' disk template is not supported; disks come and go with/),
    ],
    [
      'inst2',
      'blockdev',
      expect.stringMatching(/^Conversion to the 'blockdev' disk template is not supported; make an instance/),
    ],
  ])('for %s to %s is refused', async (name, disk_template, text) => {
    expect(await refused(name, { disk_template })).toMatchObject({ text })
  })

  test.each([['remote_node_uuid'], ['iallocator']])(
    'has no secondary node, and says that %s is ignored',
    async (input) => {
      await stop('inst2')
      await modify('inst2', { disk_template: 'sharedfile', [input]: 'any' })
      expect(cluster.log.join()).toContain('the secondary node will be ignored')
    },
  )

  test('has no parameters of external storage', async () => {
    expect(await refused('inst2', { disk_template: 'sharedfile', ext_params: { provider: 'x' } })).toMatchObject({
      text: "'ext_params' are for a change to disks of template 'ext'; leave them out",
    })
  })

  test('is no change among others of disks', async () => {
    expect(await refused('inst2', { disk_template: 'sharedfile', disks: [['remove', 0, {}]] })).toMatchObject({
      text: 'Disk template conversion and other disk changes not supported at the same time',
    })
  })
})
