// Instances whose disks are kept outside of nodes: by providers, in Ceph, on Gluster, and as block devices that are there already.
import type { FakeCluster } from '../../../support/fake-cluster'
import { plainInstance, storageCluster } from '../../../support/storage-cluster'

const CREATE = 'OP_INSTANCE_CREATE'
const MODIFY = 'OP_INSTANCE_SET_PARAMS'
const NAME = 'inst1.gnt.example'
const DEVICE = '/dev/disk/by-id/wwn-1'
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

const ext = { ...plainInstance, disk_template: 'ext', disks: [{ size: 64, provider: 'shelf', label: 'left' }] }
const rbd = { ...plainInstance, disk_template: 'rbd', disks: [{ size: 64 }] }
const gluster = { ...plainInstance, disk_template: 'gluster', disks: [{ size: 64 }] }
const blockdev = { ...plainInstance, disk_template: 'blockdev', disks: [{ adopt: DEVICE }] }

let cluster: FakeCluster
beforeEach(() => {
  cluster = storageCluster()
  const templates = ['plain', 'ext', 'rbd', 'gluster', 'blockdev'] as const
  const ipolicy = { ...cluster.config.cluster.ipolicy, 'disk-templates': templates }
  cluster.given(['patchCluster', { enabled_disk_templates: templates, ipolicy }])
  cluster.answers.extstorage_diagnose = () => [
    ['shelf', '/usr/share/ganeti/extstorage/shelf', true, '', [['label', 'Which end of the shelf']]],
    ['rack', '/usr/share/ganeti/extstorage/rack', false, 'there is no executable script grow', []],
  ]
  cluster.answers.bdev_sizes = (_node, [devices]) =>
    Object.fromEntries(devices.filter((one) => one === DEVICE).map((one) => [one, 2048]))
})

const disks = () => Object.values(cluster.config.disks)
const shape = (text: string) => expect.stringMatching(new RegExp(`^${text}$`)) as string

test.each([
  [ext, ['shelf', shape(`${UUID}\\.ext\\.disk0`)], { provider: 'shelf', label: 'left' }],
  [rbd, ['rbd', shape(`${UUID}\\.rbd\\.disk0`)], {}],
  [gluster, ['loop', shape(`ganeti/${UUID}\\.0`)], {}],
])('a disk gets the id and the parameters that Ganeti would give it: %j', async (op, logical_id, params) => {
  await cluster.run(CREATE, op)
  expect(disks()).toMatchObject([{ dev_type: op.disk_template, logical_id, params, nodes: [], size: 64 }])
  expect(disks()[0]?.params).toEqual(params)
  expect(cluster.calls('file_storage_dir_create')).toEqual([])
})

test('nodes are told the parameters of disks, those of the cluster and those of the disk', async () => {
  await cluster.run(CREATE, { ...rbd, disks: [{ size: 64, access: 'kernelspace' }] })
  await cluster.run(CREATE, { ...ext, instance_name: 'inst2.gnt.example' })
  const reported = cluster.calls('blockdev_create').map(({ args: [disk] }) => disk)
  expect(reported.map((disk) => (disk as { params: object }).params)).toEqual([
    { access: 'kernelspace', pool: 'rbd', 'user-id': '' },
    { access: 'kernelspace', provider: 'shelf', label: 'left' },
  ])
})

