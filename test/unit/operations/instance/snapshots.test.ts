// Snapshots that users ask for: made on the storage, noted, listed, and never lost silently.
import { allSnapshots, SNAPSHOTS_SECTION } from '../../../../src/model/snapshots'
import { nodeCalls } from '../../../../src/rpc/node/calls'
import { NO_ANSWER } from '../../../../src/rpc/node/client'
import { UNKNOWN_CALL } from '../../../../src/rpc/node/exchange'
import type { NodeProber } from '../../../../src/services/live-data/node-prober'
import { shownSnapshots } from '../../../../src/services/snapshots'
import { answerChecks } from '../../../../src/daemons/sim/checks'
import type { FakeCluster } from '../../../support/fake-cluster'
import { drbdInstance, plainInstance, storageCluster } from '../../../support/storage-cluster'

const MAKE = 'OP_INSTANCE_SNAPSHOT'
const DELETE = 'OP_INSTANCE_REMOVE_SNAPSHOT'
const ROLL_BACK = 'OP_INSTANCE_ROLLBACK_SNAPSHOT'
const [PLAIN, DRBD] = ['inst1.gnt.example', 'inst2.gnt.example']

let cluster: FakeCluster
beforeEach(async () => {
  cluster = storageCluster()
  await cluster.run('OP_INSTANCE_CREATE', plainInstance)
})

const snapshot = (...names: readonly (readonly [number | string, string])[]) => ({
  disks: names.map(([disk, snapshot_name]) => [disk, { snapshot_name }]),
})
const make = (...names: readonly (readonly [number | string, string])[]) =>
  cluster.run(MAKE, { instance_name: PLAIN, ...snapshot(...names) })
const noted = () => allSnapshots(cluster.gantry.sections[SNAPSHOTS_SECTION] ?? {})
const listed = (name = PLAIN) => {
  const { nodes } = cluster.environment()
  const ask: NodeProber['ask'] = async (node, call, args) =>
    (await nodes.all([node], call, args)).get(node.uuid) ?? NO_ANSWER
  return shownSnapshots({ ask }, cluster.config, cluster.gantry, name)
}
const displayed = async (name = PLAIN) => (await listed(name)).map(({ disk, name: own, node }) => [disk, own, node])
const volumes = (node = 'node1') => [...cluster.world.node(`${node}.gnt.example`).disks.keys()].sort()

test('a running instance gets snapshots of its volumes, which are listed and deleted by name', async () => {
  const before = volumes()
  await make([0, 'before'], ['1', 'before'])
  expect(cluster.runningOn(PLAIN)).toEqual(['node1.gnt.example'])
  await expect(displayed()).resolves.toEqual([0, 1].map((disk) => [disk, 'before', 'node1.gnt.example']))
  const made = volumes().filter((one) => !before.includes(one))
  expect(made).toEqual([expect.stringMatching(/disk0.*\.before/), expect.stringMatching(/disk1.*\.before/)])
  expect(
    made.map((one) => noted().some(({ logical_id: [vg, lv] }) => one.includes(`${vg}`) && one.includes(`${lv}`))),
  ).toEqual([true, true])
  await cluster.run(DELETE, { instance_name: PLAIN, ...snapshot([0, 'before'], [1, 'before']) })
  expect(volumes()).toEqual(before)
  expect(cluster.gantry.sections[SNAPSHOTS_SECTION]).toBeUndefined()
})

test('what its node cannot make is refused before anything is noted, and an older node is asked by the snapshot', async () => {
  cluster.answers.gantry_snapshot_problem = () => 'the file system cannot share blocks'
  await expect(make([0, 'before'])).rejects.toThrow(`Instance ${PLAIN}: the file system cannot share blocks`)
  expect([cluster.calls('blockdev_snapshot'), noted()]).toEqual([[], []])
  cluster.answers.gantry_snapshot_problem = () => {
    throw new Error('Unknown method gantry_snapshot_problem')
  }
  await make([0, 'before'])
  expect(noted()).toHaveLength(1)
})

