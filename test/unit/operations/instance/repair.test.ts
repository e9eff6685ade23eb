// The repair of instances: what is found, what is done about it, and what is left to an administrator.
import { LOCAL_DISK_STATUS } from '../../../../src/model/constants/disks'
import type { BlockDeviceStatus } from '../../../../src/rpc/node/dicts'
import type { FakeCluster } from '../../../support/fake-cluster'
import { drbdInstance, plainInstance, storageCluster } from '../../../support/storage-cluster'

const REPAIR = 'OP_INSTANCE_REPAIR'
const [PLAIN, DRBD] = ['inst1.gnt.example', 'inst2.gnt.example']
const { ok: OK, unknown: UNKNOWN, faulty: FAULTY } = LOCAL_DISK_STATUS

let cluster: FakeCluster
beforeEach(async () => {
  cluster = storageCluster()
  await cluster.run('OP_INSTANCE_CREATE', drbdInstance)
  cluster.log.length = 0
  cluster.asked.length = 0
})

const status = (ldisk_status: number, more: Partial<BlockDeviceStatus> = {}): BlockDeviceStatus => ({
  ...{ dev_path: '/dev/drbd0', is_degraded: ldisk_status !== OK, ldisk_status },
  ...more,
})
type Told = BlockDeviceStatus | string

/** What nodes tell of the disk, look by look; the last answer stays. */
function reported(probes: readonly Readonly<Record<string, Told>>[]): void {
  const observed = new Map<string, number>()
  cluster.answers.blockdev_getmirrorstatus_multi = ({ name }, [disks]) => {
    const node = name.split('.')[0] ?? ''
    const look = observed.get(node) ?? 0
    observed.set(node, look + 1)
    const one = probes[Math.min(look, probes.length - 1)]?.[node] ?? status(OK)
    return disks.map(() => (typeof one === 'string' ? [false, one] : [true, one]))
  }
}
const repair = (instance_name = DRBD, more = {}) => cluster.run(REPAIR, { instance_name, ...more })
const offline = (name: string) => cluster.change('patchNode', cluster.node(name).uuid, { offline: true })
const submitted = () =>
  cluster.submitted
    .flat()
    .map(({ OP_ID, mode, iallocator }) => [OP_ID, mode, iallocator].filter((one) => one !== undefined))
const changing = () => cluster.asked.map(({ call }) => call).filter((call) => /assemble|wait_sync|attach/.test(call))

test('nothing is done about an instance that is well, however often it is asked for', async () => {
  reported([{}])
  for (let times = 0; times < 2; times++) {
    await expect(repair()).resolves.toEqual({ found: [], left: [], jobs: [] })
    expect(cluster.log).toContain(`Nothing is wrong with instance ${DRBD}`)
  }
  expect(changing()).toEqual([])
})

test('a mirror that is being filled is told, and left alone', async () => {
  reported([{ node2: status(UNKNOWN, { sync_percent: 12 }) }])
  await expect(repair()).resolves.toEqual({
    ...{ found: ['disk/0 is being filled on node node2.gnt.example: 12%'], left: [], jobs: [] },
  })
  expect(changing()).toEqual([])
})

test('a side that is not assembled is assembled and connected again', async () => {
  reported([{ node2: "Can't find device" }, {}])
  cluster.answers.drbd_wait_sync = () => [false, 5]
  await expect(repair()).resolves.toEqual({
    found: ["disk/0 cannot be used on node node2.gnt.example: Can't find device"],
    ...{ left: [], jobs: [] },
  })
  expect([...new Set(changing())]).toEqual(['blockdev_assemble', 'drbd_wait_sync'])
  expect(submitted()).toEqual([])
})

test('a side that has no data once it is connected gets new volumes', async () => {
  reported([{ node1: status(FAULTY) }])
  cluster.answers.drbd_wait_sync = () => [true, 100]
  await repair()
  expect(submitted()).toEqual([['OP_INSTANCE_REPLACE_DISKS', 'replace_auto']])
})

test('where both sides have no data, nothing is replaced', async () => {
  reported([{ node1: status(FAULTY), node2: status(FAULTY) }])
  cluster.answers.drbd_wait_sync = () => [true, 100]
  await expect(repair()).rejects.toThrow(`Both nodes of instance ${DRBD} have disks without data`)
  expect(submitted()).toEqual([])
})

test('a split brain is told with the way out, and nothing is replaced', async () => {
  reported([{ node1: status(FAULTY), node2: status(UNKNOWN) }])
  cluster.answers.drbd_wait_sync = ({ name }) => {
    throw new Error(name === 'node1.gnt.example' ? 'it waits for the other' : 'choose the node whose data is to stay')
  }
  await expect(repair()).rejects.toThrow(
    `The disks of instance ${DRBD} could not be connected on node node1.gnt.example: it waits for the other; ` +
      'on node node2.gnt.example: choose the node whose data is to stay',
  )
  expect(submitted()).toEqual([])
})