test.each([
  [{ ...ext, disks: [{ size: 9 }] }, "Missing provider for template 'ext'"],
  [{ ...ext, disks: [{ size: 9, provider: 'box' }] }, "Node node1.gnt.example has no external storage provider 'box'"],
  [{ ...ext, disks: [{ size: 9, provider: 'rack' }] }, 'cannot be used: there is no executable script grow'],
  [
    { ...ext, disks: [{ size: 9, provider: 'shelf', colour: 'red' }] },
    "External storage provider 'shelf' has no parameter colour: it knows label",
  ],
  [
    { ...rbd, disks: [{ size: 9, provider: 'shelf' }] },
    "The 'provider' option is only valid for the ext disk template",
  ],
  [{ ...rbd, disks: [{ size: 9, access: 'userspace' }] }, 'Selected hypervisor (fake) cannot be used with'],
  [{ ...rbd, disks: [{ size: 9, access: 'magic' }] }, 'Disk access is one of kernelspace, userspace'],
  [{ ...gluster, disks: [{ size: 9, adopt: 'x' }] }, "Disk adoption is not supported for the 'gluster' disk template"],
  [
    { ...blockdev, disks: [{ size: 9 }] },
    "Disk template blockdev requires disk adoption, but no 'adopt' parameter given",
  ],
  [{ ...blockdev, disks: [{ adopt: '/dev/sda' }] }, 'Device node(s) /dev/sda lie outside /dev/disk/'],
  [{ ...blockdev, disks: [{ adopt: '/dev/disk/../sda' }] }, 'lie outside /dev/disk/'],
  [{ ...blockdev, disks: [{ adopt: `${DEVICE}0` }] }, `Missing block device(s): ${DEVICE}0; node node1.gnt.example`],
  [{ ...blockdev, disks: [{ adopt: DEVICE }, { adopt: DEVICE }] }, 'Duplicate disk names given for adoption'],
])('%j is refused before anything is made', async (op, text) => {
  await expect(cluster.run(CREATE, op)).rejects.toThrow(text)
  expect(cluster.calls('blockdev_create')).toEqual([])
  expect(cluster.config.instances).toEqual({})
})

test.each([
  [rbd, 'block-rbd.so'],
  [gluster, 'block-gluster.so'],
])('QEMU reaches %j by itself only where it has the module %s', async (op, program) => {
  cluster.change('patchCluster', { enabled_hypervisors: ['kvm', 'fake'] })
  const desired = { ...op, hypervisor: 'kvm', start: false, disks: [{ size: 64, access: 'userspace' }] }
  cluster.answers.node_verify = () => ({ 'gantry-missing-programs': { [program]: 'qemu-block-extra' } })
  await expect(cluster.run(CREATE, desired)).rejects.toThrow(
    `QEMU on node node1.gnt.example cannot reach disks of template '${op.disk_template}' by itself, it has no module ${program}: install ` +
      'the Debian package qemu-block-extra there, or give the disks access=kernelspace',
  )
  expect(cluster.calls('node_verify')[0]?.args[0]).toEqual({ 'gantry-missing-programs': [program] })
  cluster.answers.node_verify = () => ({ 'gantry-missing-programs': {} })
  await cluster.run(CREATE, desired)
  expect(disks()).toMatchObject([{ params: { access: 'userspace' } }])
})