test('the room for changes is what was asked for, and otherwise left to the node', async () => {
  await cluster.run(MAKE, {
    instance_name: PLAIN,
    disks: [
      [0, { snapshot_name: 'small', snapshot_size: '1g' }],
      [1, { snapshot_name: 'whole' }],
    ],
  })
  const [small, whole] = cluster.calls('blockdev_snapshot').map(({ args }) => args.slice(1))
  expect(small).toEqual([expect.stringMatching(/\.small$/), 1024])
  expect(whole).toEqual([expect.stringMatching(/\.whole$/), null])
})

test('a mirror whose copy on the primary node is not complete has none, whether it is in use or not', async () => {
  await cluster.run('OP_INSTANCE_CREATE', drbdInstance)
  cluster.answers.blockdev_find = () => ({ dev_path: '/dev/drbd0', is_degraded: true, ldisk_status: 4 })
  const before = volumes()
  for (const change of ['OP_INSTANCE_STARTUP', 'OP_INSTANCE_SHUTDOWN']) {
    await cluster.run(change, { instance_name: DRBD })
    await expect(cluster.run(MAKE, { instance_name: DRBD, ...snapshot([0, 'one']) })).rejects.toThrow(
      'The copy of disk/0 on node node1.gnt.example is not complete, so no snapshot was made',
    )
  }
  expect([volumes(), noted()]).toEqual([before, []])
})

test('a mirror has them of its data on the primary node, and they stay there after a failover', async () => {
  await cluster.run('OP_INSTANCE_CREATE', drbdInstance)
  await cluster.run(MAKE, { instance_name: DRBD, ...snapshot([0, 'one']) })
  await cluster.run('OP_INSTANCE_FAILOVER', { instance_name: DRBD })
  await expect(displayed(DRBD)).resolves.toEqual([[0, 'one', 'node1.gnt.example']])
  const replace = { instance_name: DRBD, mode: 'replace_on_secondary' }
  await expect(cluster.run('OP_INSTANCE_REPLACE_DISKS', replace)).rejects.toThrow(
    `Disk 0 of instance ${DRBD} has snapshots (one), so its volumes on node node1.gnt.example cannot be replaced; delete them first, as with ` +
      `"gnt-instance remove-snapshot --disk 0:snapshot_name=one ${DRBD}"`,
  )
  await cluster.run('OP_INSTANCE_REPLACE_DISKS', { ...replace, mode: 'replace_on_primary' })
  cluster.asked.length = 0
  await cluster.run(DELETE, { instance_name: DRBD, ...snapshot([0, 'one']) })
  expect(cluster.calls('blockdev_remove').map(({ node }) => node)).toEqual(['node1.gnt.example'])
})

test('when one fails, those before it are deleted again', async () => {
  const before = volumes()
  let count = 0
  cluster.answers.blockdev_snapshot = () => {
    if (++count === 2) throw new Error('no room')
    return undefined
  }
  await expect(make([0, 'a'], [1, 'a'])).rejects.toThrow(
    `Could not make snapshot 'a' of disk/1 of instance ${PLAIN} on node node1.gnt.example: no room`,
  )
  expect(volumes()).toEqual(before)
  expect(noted()).toEqual([])
})

test('wherever its job is killed, each snapshot on a node is noted', async () => {
  for (let after = 1; ; after++) {
    cluster = storageCluster()
    await cluster.run('OP_INSTANCE_CREATE', plainInstance)
    const before = volumes()
    cluster.asked.length = 0
    const op = { instance_name: PLAIN, ...snapshot([0, 'a'], [1, 'a']) }
    const killed = await cluster.runUntilKilled(MAKE, op, after)
    const names = noted().map(({ logical_id: [, lv] }) => String(lv))
    for (const made of volumes().filter((one) => !before.includes(one)))
      expect(names.some((name) => made.includes(name))).toBe(true)
    if (!killed) break
  }
})

test.each([
  [{ disks: [] }, 'No snapshot is named: say which disks'],
  [snapshot([0, 'a/b']), 'is no name of a snapshot'],
  [snapshot([0, '-f']), 'is no name of a snapshot'],
  [snapshot([0, 'x'.repeat(65)]), 'is no name of a snapshot'],
  [snapshot([0, 'snap']), "A snapshot cannot be called 'snap', as exports call theirs"],
  [snapshot([2, 'a']), 'there are only 2'],
  [snapshot([0, 'a'], ['0', 'a']), "Disk 0 of instance inst1.gnt.example has a snapshot 'a' already"],
  [{ disks: [[0, { snapshot_name: 'a', snapshot_size: 0 }]] }, 'cannot be 0'],
])('%j is refused', async (input, why) => {
  await expect(cluster.run(MAKE, { instance_name: PLAIN, ...input })).rejects.toThrow(why)
  expect(cluster.calls('blockdev_snapshot')).toEqual([])
})