test.each([
  [undefined, '', 'hail'],
  [undefined, 'mine', '.'],
  ['other', 'mine', 'other'],
])(
  'a secondary node that is offline is replaced by one of the allocator %p, the default being %p',
  async (own, general, requested) => {
    reported([{}])
    cluster.change('patchCluster', { default_iallocator: general })
    offline('node2')
    await expect(repair(DRBD, { iallocator: own })).resolves.toMatchObject({
      found: ['its secondary node node2.gnt.example is offline'],
      left: [],
    })
    expect(submitted()).toEqual([['OP_INSTANCE_REPLACE_DISKS', 'replace_new_secondary', requested]])
  },
)

test('an instance whose primary node is offline fails over only when that is asked for', async () => {
  offline('node1')
  await expect(repair()).resolves.toEqual({
    found: ['its primary node node1.gnt.example is offline'],
    left: [expect.stringContaining(`"gnt-instance repair --failover ${DRBD}" starts it on another node`)],
    jobs: [],
  })
  await expect(repair(DRBD, { failover: true })).resolves.toMatchObject({ left: [] })
  expect(cluster.submitted).toHaveLength(1)
  expect(submitted()).toEqual([
    ['OP_INSTANCE_FAILOVER'],
    ['OP_INSTANCE_REPLACE_DISKS', 'replace_new_secondary', expect.any(String)],
  ])
})

test('an instance on storage of all nodes fails over to where the allocator says', async () => {
  const rbd = cluster.addInstance('rbd1', 'node1')
  cluster.addRbdDisk(rbd.uuid)
  offline('node1')
  await repair('rbd1', { failover: true, iallocator: 'mine' })
  expect(submitted()).toEqual([['OP_INSTANCE_FAILOVER', 'mine']])
})

test('nothing helps where all nodes of the data are offline', async () => {
  offline('node1')
  offline('node2')
  await expect(repair(DRBD, { failover: true })).resolves.toMatchObject({
    left: [expect.stringContaining('its secondary node node2.gnt.example is offline, too')],
    jobs: [],
  })
  await cluster.change('patchNode', cluster.node('node1').uuid, { offline: false })
  await cluster.run('OP_INSTANCE_CREATE', plainInstance)
  offline('node1')
  await expect(repair(PLAIN, { failover: true })).resolves.toMatchObject({
    left: [expect.stringContaining('its disks are on node1.gnt.example alone')],
  })
})

test('a node that does not answer is named, and the others are mended', async () => {
  reported([{}])
  const answer = cluster.answers.blockdev_getmirrorstatus_multi
  cluster.answers.blockdev_getmirrorstatus_multi = (node, args) => {
    if (node.name.startsWith('node2')) throw new Error('connection refused')
    return answer?.(node, args)
  }
  await expect(repair()).resolves.toMatchObject({
    left: ['node node2.gnt.example does not report the state of the disks: connection refused'],
  })
})

test('a disk that the primary node cannot assemble is told with what helps', async () => {
  await cluster.run('OP_INSTANCE_CREATE', plainInstance)
  reported([{ node1: "Can't find device" }])
  cluster.answers.blockdev_assemble = () => {
    throw new Error('the volume does not exist')
  }
  await expect(repair(PLAIN)).rejects.toThrow(
    `The disks of instance ${PLAIN} cannot be assembled on its primary node node1.gnt.example, as the warnings say`,
  )
  expect(cluster.instance(PLAIN)?.disks_active).toBe(true)
})

test('disks that a failed start has left inactive are assembled, and their volumes made anew', async () => {
  cluster.change('setInstanceStatus', cluster.instance(DRBD)?.uuid ?? '', null, false, null)
  reported([{ node1: "Can't find device", node2: "Can't find device" }, { node1: status(FAULTY) }])
  await expect(repair()).resolves.toMatchObject({
    found: [1, 2].map((node) => `disk/0 cannot be used on node node${node}.gnt.example: Can't find device`),
  })
  expect(submitted()).toEqual([['OP_INSTANCE_REPLACE_DISKS', 'replace_auto']])
  expect(cluster.instance(DRBD)?.disks_active).toBe(true)
})

test('a dry run says what would be done, and does nothing', async () => {
  reported([{ node2: "Can't find device" }])
  await repair(DRBD, { dry_run: true })
  expect(cluster.log).toEqual(
    expect.arrayContaining([
      `Instance ${DRBD}: disk/0 cannot be used on node node2.gnt.example: Can't find device`,
      'To do: assemble and connect its disks, and replace volumes that have lost their data',
    ]),
  )
  expect([changing(), submitted()]).toEqual([[], []])
})

test('of a stopped instance only its nodes are looked at, and whether it runs', async () => {
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: DRBD })
  cluster.asked.length = 0
  await expect(repair()).resolves.toEqual({ found: [], left: [], jobs: [] })
  expect(cluster.asked.map(({ call }) => call)).toEqual(['instance_info'])
})