describe('block devices', () => {
  test('become disks of their own size, are taken once, and stay when their instance goes', async () => {
    await cluster.run(CREATE, blockdev)
    expect(disks()).toMatchObject([{ logical_id: ['manual', DEVICE], size: 2048, params: {}, nodes: [] }])
    expect(cluster.calls('blockdev_create')).toEqual([])
    expect(cluster.calls('blockdev_rename')).toEqual([])
    await expect(cluster.run(CREATE, { ...blockdev, instance_name: 'inst2.gnt.example' })).rejects.toThrow(
      `Block device ${DEVICE} is the disk of another instance already`,
    )
    await expect(cluster.run('OP_INSTANCE_GROW_DISK', { instance_name: NAME, disk: 0, amount: 9 })).rejects.toThrow(
      'does not support growing',
    )
    await cluster.run('OP_INSTANCE_REMOVE', { instance_name: NAME })
    expect(disks()).toEqual([])
  })

  describe('have many names', () => {
    const observed = (devices: Readonly<Record<string, string>>, held: string | null = null) => {
      cluster.answers.bdev_sizes = (_node, [requested]) => Object.fromEntries(requested.map((one) => [one, 2048]))
      cluster.answers.gantry_devices_seen = () =>
        Object.fromEntries(Object.entries(devices).map(([device, numbers]) => [device, { numbers, held }]))
    }
    const OTHER = '/dev/disk/by-id/scsi-1'

    test('and are taken once under whatever name', async () => {
      observed({ [DEVICE]: '8:16', [OTHER]: '8:16' })
      const text = `Block devices ${OTHER} and ${DEVICE} are the same device of node node1.gnt.example`
      const both = { ...blockdev, disks: [{ adopt: DEVICE }, { adopt: OTHER }] }
      await expect(cluster.run(CREATE, both)).rejects.toThrow(text)
      await cluster.run(CREATE, blockdev)
      const other = { ...blockdev, instance_name: 'inst2.gnt.example', disks: [{ adopt: OTHER }] }
      await expect(cluster.run(CREATE, other)).rejects.toThrow(text)
      const add = { instance_name: NAME, disks: [['add', -1, { size: 9, adopt: OTHER }]] }
      await expect(cluster.run(MODIFY, add)).rejects.toThrow(text)
      expect(cluster.calls('gantry_devices_seen').at(-1)?.args).toEqual([[OTHER], [DEVICE]])
      expect(disks()).toHaveLength(1)
    })

    test('and are not taken from their node, which uses them itself', async () => {
      observed({ [DEVICE]: '8:16' }, 'it is mounted at /srv')
      await expect(cluster.run(CREATE, blockdev)).rejects.toThrow(
        `Block device ${DEVICE} of node node1.gnt.example cannot become a disk: it is mounted at /srv`,
      )
      expect(disks()).toEqual([])
    })

    test('of which nodes of Ganeti cannot tell', async () => {
      cluster.answers.gantry_devices_seen = () => {
        throw new Error('the node does not know this call')
      }
      await cluster.run(CREATE, blockdev)
      expect(disks()).toHaveLength(1)
    })
  })

  test('can be added to an instance, which has them for itself', async () => {
    await cluster.run(CREATE, blockdev)
    const add = (adopt: string) => ({ instance_name: NAME, disks: [['add', -1, { size: 9, adopt }]] })
    await expect(cluster.run(MODIFY, add(DEVICE))).rejects.toThrow('is the disk of another instance already')
    await expect(cluster.run(MODIFY, add(`${DEVICE}0`))).rejects.toThrow(`Missing block device(s): ${DEVICE}0`)
    cluster.answers.bdev_sizes = (_node, [requested]) => Object.fromEntries(requested.map((one) => [one, 32]))
    for (const end of ['0', '1']) {
      const input = end === '0' ? { size: 0 } : {}
      const disk = ['add', -1, { ...input, adopt: `${DEVICE}${end}` }]
      await cluster.run(MODIFY, { instance_name: NAME, disks: [disk] })
    }
    expect(Object.fromEntries(disks().map(({ logical_id: [, device], size }) => [device, size]))).toEqual({
      ...{ [DEVICE]: 2048, [`${DEVICE}0`]: 32, [`${DEVICE}1`]: 32 },
    })
  })
})

describe.each([
  ['ext', ext],
  ['rbd', rbd],
  ['gluster', gluster],
] as const)('%s', (_template, op) => {
  test('an instance is made, grown, renamed, moved and removed, and nothing is left', async () => {
    await cluster.run(CREATE, op)
    await cluster.run('OP_INSTANCE_GROW_DISK', { instance_name: NAME, disk: 0, amount: 36 })
    expect(disks()).toMatchObject([{ size: 100 }])
    await cluster.run('OP_INSTANCE_STARTUP', { instance_name: NAME })
    await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: NAME })
    await cluster.run('OP_INSTANCE_FAILOVER', { instance_name: NAME, target_node: 'node2.gnt.example' })
    const [{ logical_id } = { logical_id: [] }] = disks()
    await cluster.run('OP_INSTANCE_RENAME', { instance_name: NAME, new_name: 'inst9.gnt.example', name_check: false })
    expect(disks()).toMatchObject([{ logical_id }])
    await cluster.run('OP_INSTANCE_REMOVE', { instance_name: 'inst9.gnt.example' })
    expect(cluster.diskFiles()).toEqual([])
    expect(disks()).toEqual([])
  })

  test('wherever the job that makes it is killed, removing it leaves nothing', async () => {
    const enabled = cluster.config.cluster
    for (let after = 1; ; after++) {
      const one = storageCluster()
      one.given(['patchCluster', { enabled_disk_templates: enabled.enabled_disk_templates, ipolicy: enabled.ipolicy }])
      one.answers = cluster.answers
      const killed = await one.runUntilKilled(CREATE, op, after)
      if (one.instance('inst1') !== undefined)
        await one.run('OP_INSTANCE_REMOVE', { instance_name: NAME, ignore_failures: true })
      expect(one.diskFiles()).toEqual([])
      if (!killed) return
    }
  })
})