test('a name is given once, and only so many snapshots are there', async () => {
  await make([0, 'a'])
  await expect(make([0, 'a'])).rejects.toThrow("has a snapshot 'a' already: delete it, or choose another name")
  await make(...Array.from({ length: 31 }, (_, index) => [0, `s${index}`] as const))
  await expect(make([0, 'more'])).rejects.toThrow('has 32 snapshots already: delete some')
})

test('storage that makes none says so', async () => {
  const rbd = cluster.addInstance('rbd1', 'node1')
  cluster.addRbdDisk(rbd.uuid)
  const room = { disks: [[0, { snapshot_name: 'a', snapshot_size: 64 }]] }
  await expect(cluster.run(MAKE, { instance_name: 'rbd1', ...room })).rejects.toThrow(
    "Disk 0 of instance rbd1 is of template 'rbd', whose snapshots have no size of their own: leave snapshot_size out",
  )
  const [disk] = Object.values(cluster.config.disks).filter(({ dev_type }) => dev_type === 'rbd')
  cluster.change('patchDisk', disk?.uuid, { dev_type: 'blockdev', logical_id: ['manual', '/dev/disk/by-id/a'] })
  await expect(cluster.run(MAKE, { instance_name: 'rbd1', ...snapshot([0, 'a']) })).rejects.toThrow(
    "Disk 0 of instance rbd1 has no snapshots: storage of disk template 'blockdev' makes none",
  )
})

test('one of an image is made while its device is there, and by its own name', async () => {
  const rbd = cluster.addInstance('rbd1', 'node1')
  cluster.addRbdDisk(rbd.uuid)
  cluster.answers.blockdev_assemble = () => ['/dev/rbd0', null, null]
  cluster.answers.blockdev_shutdown = () => null
  cluster.answers.blockdev_snapshot = () => ['rbd', 'image@a']
  cluster.asked.length = 0
  await cluster.run(MAKE, { instance_name: 'rbd1', ...snapshot([0, 'a']) })
  const calls = cluster.asked.map(({ call }) => call).filter((call) => call.startsWith('blockdev'))
  expect([...new Set(calls)]).toEqual(['blockdev_assemble', 'blockdev_snapshot', 'blockdev_shutdown'])
  expect(cluster.calls('blockdev_snapshot')[0]?.args.slice(1)).toEqual(['a', null])
  expect(noted()).toMatchObject([{ name: 'a', dev_type: 'rbd', logical_id: ['rbd', 'image@a'], node: null }])
})

test('one of external storage has a name that nothing else has at its provider', async () => {
  const addExternal = (name: string) => {
    const { uuid } = cluster.addInstance(name, 'node1')
    cluster.addRbdDisk(uuid)
    const disk = cluster.instance(name)?.disks[0]
    cluster.change('patchDisk', disk, { dev_type: 'ext', logical_id: ['vendor', `${name}.0`] })
  }
  addExternal('ext1')
  addExternal('ext2')
  cluster.answers.blockdev_assemble = () => ['/dev/x', null, null]
  cluster.answers.blockdev_shutdown = () => null
  cluster.answers.blockdev_snapshot = (_node, [, name]) => ['vendor', String(name)]
  const taken = 'its provider has a volume or snapshot of this name already; choose another name'
  const ext1 = (name: string) => cluster.run(MAKE, { instance_name: 'ext1', ...snapshot([0, name]) })
  await expect(ext1('ext2.0')).rejects.toThrow(taken)
  await ext1('a')
  await expect(cluster.run(MAKE, { instance_name: 'ext2', ...snapshot([0, 'a']) })).rejects.toThrow(taken)
  expect(noted()).toMatchObject([{ dev_type: 'ext', logical_id: ['vendor', 'a'] }])
})

