// Parameters of one disk, over those of its group and of the cluster.
import { diskDict } from '../../../../../src/config/rpc-dicts'
import type { DiskParams } from '../../../../../src/opcodes/types'
import type { FakeCluster } from '../../../../support/fake-cluster'
import { drbdInstance, plainInstance, storageCluster } from '../../../../support/storage-cluster'

const CREATE = 'OP_INSTANCE_CREATE'
const MODIFY = 'OP_INSTANCE_SET_PARAMS'
const RECREATE = 'OP_INSTANCE_RECREATE_DISKS'
const NAME = plainInstance.instance_name
const MIRROR = drbdInstance.instance_name

let cluster: FakeCluster
beforeEach(() => {
  cluster = storageCluster()
})

const makePlain = (disk: DiskParams) =>
  cluster.run(CREATE, { ...plainInstance, disks: [{ size: 64, ...disk }], start: false })
const makeMirror = (disk: DiskParams) =>
  cluster.run(CREATE, { ...drbdInstance, disks: [{ size: 128, ...disk }], start: false })
const noted = (name: string = NAME) => cluster.instance(name)?.disks.map((uuid) => cluster.config.disks[uuid]?.params)
const made = () =>
  cluster.calls('blockdev_create').map(({ args: [disk] }) => (disk as { params: Record<string, unknown> }).params)
const reported = (name: string, value: unknown, source: string) => ({ name, value, source })
const STRIPED = { stripes: '2', 'stripe-size': '64k' }

test('a disk is made with its own parameters, which are noted where Ganeti looks for them', async () => {
  await makePlain(STRIPED)
  expect(noted()).toEqual([{ stripes: 2, 'stripe-size': 64 }])
  expect(made()).toEqual([{ stripes: 2, 'stripe-size': 64 }])
})

test('those of a mirror that concern its volumes go to these, the others to itself, by the names of nodes', async () => {
  await makeMirror({ 'data-stripes': 3, 'meta-stripe-size': '128', 'resync-rate': 2048, 'disk-barriers': 'bf' })
  expect(noted(MIRROR)).toEqual([
    { 'data-stripes': 3, 'meta-stripe-size': 128, 'resync-rate': 2048, 'disk-barriers': 'bf' },
  ])
  const [disk] = Object.values(cluster.config.disks)
  if (disk === undefined) throw new Error('no disk')
  const dict = diskDict(cluster.config, disk, undefined)
  expect(dict.children.map(({ params }) => params)).toEqual([{ stripes: 3 }, { stripes: 1, 'stripe-size': 128 }])
  expect(dict.params).toMatchObject({ 'resync-rate': 2048, 'disabled-barriers': 'bf' })
  for (const name of ['disk-barriers', 'data-stripes', 'meta-stripe-size']) expect(dict.params).not.toHaveProperty(name)
})

test('a disk without any takes those of its group, or of the cluster', async () => {
  cluster.change('patchCluster', {
    diskparams: { ...cluster.config.cluster.diskparams, plain: { stripes: 2, 'stripe-size': 32 } },
  })
  cluster.change('patchNodeGroup', cluster.groupNamed('default').uuid, { diskparams: { plain: { stripes: 4 } } })
  await makePlain({ 'stripe-size': 'default' })
  expect([noted(), made()]).toEqual([[{}], [{ stripes: 4, 'stripe-size': 32 }]])
  await cluster.run(MODIFY, { instance_name: NAME, disks: [['add', -1, { size: 32, stripes: 1 }]] })
  const answer = await cluster.run('OP_INSTANCE_QUERY_DATA', { instances: [NAME], static: true })
  expect(answer).toMatchObject({
    [NAME]: {
      disks: [
        { parameters: [reported('stripes', 4, 'group'), reported('stripe-size', 32, 'cluster')] },
        { parameters: [reported('stripes', 1, 'disk'), reported('stripe-size', 32, 'cluster')] },
      ],
    },
  }) // prettier-ignore
})

test('where nobody has set any, none are told', async () => {
  await makeMirror({})
  const answer = JSON.stringify(await cluster.run('OP_INSTANCE_QUERY_DATA', { instances: [MIRROR], static: true }))
  expect(answer).not.toContain('"parameters"')
})