test('after a migration the node that had an image lets go of its device', async () => {
  await cluster.run(CREATE, rbd)
  await cluster.run('OP_INSTANCE_STARTUP', { instance_name: NAME })
  cluster.asked.length = 0
  await cluster.run('OP_INSTANCE_MIGRATE', { instance_name: NAME, target_node: 'node2.gnt.example' })
  expect(cluster.calls('blockdev_shutdown').map(({ node }) => node)).toEqual(['node1.gnt.example'])
})

test.each([rbd, ext])(
  'one with disks of %j runs on while its snapshots are exported, which are like its disks',
  async (one) => {
    await cluster.run(CREATE, one)
    cluster.asked.length = 0
    const desired = { mode: 'local', target_node: 'node3.gnt.example', shutdown: false }
    await expect(cluster.run('OP_BACKUP_EXPORT', { instance_name: NAME, ...desired })).resolves.toEqual([true, [true]])
    expect(cluster.calls('instance_shutdown')).toEqual([])
    const [disk] = disks()
    const [origin] = cluster.calls('blockdev_snapshot').map(({ args }) => args[0] as { params: object })
    const snapshot = {
      dev_type: one.disk_template,
      logical_id: [disk?.logical_id[0], shape('.*\\.snap')],
      children: [],
    }
    expect(cluster.calls('blockdev_remove').map(({ args: [input] }) => input)).toMatchObject([
      { ...snapshot, params: origin?.params },
    ])
  },
)

test('a volume that was never made is nothing that is left; one that was made and stays is told', async () => {
  const two = { ...ext, disks: [ext.disks[0], ext.disks[0]] }
  let made = 0
  cluster.answers.blockdev_create = (_node, [{ logical_id = null }]) => {
    if (++made === 2) throw new Error('the shelf is full')
    return logical_id
  }
  cluster.answers.blockdev_remove = () => {
    throw new Error('it cannot be removed')
  }
  cluster.answers.blockdev_find = () => null
  await expect(cluster.run(CREATE, two)).rejects.toThrow('the shelf is full')
  const reported = cluster.log.filter((line) => line.includes('it cannot be removed'))
  expect(reported).toHaveLength(1)
  expect(reported[0]).toContain('disk/0')
})

describe('parameters that say where disks are', () => {
  const warnings = () => cluster.log.filter((line) => line.includes('do not move with it'))
  const modify = (params: object) => cluster.run('OP_CLUSTER_SET_PARAMS', { diskparams: params })

  test.each([
    [rbd, { rbd: { pool: 'fast' } }, "rbd:pool changes from 'rbd' to 'fast'"],
    [gluster, { gluster: { volume: 'gv1' } }, "gluster:volume changes from 'gv0' to 'gv1'"],
    [gluster, { gluster: { host: 'storage' } }, "gluster:host changes from '127.0.0.1' to 'storage'"],
  ])('the instances with %j are named when they change to %j', async (op, params, text) => {
    await cluster.run(CREATE, op)
    await cluster.run(CREATE, { ...op, instance_name: 'inst2.gnt.example' })
    await cluster.run(CREATE, { ...ext, instance_name: 'inst3.gnt.example' })
    await modify(params)
    expect(warnings()).toEqual([
      expect.stringMatching(`${text}, and the disks of these instances .*: ${NAME}, inst2.gnt.example`),
    ])
  })

  test('a group names those of its own, and the cluster leaves out groups that have their own value', async () => {
    await cluster.run(CREATE, rbd)
    const group = cluster.config.nodegroups[cluster.node('node1').group]?.name ?? ''
    await cluster.run('OP_GROUP_SET_PARAMS', { group_name: group, diskparams: { rbd: { pool: 'fast' } } })
    expect(warnings()).toHaveLength(1)
    await modify({ rbd: { pool: 'slow' } })
    await cluster.run('OP_GROUP_SET_PARAMS', { group_name: group, diskparams: { rbd: { 'user-id': 'gnt' } } })
    expect(warnings()).toHaveLength(1)
  })
})

