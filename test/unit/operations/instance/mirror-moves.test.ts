// Moves of mirrored instances that fail: the disks have one side that writes again, the one where the instance is.
import type { CallName } from '../../../../src/rpc/node/calls'
import type { FakeCluster } from '../../../support/fake-cluster'
import { drbdInstance, storageCluster } from '../../../support/storage-cluster'

const move = { instance_name: 'inst2.gnt.example', mode: 'live' }

let cluster: FakeCluster
beforeEach(async () => {
  cluster = storageCluster()
  await cluster.run('OP_INSTANCE_CREATE', drbdInstance)
  cluster.asked.length = 0
})

const once = (text: string) => {
  let failed = false
  return () => {
    if (failed) return undefined
    failed = true
    throw new Error(text)
  }
}
const modes = () => cluster.calls('drbd_attach_net').map(({ node, args }) => [node.split('.')[0], args[1]])

test.each([
  'drbd_disconnect_net',
  'drbd_attach_net',
  'blockdev_open',
  'accept_instance',
  'instance_migrate',
] satisfies CallName[])(
  'a migration in which %s fails leaves the instance and its disks on the primary node',
  async (call) => {
    Object.assign(cluster.answers, { [call]: once('the link is down') })
    await expect(cluster.run('OP_INSTANCE_MIGRATE', move)).rejects.toThrow('the link is down')
    expect(cluster.instance('inst2')?.primary_node).toBe(cluster.node('node1').uuid)
    expect(cluster.runningOn('inst2')).toEqual(['node1.gnt.example'])
    // Both sides were connected again, and only one may write.
    expect(modes().slice(-2).sort()).toEqual([
      ['node1', false],
      ['node2', false],
    ])
    const closed = cluster.calls('blockdev_close').map(({ node }) => node)
    expect(closed.at(-1)).toBe('node2.gnt.example')
  },
)

test('a resync that takes its time is waited for, with news', async () => {
  let percent = 40
  cluster.answers.drbd_wait_sync = () => [(percent += 20) >= 100, percent]
  await cluster.run('OP_INSTANCE_MIGRATE', move)
  expect(cluster.log.some((line) => /^ {3}- progress: \d+\.0%$/.test(line))).toBe(true)
  expect(cluster.runningOn('inst2')).toEqual(['node2.gnt.example'])
})

test('after a failed failover a cleanup assembles the other side, and the disks count as active again', async () => {
  cluster.change('setInstanceStatus', cluster.instance('inst2')?.uuid, null, false, null)
  let assembled = false
  const needsDevice = ({ name }: { name: string }) => {
    if (name === 'node2.gnt.example' && !assembled) throw new Error("Can't find device disk/0")
    return undefined
  }
  for (const call of ['blockdev_getmirrorstatus', 'drbd_disconnect_net', 'drbd_wait_sync', 'drbd_attach_net'] as const)
    Object.assign(cluster.answers, { [call]: needsDevice })
  cluster.answers.blockdev_assemble = ({ name }) => ((assembled ||= name === 'node2.gnt.example'), undefined)
  await cluster.run('OP_INSTANCE_MIGRATE', { ...move, cleanup: true })
  expect(assembled).toBe(true)
  expect(cluster.instance('inst2')?.disks_active).toBe(true)
  expect(cluster.runningOn('inst2')).toEqual(['node1.gnt.example'])
})

test('a cleanup connects sides that have lost each other', async () => {
  cluster.answers.drbd_wait_sync = once('device is not connected')
  await cluster.run('OP_INSTANCE_MIGRATE', { ...move, cleanup: true })
  expect(modes().sort()).toEqual([
    ['node1', false],
    ['node2', false],
  ])
  expect(cluster.log.join('\n')).toContain('they are connected again')
})

test('an instance with a degraded mirror is not moved to the degraded side', async () => {
  cluster.answers.blockdev_find = () => ({ dev_path: '/dev/drbd0', is_degraded: true, ldisk_status: 1 })
  await expect(cluster.run('OP_INSTANCE_MIGRATE', move)).rejects.toThrow('degraded or not fully synchronized')
  const failover = { instance_name: 'inst2.gnt.example', ignore_consistency: false }
  await expect(cluster.run('OP_INSTANCE_FAILOVER', failover)).rejects.toThrow('Disk 0 is degraded on target node')
  expect(cluster.runningOn('inst2')).toEqual(['node1.gnt.example'])
})

describe('a stopped instance', () => {
  const failover = { instance_name: 'inst2.gnt.example' }
  const degraded = { dev_path: '/dev/drbd0', is_degraded: true, ldisk_status: 1 }
  const inst2 = () => cluster.instance('inst2')
  beforeEach(async () => {
    await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: 'inst2.gnt.example' })
    expect(inst2()?.disks_active).toBe(false)
    cluster.asked.length = 0
  })

  test('does not move to a copy that is behind, unless that is asked for', async () => {
    cluster.answers.blockdev_find = () => degraded
    await expect(cluster.run('OP_INSTANCE_FAILOVER', failover)).rejects.toThrow('Disk 0 is degraded on target node')
    expect(inst2()).toMatchObject({ primary_node: cluster.node('node1').uuid, disks_active: false })
    expect(cluster.calls('blockdev_shutdown')).toHaveLength(2)
    expect(cluster.log.join('\n')).toContain('gnt-instance activate-disks inst2.gnt.example')
    await cluster.run('OP_INSTANCE_FAILOVER', { ...failover, ignore_consistency: true })
    expect(inst2()?.primary_node).toBe(cluster.node('node2').uuid)
  })

  test('moves when its copies are equal, or become equal soon', async () => {
    let probes = 0
    cluster.answers.blockdev_find = () => (++probes < 3 ? degraded : { ...degraded, is_degraded: false })
    await cluster.run('OP_INSTANCE_FAILOVER', failover)
    expect(inst2()).toMatchObject({ primary_node: cluster.node('node2').uuid, disks_active: false })
    expect(cluster.calls('blockdev_assemble').length).toBeGreaterThan(0)
  })

  test('moves from a node that is offline, whose copy nobody can ask', async () => {
    cluster.answers.blockdev_find = () => degraded
    cluster.change('patchNode', cluster.node('node1').uuid, { offline: true, master_candidate: false })
    await cluster.run('OP_INSTANCE_FAILOVER', failover)
    expect(inst2()?.primary_node).toBe(cluster.node('node2').uuid)
  })
})

test('an instance whose other node hangs is shown with what its own node says', async () => {
  const degraded = { dev_path: '/dev/drbd0', is_degraded: true, ldisk_status: 1 }
  cluster.answers.blockdev_find = ({ name }) => {
    if (name === 'node2.gnt.example') throw new Error('the mirrors did not answer list in 4 s')
    return degraded
  }
  const requested = { instances: ['inst2.gnt.example'], static: false, use_locking: true }
  const answer = (await cluster.run('OP_INSTANCE_QUERY_DATA', requested)) as Record<string, { disks: unknown[] }>
  const displayed = ['/dev/drbd0', null, null, null, null, true, 1]
  expect(answer['inst2.gnt.example']?.disks[0]).toMatchObject({ pstatus: displayed, sstatus: null })
  expect(cluster.log.join('\n')).toContain(
    "WARNING: Can't compute disk status for inst2.gnt.example: the mirrors did not",
  )
})