test('one that cannot be deleted stays noted, and one that is unknown is told what there is', async () => {
  await make([0, 'a'], [1, 'b'])
  cluster.answers.blockdev_remove = (_node, [{ logical_id: id }]) => {
    if (String(id?.[1]).endsWith('.a')) throw new Error('it is open')
    return undefined
  }
  const both = { instance_name: PLAIN, ...snapshot([0, 'a'], [1, 'b']) }
  await expect(cluster.run(DELETE, both)).rejects.toThrow("These snapshots are still there: 'a' of disk/0")
  await expect(displayed()).resolves.toEqual([[0, 'a', 'node1.gnt.example']])
  await expect(cluster.run(DELETE, both)).rejects.toThrow(
    `Disk 1 of instance ${PLAIN} has no snapshot 'b': it has none`,
  )
  await expect(cluster.run(DELETE, { instance_name: PLAIN, ...snapshot([0, 'x']) })).rejects.toThrow('it has a')
})

test.each([
  ['OP_INSTANCE_GROW_DISK', { disk: 0, amount: 32 }, 'LVM does not let it grow'],
  ['OP_INSTANCE_MOVE', { target_node: 'node2.gnt.example' }, 'it cannot be copied to another node'],
  ['OP_INSTANCE_SET_PARAMS', { disks: [['remove', 0, {}]] }, 'the instance cannot do without it'],
  ['OP_INSTANCE_SET_PARAMS', { disks: [['detach', 0, {}]] }, 'the instance cannot do without it'],
])('%s %j would lose them', async (id, params, why) => {
  await make([0, 'a'])
  await expect(cluster.run(id, { instance_name: PLAIN, ...params })).rejects.toThrow(
    `Disk 0 of instance ${PLAIN} has snapshots (a), so ${why}`,
  )
})

test('neither is a disk made anew or of another template while there are some', async () => {
  await make([0, 'a'])
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: PLAIN })
  const has = `Disk 0 of instance ${PLAIN} has snapshots (a), so it cannot`
  await expect(cluster.run('OP_INSTANCE_RECREATE_DISKS', { instance_name: PLAIN })).rejects.toThrow(has)
  const drbd = { instance_name: PLAIN, disk_template: 'drbd', remote_node: 'node2.gnt.example' }
  await expect(cluster.run('OP_INSTANCE_SET_PARAMS', drbd)).rejects.toThrow(has)
})

test('an instance takes its snapshots with it', async () => {
  await make([0, 'a'], [1, 'b'])
  await cluster.run('OP_INSTANCE_REMOVE', { instance_name: PLAIN })
  expect(volumes()).toEqual([])
  expect(cluster.gantry.sections[SNAPSHOTS_SECTION]).toBeUndefined()
  expect(cluster.log).toContain("Removing snapshot 'a' of disk/0")
})

test('where a snapshot cannot be deleted, its instance stays, but for those who do not care', async () => {
  await make([0, 'a'])
  cluster.answers.blockdev_remove = (_node, [{ logical_id: id }]) => {
    if (String(id?.[1]).endsWith('.a')) throw new Error('it is open')
    return undefined
  }
  await expect(cluster.run('OP_INSTANCE_REMOVE', { instance_name: PLAIN })).rejects.toThrow(
    "Can't remove the snapshots of the instance's disks",
  )
  expect(cluster.instance(PLAIN)).toBeDefined()
  await cluster.run('OP_INSTANCE_REMOVE', { instance_name: PLAIN, ignore_failures: true })
  expect(cluster.instance(PLAIN)).toBeUndefined()
})

/** What verify finds. `lost` is the end of the names of volumes that their nodes do not have any more. */
async function problems(lost = ''): Promise<string[]> {
  const nodes = Object.values(cluster.config.nodes)
  cluster.replicas = nodes.map(({ uuid, name }) => ({ node: uuid, name, state: 'in sync', reason: null }))
  cluster.log.length = 0
  cluster.answers.node_verify = ({ name }, [checks]) => {
    const reported = answerChecks({ world: cluster.world, node: name, clock: cluster.clock }, checks)
    const { lvlist } = reported
    const kept = Object.entries((lvlist ?? {}) as Record<string, unknown>).filter(
      ([volume]) => lost === '' || !volume.endsWith(lost),
    )
    return { ...reported, ...(lvlist !== undefined && { lvlist: Object.fromEntries(kept) }) }
  }
  await cluster.run('OP_CLUSTER_VERIFY_GROUP', {
    ...{ group_name: 'default', error_codes: true, debug_simulate_errors: false, verbose: false },
    ...{ skip_checks: [], ignore_errors: [], verify_clutter: false },
  })
  return cluster.log.filter((line) => /ERROR|WARNING/.test(line)).map((line) => line.trim().replace('- ', ''))
}