test("parameters of a disk's provider are changed and taken away, and no others", async () => {
  await cluster.run(CREATE, ext)
  const modify = (params: object) => cluster.run(MODIFY, { instance_name: NAME, disks: [['modify', 0, params]] })
  await expect(modify({ label: 'right' })).resolves.toEqual([['disk.params:label/0', 'right']])
  expect(disks()).toMatchObject([{ params: { provider: 'shelf', label: 'right' } }])
  await modify({ label: 'default' })
  expect(disks()[0]?.params).toEqual({ provider: 'shelf' })
  await expect(modify({ provider: 'rack' })).rejects.toThrow("Disk parameter 'provider' of a disk that exists")
})

test('disks are converted to those of a provider, which has to be named', async () => {
  await cluster.run(CREATE, { ...plainInstance, disks: [{ size: 64 }], start: false })
  const convert = (ext_params: object) =>
    cluster.run(MODIFY, { instance_name: NAME, disk_template: 'ext', ext_params, wait_for_sync: true })
  await expect(convert({})).rejects.toThrow("Missing provider for template 'ext'")
  await expect(convert({ provider: 'shelf', colour: 'red' })).rejects.toThrow('has no parameter colour')
  await convert({ provider: 'shelf', label: 'left' })
  expect(disks()).toMatchObject([{ dev_type: 'ext', params: { provider: 'shelf', label: 'left' }, size: 64 }])
})

const plain = { ...plainInstance, disks: [{ size: 64 }] }

/** How often each node was asked to make a disk ready, or to give it up, since the last time: the last word counts. */
const lastWords = (): Readonly<Record<string, string>> => {
  const reported = cluster.asked.flatMap(({ call, args: [disk] }) =>
    ['blockdev_create', 'blockdev_assemble', 'blockdev_shutdown', 'blockdev_remove'].includes(call)
      ? [[(disk as { uuid: string }).uuid, call] as const]
      : [],
  )
  return Object.fromEntries(reported)
}

test.each([
  [plain, 'rbd'],
  [plain, 'gluster'],
  [rbd, 'plain'],
  [rbd, 'gluster'],
  [gluster, 'plain'],
  [gluster, 'rbd'],
  [ext, 'rbd'],
  [ext, 'gluster'],
])('disks of %j become ones of %s, and those of a stopped instance do not stay active', async (op, disk_template) => {
  await cluster.run(CREATE, { ...op, start: false })
  const [old] = disks()
  cluster.asked.length = 0
  await cluster.run(MODIFY, { instance_name: NAME, disk_template, wait_for_sync: true })
  const [disk, ...others] = disks()
  expect([disk, others]).toMatchObject([{ dev_type: disk_template, size: 64 }, []])
  expect(cluster.calls('blockdev_convert').map(({ args }) => args)).toMatchObject([[{ uuid: old?.uuid }, { uuid: disk?.uuid }]]) // prettier-ignore
  expect(cluster.diskFiles()).toHaveLength(1)
  expect(lastWords()).toEqual({ [old?.uuid ?? '']: 'blockdev_remove', [disk?.uuid ?? '']: 'blockdev_shutdown' })
  expect(cluster.inconsistencies()).toEqual([])
})

test.each([plain, rbd, gluster, ext])(
  'a disk like %j that a stopped instance gets does not stay active',
  async (op) => {
    await cluster.run(CREATE, { ...op, start: false })
    await cluster.run('OP_INSTANCE_DEACTIVATE_DISKS', { instance_name: NAME })
    cluster.asked.length = 0
    await cluster.run(MODIFY, { instance_name: NAME, disks: [['add', -1, op.disks[0]]], wait_for_sync: true })
    expect(lastWords()).toEqual({ [disks()[1]?.uuid ?? '']: 'blockdev_shutdown' })
  },
)

test('an image that is made again does not stay mapped', async () => {
  await cluster.run(CREATE, { ...rbd, start: false })
  await cluster.run('OP_INSTANCE_DEACTIVATE_DISKS', { instance_name: NAME })
  cluster.answers.blockdev_create = (_node, [{ logical_id = null }]) => logical_id
  cluster.asked.length = 0
  await cluster.run('OP_INSTANCE_RECREATE_DISKS', { instance_name: NAME })
  expect(Object.values(lastWords())).toEqual(['blockdev_shutdown'])
})
