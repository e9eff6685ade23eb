// Disks of each template that can be converted become disks of each other one.
import { DISK_TEMPLATES, type DiskTemplate, factsOf, isDrbd, isOnLvm } from '../../../../../src/model/templates'
import type { FakeCluster } from '../../../../support/fake-cluster'
import { plainInstance, storageCluster } from '../../../../support/storage-cluster'

const MODIFY = 'OP_INSTANCE_SET_PARAMS'
const { instance_name } = plainInstance
const OTHER = 'node2.gnt.example'
const DISK = { size: 64, name: 'root', mode: 'ro' } as const
const CONVERTED = DISK_TEMPLATES.filter((template) => factsOf(template).notConvertible === undefined)
const PAIRS = CONVERTED.flatMap((from) => CONVERTED.filter((to) => to !== from).map((to) => [from, to] as const))

let cluster: FakeCluster
beforeEach(() => {
  cluster = storageCluster()
  const ipolicy = { ...cluster.config.cluster.ipolicy, 'disk-templates': CONVERTED }
  cluster.given(['patchCluster', { enabled_disk_templates: CONVERTED, ipolicy }])
  cluster.answers.extstorage_diagnose = () => [['shelf', '/usr/share/ganeti/extstorage/shelf', true, '', []]]
})

const add = (template: DiskTemplate) =>
  cluster.run('OP_INSTANCE_CREATE', {
    ...{ ...plainInstance, disk_template: template, start: false },
    disks: [{ ...DISK, ...(template === 'ext' && { provider: 'shelf' }) }],
    ...(isDrbd(template) && { snode: OTHER }),
  })

const convert = (to: DiskTemplate) =>
  cluster.run(MODIFY, {
    ...{ instance_name, disk_template: to, wait_for_sync: true },
    ...(to === 'ext' && { ext_params: { provider: 'shelf' } }),
    ...(isDrbd(to) && { remote_node: OTHER }),
  })

const disks = () => Object.values(cluster.config.disks)
const kept = () =>
  ['node1', 'node2', 'node3'].map((node) => [...cluster.world.node(`${node}.gnt.example`).disks.keys()].sort())

/** Whether the data stays where it is, and a second copy of it comes or goes. */
const staysInPlace = (from: DiskTemplate, to: DiskTemplate) => isOnLvm(from) && isOnLvm(to)

test.each(PAIRS)('%s to %s: the new disks have the data, and nothing is left of the old ones', async (from, to) => {
  await add(to)
  const desired = kept().map(({ length }) => length)
  await cluster.run('OP_INSTANCE_REMOVE', { instance_name, ignore_failures: false })
  await add(from)
  const [old] = disks()
  cluster.asked.length = 0
  await convert(to)
  expect(disks()).toMatchObject([{ dev_type: to, ...DISK, nodes: isDrbd(to) ? [{}, {}].map(() => expect.any(String)) : expect.any(Array) }]) // prettier-ignore
  const copied = cluster.calls('blockdev_convert').map(({ args }) => args)
  const [disk] = disks()
  expect(copied).toMatchObject(staysInPlace(from, to) ? [] : [[{ uuid: old?.uuid }, { uuid: disk?.uuid }]])
  expect(kept().map(({ length }) => length)).toEqual(desired)
  expect(cluster.inconsistencies()).toEqual([])
})

test.each(PAIRS.filter(([from, to]) => !staysInPlace(from, to)))(
  '%s to %s: disks that cannot be filled are taken back',
  async (from, to) => {
    await add(from)
    const [config, before] = [cluster.config.disks, kept()]
    cluster.answers.blockdev_convert = () => {
      throw new Error('no room')
    }
    await expect(convert(to)).rejects.toThrow("Error while converting the instance's template: no room")
    expect([cluster.config.disks, kept()]).toEqual([config, before])
    expect(cluster.inconsistencies()).toEqual([])
  },
)