test('verify knows them, and names one that is gone', async () => {
  await make([0, 'a'])
  await expect(problems()).resolves.toEqual([])
  await expect(problems('.a')).resolves.toEqual([
    `WARNING:EINSTANCEMISSINGDISK:instance:${PLAIN}:snapshot 'a' of disk/0 missing on node node1.gnt.example; ` +
      `"gnt-instance remove-snapshot --disk 0:snapshot_name=a ${PLAIN}" forgets it`,
  ])
})

test('what is noted in a way that cannot be read counts for nothing', () => {
  const good = { name: 'a', dev_type: 'plain', logical_id: ['vg', 'lv.a'], size: 1, node: null, ctime: 0 }
  expect(allSnapshots({ one: [good], two: 'x', three: [{}], four: [{ ...good, dev_type: 'other' }] })).toEqual([good])
})

const rollBack = (instance_name = PLAIN, ...names: readonly (readonly [number | string, string])[]) =>
  cluster.run(ROLL_BACK, { instance_name, ...snapshot(...names) })

test('a stopped instance gets the data of its snapshots again, which stay', async () => {
  await make([0, 'before'], [1, 'before'])
  await expect(rollBack(PLAIN, [0, 'before'])).rejects.toThrow(/is marked to be up, cannot roll back its disks/)
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: PLAIN })
  await rollBack(PLAIN, [0, 'before'], [1, 'before'])
  const calls = cluster.calls('gantry_snapshot_restore').map(({ args }) => args as { logical_id: string[] }[])
  expect(calls.map(([disk, from]) => from?.logical_id[1] === `${disk?.logical_id[1]}.before`)).toEqual([true, true])
  expect(noted().map(({ name, restoring }) => [name, restoring])).toEqual([
    ['before', undefined],
    ['before', undefined],
  ])
  expect(cluster.config.instances[Object.keys(cluster.config.instances)[0] ?? '']?.disks_active).toBe(false)
})

test('while a disk has only a part of the data, its instance does not start', async () => {
  await make([0, 'before'])
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: PLAIN })
  cluster.answers.gantry_snapshot_restore = () => {
    throw new Error('the disk is gone')
  }
  await expect(rollBack(PLAIN, [0, 'before'])).rejects.toThrow(
    "Could not roll back disk/0 of instance inst1.gnt.example to snapshot 'before' on node node1.gnt.example: the disk is gone; until it is " +
      'repeated with success, or the snapshot is removed, the instance does not start',
  )
  const start = () => cluster.run('OP_INSTANCE_STARTUP', { instance_name: PLAIN })
  await expect(start()).rejects.toThrow(
    `Disk 0 of instance ${PLAIN} is rolled back to snapshot 'before' only in part; ` +
      `"gnt-instance rollback-snapshot --disk 0:snapshot_name=before ${PLAIN}" does the rest`,
  )
  delete cluster.answers.gantry_snapshot_restore
  await rollBack(PLAIN, [0, 'before'])
  await start()
  expect(cluster.runningOn(PLAIN)).toEqual(['node1.gnt.example'])
})

test.each(['before', 'after'] as const)(
  'when the answer to a rollback is lost, %s the node has done it, it counts as done in part until it is repeated',
  async (when) => {
    await make([0, 'before'], [1, 'before'])
    await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: PLAIN })
    cluster.losing = (_node, call) => (call === 'gantry_snapshot_restore' ? when : undefined)
    await expect(rollBack(PLAIN, [0, 'before'], [1, 'before'])).rejects.toThrow(
      /Could not roll back disk\/0 .* does not start/,
    )
    cluster.losing = () => undefined
    expect(noted().map(({ restoring }) => restoring)).toEqual([true, true])
    expect(cluster.instance(PLAIN)?.disks_active).toBe(false)
    const start = () => cluster.run('OP_INSTANCE_STARTUP', { instance_name: PLAIN })
    await expect(start()).rejects.toThrow('only in part')
    await rollBack(PLAIN, [0, 'before'], [1, 'before'])
    expect(noted().map(({ restoring }) => restoring)).toEqual([undefined, undefined])
    await start()
  },
)