test.each<[DiskParams, string]>([
  [{ 'data-stripes': 2 }, "Disks of template 'plain' have no 'data-stripes'; they have stripes, stripe-size"],
  [{ stripes: 0 }, 'stripes is a number from 1 to 128'],
  [{ stripes: 'many' }, "'stripes' (value many) is not a valid integer"],
  [{ 'stripe-size': 48 }, "stripe-size is a power of two from 4 to 4096 KiB, or 0 for LVM's own size"],
  [{ 'stripe-size': '64x' }, "'stripe-size' (value 64x) is not a valid size: write KiB, such as 64 or 64k"],
  [{ stripe: 2 }, "Unknown parameter 'stripe'"],
  [{ adopt: 'old', stripes: 2 }, "An adopted disk stays as it was made: leave out 'stripes'"],
])('%j is refused: %s', async (disk, text) => {
  await expect(makePlain(disk)).rejects.toThrow(text)
  expect(cluster.config.disks).toEqual({})
})

test('files have none', async () => {
  cluster.change('patchCluster', { enabled_disk_templates: ['plain', 'drbd', 'file'] })
  await expect(
    cluster.run(CREATE, { ...plainInstance, disk_template: 'file', disks: [{ size: 64, stripes: 2 }] }),
  ).rejects.toThrow("Disks of template 'file' have no 'stripes'; leave it out")
})

test('of a disk that exists those change that count when it is activated next', async () => {
  await makeMirror({ 'resync-rate': 2048, 'data-stripes': 2 })
  const modify = (params: DiskParams) => cluster.run(MODIFY, { instance_name: MIRROR, disks: [['modify', 0, params]] })
  expect(await modify({ 'resync-rate': 4096, protocol: 'A' })).toEqual([
    ['disk.params:resync-rate/0', 4096],
    ['disk.params:protocol/0', 'A'],
  ])
  expect(noted(MIRROR)).toEqual([{ 'data-stripes': 2, 'resync-rate': 4096, protocol: 'A' }])
  await modify({ 'resync-rate': 'default' })
  expect(noted(MIRROR)).toEqual([{ 'data-stripes': 2, protocol: 'A' }])
  await expect(modify({ 'data-stripes': 3 })).rejects.toThrow(
    `'data-stripes' says how a disk is made, and this one exists: "gnt-instance recreate-disks --disk 0:data-stripes=VALUE"`,
  )
  await cluster.run('OP_INSTANCE_STARTUP', { instance_name: MIRROR })
  await modify({ 'c-max-rate': 9000 })
  expect(cluster.log.join()).toContain('The parameters of disk 0 count when it is activated next')
})

test('a recreated disk can get others', async () => {
  await makePlain(STRIPED)
  cluster.asked.length = 0
  cluster.world.node('node1.gnt.example').disks.clear()
  await cluster.run(RECREATE, { instance_name: NAME, disks: [[0, { stripes: 3, 'stripe-size': 'default' }]] })
  expect([noted(), made()]).toEqual([[{ stripes: 3 }], [{ stripes: 3 }]])
  await expect(cluster.run(RECREATE, { instance_name: NAME, disks: [[0, { 'data-stripes': 3 }]] })).rejects.toThrow(
    "have no 'data-stripes'",
  )
})

test('a conversion keeps what the new template knows, by its name', async () => {
  await makePlain(STRIPED)
  await cluster.run(MODIFY, { instance_name: NAME, disk_template: 'drbd', remote_node: 'node3.gnt.example' })
  expect(noted()).toEqual([{ 'data-stripes': 2, 'data-stripe-size': 64 }])
  await cluster.run(MODIFY, { instance_name: NAME, disk_template: 'plain' })
  expect(noted()).toEqual([{ stripes: 2, 'stripe-size': 64 }])
})

test('an export keeps those of each disk, and an import takes them over', async () => {
  await makeMirror({ 'data-stripes': 2, 'resync-rate': 2048 })
  await cluster.run('OP_BACKUP_EXPORT', { instance_name: MIRROR, target_node: 'node3.gnt.example' })
  const [finalized] = cluster.calls('finalize_export')
  expect(finalized?.args[1]).toMatchObject([{ params: { 'data-stripes': 2, 'resync-rate': 2048 } }])
  const imported = { mode: 'import', src_node: 'node3.gnt.example', disks: [], hypervisor: undefined, start: false }
  await cluster.run(CREATE, { ...drbdInstance, ...imported, instance_name: 'inst3.gnt.example', src_path: MIRROR })
  expect(noted('inst3.gnt.example')).toEqual([{ 'data-stripes': 2, 'resync-rate': 2048 }])
  const plain = { ...plainInstance, ...imported, instance_name: 'inst4.gnt.example', src_path: MIRROR }
  await cluster.run(CREATE, plain)
  expect(noted('inst4.gnt.example')).toEqual([{ stripes: 2 }])
})