test('a rollback may take as long as an installation', () => {
  expect(nodeCalls.gantry_snapshot_restore.timeout_s).toBe(nodeCalls.instance_os_add.timeout_s)
})

test('a node that is not upgraded yet is not noted to be half rolled back', async () => {
  await make([0, 'before'])
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: PLAIN })
  cluster.answers.gantry_snapshot_problem = () => {
    throw new Error(UNKNOWN_CALL)
  }
  await expect(rollBack(PLAIN, [0, 'before'])).rejects.toThrow(/node1.gnt.example runs a version that cannot roll back/)
  await cluster.run('OP_INSTANCE_STARTUP', { instance_name: PLAIN })
})

test('a mirror is rolled back through both of its sides, at the node that has the snapshot and all data', async () => {
  await cluster.run('OP_INSTANCE_CREATE', drbdInstance)
  await cluster.run(MAKE, { instance_name: DRBD, ...snapshot([0, 'before']) })
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: DRBD })
  await rollBack(DRBD, [0, 'before'])
  const [[disk, from] = []] = cluster.calls('gantry_snapshot_restore').map(({ args }) => args as { dev_type: string }[])
  expect([disk?.dev_type, from?.dev_type]).toEqual(['drbd', 'plain'])
  cluster.answers.blockdev_find = (_node, [{ dev_type }]) =>
    dev_type === 'drbd' ? { dev_path: '/dev/drbd0', is_degraded: true, ldisk_status: 4 } : undefined
  await expect(rollBack(DRBD, [0, 'before'])).rejects.toThrow(/is not complete, so nothing was rolled back/)
  delete cluster.answers.blockdev_find
  await cluster.run('OP_INSTANCE_FAILOVER', { instance_name: DRBD, ignore_consistency: false })
  await expect(rollBack(DRBD, [0, 'before'])).rejects.toThrow(/snapshot 'before' is on node .*gnt-instance failover/)
})

/** A node that finds the snapshots of this name as LVM shows those that have run full. */
const runsFull = (name: string) => {
  const isFull = ({ logical_id: id }: { readonly logical_id?: unknown }) =>
    Array.isArray(id) && String(id[1]).endsWith(`.${name}`)
  const full = { dev_path: '/dev/xenvg/full', is_degraded: true, ldisk_status: 4 }
  cluster.answers.blockdev_find = (_node, [disk]) => (isFull(disk) ? full : undefined)
  cluster.answers.blockdev_getmirrorstatus_multi = (_node, [disks]) =>
    disks.some(isFull)
      ? disks.map((disk) => [true, isFull(disk) ? full : { ...full, is_degraded: false, ldisk_status: 1 }])
      : undefined
}

test('a snapshot that has run full is not rolled back to, and nothing is noted', async () => {
  await make([0, 'before'], [1, 'before'])
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: PLAIN })
  runsFull('before')
  await expect(rollBack(PLAIN, [0, 'before'])).rejects.toThrow(
    `Disk 0 of instance ${PLAIN} cannot be rolled back to snapshot 'before': it is invalid, as more has changed since than it has room for, ` +
      `and its data is lost; "gnt-instance remove-snapshot --disk 0:snapshot_name=before ${PLAIN}" removes it`,
  )
  expect([noted().map(({ restoring }) => restoring), cluster.calls('gantry_snapshot_restore')]).toEqual([
    [undefined, undefined],
    [],
  ])
  await cluster.run('OP_INSTANCE_STARTUP', { instance_name: PLAIN })
  await cluster.run(DELETE, { instance_name: PLAIN, ...snapshot([0, 'before']) })
  expect(noted()).toHaveLength(1)
})

test('where that is seen only while the disks are active, nothing is noted either, and they are inactive again', async () => {
  await make([0, 'before'])
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: PLAIN })
  cluster.answers.blockdev_assemble = () => {
    runsFull('before')
    return undefined
  }
  await expect(rollBack(PLAIN, [0, 'before'])).rejects.toThrow('it is invalid')
  expect(noted().map(({ restoring }) => restoring)).toEqual([undefined])
  expect(cluster.instance(PLAIN)?.disks_active).toBe(false)
})

test('neither is a disk rolled back to a snapshot that somebody has removed', async () => {
  await make([0, 'before'])
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: PLAIN })
  const { disks } = cluster.world.node('node1.gnt.example')
  for (const name of disks.keys()) if (name.endsWith('.before')) disks.delete(name)
  await expect(rollBack(PLAIN, [0, 'before'])).rejects.toThrow('it is missing in its storage')
  expect(noted().map(({ restoring }) => restoring)).toEqual([undefined])
  expect((await listed()).map(({ status }) => status)).toEqual(['missing'])
})

test('lists, info and verify tell which snapshots have run full, and which disks are rolled back in part', async () => {
  const statuses = async () => (await listed()).map(({ status }) => status)
  const reported = async (more = {}) => {
    const answer = await cluster.run('OP_INSTANCE_QUERY_DATA', { instances: [PLAIN], static: false, ...more })
    return (answer as Record<string, { disks: { snapshots?: unknown }[] }>)[PLAIN]?.disks.map(
      ({ snapshots }) => snapshots,
    )
  }
  await make([0, 'a'], [1, 'b'])
  await expect(statuses()).resolves.toEqual(['ok', 'ok'])
  runsFull('a')
  await expect(statuses()).resolves.toEqual(['invalid', 'ok'])
  const [size = 0] = noted().map((one) => one.size)
  await expect(reported()).resolves.toMatchObject([[{ name: 'a', size, status: 'invalid' }], [{ status: 'ok' }]])
  await expect(reported({ static: true })).resolves.toMatchObject([[{ status: 'unknown' }], [{ status: 'unknown' }]])
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: PLAIN })
  cluster.answers.gantry_snapshot_restore = () => {
    throw new Error('the disk is gone')
  }
  await expect(rollBack(PLAIN, [1, 'b'])).rejects.toThrow('the disk is gone')
  await expect(statuses()).resolves.toEqual(['invalid', 'restoring'])
  const [a, b] = ['0:snapshot_name=a', '1:snapshot_name=b'].map((one) => `--disk ${one} ${PLAIN}`)
  await expect(problems()).resolves.toEqual([
    `WARNING:EINSTANCEFAULTYDISK:instance:${PLAIN}:snapshot 'a' of disk/0 is invalid: more has changed since than it has room for, and its ` +
      `data is lost; "gnt-instance remove-snapshot ${a}" removes it`,
    `ERROR:EINSTANCEFAULTYDISK:instance:${PLAIN}:disk/1 is rolled back to snapshot 'b' only in part, so the instance does not start; ` +
      `"gnt-instance rollback-snapshot ${b}" does the rest, and "gnt-instance remove-snapshot ${b}" keeps the disk as it is`,
  ])
})

test.each([
  ['OP_INSTANCE_REBOOT', { reboot_type: 'hard' }],
  ['OP_BACKUP_EXPORT', { mode: 'local', target_node: 'node2.gnt.example', shutdown: true }],
  [MAKE, snapshot([0, 'later'])],
])('a disk that is rolled back in part is not used by %s', async (id, params) => {
  await make([0, 'before'])
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: PLAIN })
  cluster.answers.gantry_snapshot_restore = () => {
    throw new Error('the disk is gone')
  }
  await expect(rollBack(PLAIN, [0, 'before'])).rejects.toThrow('the disk is gone')
  await expect(cluster.run(id, { instance_name: PLAIN, ...params })).rejects.toThrow('only in part')
  expect(cluster.runningOn(PLAIN)).toEqual([])
})

test('only one snapshot of a disk, and only one that is there', async () => {
  await make([0, 'a'], [0, 'b'])
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: PLAIN })
  await expect(rollBack(PLAIN, [0, 'a'], [0, 'b'])).rejects.toThrow('A disk can be rolled back to one snapshot only')
  await expect(rollBack(PLAIN, [0, 'c'])).rejects.toThrow("has no snapshot 'c': it has a, b")
})
