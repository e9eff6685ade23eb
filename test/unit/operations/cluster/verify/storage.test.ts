// What verify says of DRBD and of physical volumes, with the words of a real master.
import { answerChecks } from '../../../../../src/daemons/sim/checks'
import type { FakeCluster } from '../../../../support/fake-cluster'
import { drbdInstance, plainInstance, storageCluster } from '../../../../support/storage-cluster'

let cluster: FakeCluster
beforeEach(async () => {
  cluster = storageCluster()
  const nodes = Object.values(cluster.config.nodes)
  cluster.replicas = nodes.map(({ uuid, name }) => ({ node: uuid, name, state: 'in sync', reason: null }))
  await cluster.run('OP_INSTANCE_CREATE', drbdInstance)
})

/** What verify finds; `more` are answers of nodes by the first part of their names. */
async function problems(more: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {}): Promise<string[]> {
  cluster.log.length = 0
  cluster.answers.node_verify = ({ name }, [checks]) => ({
    ...answerChecks({ world: cluster.world, node: name, clock: cluster.clock }, checks),
    ...more[name.split('.')[0] ?? ''],
  })
  await cluster.run('OP_CLUSTER_VERIFY_GROUP', {
    ...{ group_name: 'default', error_codes: true, debug_simulate_errors: false, verbose: false },
    ...{ skip_checks: [], ignore_errors: [], verify_clutter: false },
  })
  return cluster.log.filter((line) => /ERROR|WARNING/.test(line)).map((line) => line.trim().replace('- ', ''))
}

const minors = (node: string) => cluster.world.node(`${node}.gnt.example`).minors

test('a mirror whose devices are there is well', async () => {
  await expect(problems()).resolves.toEqual([])
})

test('a device that is not there, and one that nobody knows, are named', async () => {
  const [disk] = Object.values(cluster.config.disks)
  minors('node2').clear()
  minors('node3').add(9)
  await expect(problems()).resolves.toEqual([
    `ERROR:ENODEDRBD:node:node2.gnt.example:drbd minor 0 of disk ${disk?.uuid} (attached in instance 'inst2.gnt.example') is not active`,
    "ERROR:ENODEDRBD:node:node3.gnt.example:unallocated drbd minor 9 is in use; if nobody needs it, end it there with 'drbdsetup down resource9'",
  ])
})

test('a minor that a job has reserved may be in use already, and one of a stopped instance need not be', async () => {
  const { wconfd } = cluster.environment()
  const [minor = -1] = await wconfd.gantryReserveMinors(['other', '/livelock/other', 1] as never, 'a disk to come', [
    cluster.node('node3').uuid,
  ])
  minors('node3').add(minor)
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: 'inst2.gnt.example' })
  expect([...minors('node1'), ...minors('node2')]).toEqual([])
  await expect(problems()).resolves.toEqual([])
})

test('helpers that are missing or others, and versions that differ', async () => {
  const found = await problems({
    node1: { 'drbd-helper': [true, '/sbin/other'] },
    node2: { 'drbd-helper': [false, 'the module drbd is not loaded'], 'drbd-list': 'no such file' },
    node3: { 'drbd-helper': null, 'drbd-version': '8.4.5' },
  })
  expect(found).toEqual([
    "ERROR:ENODEDRBDHELPER:node:node1.gnt.example:wrong drbd usermode helper: /sbin/other; the cluster's is /bin/true",
    'ERROR:ENODEDRBDHELPER:node:node2.gnt.example:drbd usermode helper check unsuccessful: the module drbd is not loaded',
    'ERROR:ENODEDRBD:node:node2.gnt.example:cannot parse drbd status file: no such file',
    'ERROR:ENODEDRBDHELPER:node:node3.gnt.example:no drbd usermode helper returned',
    'WARNING:ENODEDRBDVERSION:node:node1.gnt.example:DRBD version mismatch: 8.4.11',
    'WARNING:ENODEDRBDVERSION:node:node2.gnt.example:DRBD version mismatch: 8.4.11',
    'WARNING:ENODEDRBDVERSION:node:node3.gnt.example:DRBD version mismatch: 8.4.5',
  ])
})

test('a mirror that does not look for its other node is told as stand-alone, and one that does is not', async () => {
  cluster.answers.blockdev_getmirrorstatus_multi = (_node, [disks]) =>
    disks.map(({ dev_type }) => [true, { dev_path: '/dev/x', is_degraded: dev_type === 'drbd', ldisk_status: 1 }])
  cluster.answers.drbd_needs_activation = ({ name }, [disks]) =>
    name === 'node1.gnt.example' ? disks.map(({ uuid }) => uuid) : []
  await cluster.run('OP_INSTANCE_STARTUP', { instance_name: 'inst2.gnt.example' })
  const degraded = (await problems()).filter((line) => line.includes('is degraded'))
  expect(degraded).toEqual([
    expect.stringMatching(
      /EINSTANCEFAULTYDISK:instance:inst2.*:disk\/0 on node1.* is degraded; local disk state is 'ok'; it is stand-alone: 'gnt-instance activate-disks inst2/,
    ),
    expect.stringMatching(/:disk\/0 on node2\S+ is degraded; local disk state is 'ok'$/),
  ])
  expect(cluster.calls('drbd_needs_activation').every(({ args: [disks] }) => (disks as unknown[]).length === 1)).toBe(
    true,
  )
})

test('nothing of DRBD is asked where no template needs it', async () => {
  await cluster.run('OP_INSTANCE_REMOVE', { instance_name: 'inst2.gnt.example', ignore_failures: false })
  cluster.given(['patchCluster', { enabled_disk_templates: ['plain'] }])
  await expect(problems({ node1: { 'drbd-helper': undefined, 'drbd-list': [7] } })).resolves.toEqual([])
  const requested = cluster.calls('node_verify').map(({ args: [checks] }) => Object.keys(checks as object))
  expect(requested.flat().filter((check) => check.startsWith('drbd'))).toEqual([])
})

test('physical volumes: names that lvcreate takes for something else, and sizes that differ in a group of whole disks', async () => {
  const pv = (name: string, size: number) => ({ name, vg_name: 'xenvg', size, free: 0, attributes: 'a--' })
  const answers = { node1: { pvlist: [pv('/dev/disk/by-id/a:1', 1000)] }, node2: { pvlist: [pv('/dev/sdb', 1500)] } }
  await expect(problems(answers)).resolves.toEqual([
    expect.stringContaining("ERROR:ENODELVM:node:node1.gnt.example:Invalid character ':' in PV '/dev/disk/by-id/a:1'"),
  ])
  await cluster.run('OP_INSTANCE_REMOVE', { instance_name: 'inst2.gnt.example', ignore_failures: false })
  const group = cluster.groupNamed('default')
  cluster.given(['patchNodeGroup', group.uuid, { ndparams: { exclusive_storage: true } }])
  await expect(problems(answers)).resolves.toContain(
    'ERROR:EGROUPDIFFERENTPVSIZE:group:default:PV sizes differ too much in the group; smallest (1000 MB) is on node1.gnt.example, ' +
      'biggest (1500 MB) is on node2.gnt.example',
  )
})

test('a physical volume that is lost is named on its node, with the command that takes it out of its group', async () => {
  const lost = { name: '[unknown]', vg_name: 'xenvg', size: 1000, free: 0, attributes: 'a-m' }
  await expect(problems({ node1: { pvlist: [lost] } })).resolves.toEqual([
    "ERROR:ENODELVM:node:node1.gnt.example:PV '[unknown]' of VG 'xenvg' is missing, so nothing in this group can change; put its disk back, " +
      "or take it out of the group with 'gnt-node repair-storage node1.gnt.example lvm-vg xenvg'",
  ])
})

test('a node whose volume group is gone is told what it has, and what to do', async () => {
  const found = await problems({ node1: { vglist: {} }, node2: { vglist: { other: 50000 } }, node3: { vglist: null } })
  const missing = "volume group 'xenvg' missing: bring its disk back, or make it again;"
  expect(found.filter((line) => line.includes('group'))).toEqual([
    `ERROR:ENODELVM:node:node1.gnt.example:${missing} it has none at all; vgcreate, of the package lvm2, makes one`,
    `ERROR:ENODELVM:node:node2.gnt.example:${missing} it has other; vgcreate makes another one`,
    'ERROR:ENODELVM:node:node3.gnt.example:unable to check volume groups',
  ])
})

test('a volume without an owner and one that is missing are named on their nodes', async () => {
  const disks = cluster.world.node('node2.gnt.example').disks
  const [lost = ''] = [...disks.keys()].filter((name) => name.endsWith('_meta'))
  disks.delete(lost)
  disks.set('xenvg/stray', { size: 16, dev_type: 'plain', logical_id: ['xenvg', 'stray'] })
  const found = await problems()
  expect(found).toContain(
    `ERROR:EINSTANCEMISSINGDISK:instance:inst2.gnt.example:volume ${lost} missing on node node2.gnt.example; ` +
      "'gnt-instance replace-disks -s inst2.gnt.example' makes that side again",
  )
  expect(found).toContain(
    "WARNING:ENODEORPHANLV:node:node2.gnt.example:volume xenvg/stray is unknown; if nobody needs it, remove it there with 'lvremove xenvg/stray'",
  )
})

test('on a node with storage in user space, verify names what there is to do with its files', async () => {
  const { disks } = cluster.world.node('node2.gnt.example')
  disks.set('xenvg/stray', { size: 16, dev_type: 'plain', logical_id: ['xenvg', 'stray'] })
  minors('node2').add(9)
  const folder = '/srv/ganeti/user-volumes/xenvg'
  const found = await problems({ node2: { 'drbd-version': 'user space (no DRBD)' } })
  expect(found).toEqual(
    expect.arrayContaining([
      'ERROR:ENODEDRBD:node:node2.gnt.example:unallocated drbd minor 9 is in use; the next disk that gets this minor ends it',
      'WARNING:ENODEORPHANLV:node:node2.gnt.example:volume xenvg/stray is unknown; if nobody needs it, remove it there with ' +
        `'rm ${folder}/volumes/stray ${folder}/tags/stray'`,
    ]),
  )
})

describe('in other groups than that of the cluster', () => {
  beforeEach(
    () =>
    cluster.run('OP_INSTANCE_CREATE', { ...drbdInstance, instance_name: 'inst3.gnt.example', disks: [{ size: 16, vg: 'fast', metavg: 'slow' }] }), // prettier-ignore
  )

  test('volumes that are there are well', async () => {
    await expect(problems()).resolves.toEqual([])
  })

  test('those that are missing are named, and those that look like disks of the cluster and are not; others are no business of ours', async () => {
    const there = cluster.world.node('node2.gnt.example').disks
    const [data = '', meta = ''] = [...there.keys()].filter((name) => !name.startsWith('xenvg/')).toSorted()
    for (const name of [data, meta]) there.delete(name)
    const stray = data.replace(/[0-9a-f]{8}-/, '00000000-')
    for (const name of [stray, 'fast/root'])
      there.set(name, { size: 16, dev_type: 'plain', logical_id: name.split('/') })
    expect((await problems()).filter((line) => !line.includes("couldn't retrieve status"))).toEqual([
      ...[data, meta].map(
        (volume) =>
          `ERROR:EINSTANCEMISSINGDISK:instance:inst3.gnt.example:volume ${volume} missing on node node2.gnt.example; ` +
          "'gnt-instance replace-disks -s inst3.gnt.example' makes that side again",
      ),
      `WARNING:ENODEORPHANLV:node:node2.gnt.example:volume ${stray} is unknown; if nobody needs it, remove it there with 'lvremove ${stray}'`,
    ])
  })
})

describe('a volume that has another size than it should', () => {
  const resize = (node: string, end: string, size: number) => {
    const there = cluster.world.node(`${node}.gnt.example`).disks
    const [name = ''] = [...there.keys()].filter((one) => one.endsWith(end))
    Object.assign(there.get(name) ?? {}, { size })
    return name
  }
  const NOTES = "'gnt-cluster repair-disk-sizes' records its size"
  beforeEach(() => cluster.run('OP_INSTANCE_CREATE', { ...plainInstance, disks: [{ size: 62 }] }))

  test.each([
    [64, [], 'rounded up to whole extents'],
    [96, [`WARNING:EINSTANCEFAULTYDISK:instance:inst1.gnt.example:volume NAME has 96 MiB on node node1.gnt.example, and 62 in the configuration; ${NOTES}`], 'larger'], // prettier-ignore
    [32, [`ERROR:EINSTANCEFAULTYDISK:instance:inst1.gnt.example:volume NAME has 32 MiB on node node1.gnt.example, and 62 in the configuration; ${NOTES}`], 'smaller'], // prettier-ignore
  ])('with %p MiB: %j', async (size, expected) => {
    const name = resize('node1', '.disk0', size)
    await expect(problems()).resolves.toEqual(expected.map((text) => text.replace('NAME', name)))
  })

  test('larger extents, and stripes, round up more', async () => {
    resize('node1', '.disk0', 96)
    for (const end of ['_data', '_meta']) resize('node1', end, 128)
    // All volumes of the group consist of extents of 32 MiB, and a stripe more is rounding, too.
    await expect(problems()).resolves.toHaveLength(1)
    cluster.change('patchCluster', { diskparams: { plain: { stripes: 2 } } })
    await expect(problems()).resolves.toEqual([])
  })

  test('a part of a mirror that is too small is made anew, and one that is too large does no harm', async () => {
    resize('node1', '_data', 512)
    const name = resize('node2', '_data', 64)
    await expect(problems()).resolves.toEqual([
      `ERROR:EINSTANCEFAULTYDISK:instance:inst2.gnt.example:volume ${name} has 64 MiB on node node2.gnt.example, and 128 in the configuration; 'gnt-instance replace-disks -s inst2.gnt.example' makes that side again`,
    ])
  })

  test('nothing is said of one that a job works on', async () => {
    resize('node1', '.disk0', 96)
    cluster.lockOwners = [['instance/inst1.gnt.example', [[['7', '/livelock/7', 77] as never, 'exclusive']]]] as never
    await expect(problems()).resolves.toEqual([])
  })
})

test('a volume of an instance belongs to nobody on a node that is not one of its own', async () => {
  const [lost = ''] = cluster.world.node('node2.gnt.example').disks.keys()
  cluster.world.node('node3.gnt.example').disks.set(lost, { size: 16, dev_type: 'plain', logical_id: lost.split('/') })
  await expect(problems()).resolves.toEqual([
    `WARNING:ENODEORPHANLV:node:node3.gnt.example:volume ${lost} is unknown; if nobody needs it, remove it there with 'lvremove ${lost}'`,
  ])
})

test('volumes that a dead job has renamed are named with the command that mends it', async () => {
  const disks = cluster.world.node('node1.gnt.example').disks
  await cluster.run('OP_INSTANCE_CREATE', { ...plainInstance, disks: [{ size: 64 }] })
  const rename = (end: string, now: (old: string) => string) => {
    const [old = ''] = [...disks.keys()].filter((name) => name.endsWith(end))
    cluster.world.renameDisk(
      'node1.gnt.example',
      { dev_type: 'plain', logical_id: old.split('/') } as never,
      now(old).split('/'),
    )
    return old.replace('xenvg/', '')
  }
  const replaced = rename('_meta', (old) => `${old}_replaced-1700000000`)
  const converted = rename('.disk0', (old) => `${old}_data`)
  const byFiles = await problems({ node1: { 'drbd-version': 'user space (no DRBD)' } })
  const places = ['volumes', 'tags'].map((place) => `/srv/ganeti/user-volumes/xenvg/${place}/${converted}`)
  const moves = places.map((file) => `mv ${file}_data ${file}`).join(' && ')
  expect(byFiles.join()).toContain(
    `a conversion that did not end has renamed it: '${moves}' gives it its name back there`,
  )
  const found = await problems()
  expect(found).toEqual(
    expect.arrayContaining([
      `ERROR:EINSTANCEMISSINGDISK:instance:inst1.gnt.example:volume xenvg/${converted} missing on node node1.gnt.example; ` +
        `a conversion that did not end has renamed it: 'lvrename xenvg ${converted}_data ${converted}' gives it its name back there`,
      `ERROR:EINSTANCEMISSINGDISK:instance:inst2.gnt.example:volume xenvg/${replaced} missing on node node1.gnt.example; ` +
        "an interrupted replacement of disks has renamed it: 'gnt-instance replace-disks -p inst2.gnt.example' makes that side again",
      `WARNING:ENODEORPHANLV:node:node1.gnt.example:volume xenvg/${converted}_data is unknown; it has the data of xenvg/${converted}`,
    ]),
  )
})

describe('nobody is told to remove what may be the only copy of a disk', () => {
  const onNode = (name: string) => cluster.world.node(`${name}.gnt.example`).disks
  const reported = async () => (await problems()).filter((line) => line.includes('is unknown'))
  const take = (name: string, end: string) => {
    const [found = ''] = [...onNode(name).keys()].filter((volume) => volume.endsWith(end))
    const disk = onNode(name).get(found)
    onNode(name).delete(found)
    if (disk === undefined) throw new Error(`no volume ends with ${end}`)
    return { found, disk }
  }

  test('a data volume that has the name from before it became part of a mirror', async () => {
    const { found, disk } = take('node1', '_data')
    take('node2', '_data')
    const former = found.replace('_data', '')
    onNode('node1').set(former, { ...disk, logical_id: former.split('/') })
    const [old, now] = [former, found].map((volume) => volume.replace('xenvg/', ''))
    const all = await problems()
    expect(all.filter((line) => line.includes('is unknown'))).toEqual([
      `WARNING:ENODEORPHANLV:node:node1.gnt.example:volume ${former} is unknown; it has the data of ${found}`,
    ])
    expect(all.join()).toContain(`'lvrename xenvg ${old} ${now}' gives it its name back there`)
  })

  test.each([
    ['on another node', 'node3', (volume: string) => volume],
    ['under the name of a replaced one', 'node1', (volume: string) => `${volume}_replaced-1700000000`],
    ['under any name, as large as the disk', 'node2', () => 'xenvg/rescued'],
  ] as const)('a data volume that is nowhere else: %s', async (_where, node, named) => {
    const { found, disk } = take('node1', '_data')
    take('node2', '_data')
    onNode(node).set(named(found), { ...disk, logical_id: named(found).split('/') })
    await expect(reported()).resolves.toEqual([
      `WARNING:ENODEORPHANLV:node:${node}.gnt.example:volume ${named(found)} is unknown; ` +
        `it may be the only copy of ${found}, which is missing: keep it until that is there again`,
    ])
  })

  test('a disk that is only reserved has no copy', async () => {
    await cluster.run('OP_INSTANCE_CREATE', { ...plainInstance, disks: [{ size: 64 }], forthcoming: true })
    onNode('node1').set('xenvg/left', { size: 64, dev_type: 'plain', logical_id: ['xenvg', 'left'] })
    await expect(reported()).resolves.toEqual([
      "WARNING:ENODEORPHANLV:node:node1.gnt.example:volume xenvg/left is unknown; if nobody needs it, remove it there with 'lvremove xenvg/left'",
    ])
  })

  describe('a volume with the name of one in another group', () => {
    let [name, disk] = ['', {} as never]
    beforeEach(async () => {
      await cluster.run('OP_GROUP_ADD', { group_name: 'far' })
      await cluster.run('OP_GROUP_ASSIGN_NODES', { group_name: 'far', nodes: ['node3.gnt.example'], force: false })
      await cluster.run('OP_INSTANCE_CREATE', { ...plainInstance, pnode: 'node3.gnt.example' })
      const [found] = [...onNode('node3')]
      if (found === undefined) throw new Error('no volume')
      ;[name, disk] = found as [string, never]
      onNode('node1').set(name, disk)
    })

    test('can be removed while the other one is there', async () => {
      await expect(reported()).resolves.toEqual([
        expect.stringContaining(`volume ${name} is unknown; if nobody needs it, remove it there with 'lvremove `),
      ])
    })

    test('is kept when the other one is missing', async () => {
      onNode('node3').delete(name)
      await expect(reported()).resolves.toEqual([expect.stringContaining(`it may be the only copy of ${name}`)])
    })
  })

  test('while a node does not say what it has, its disks may be gone', async () => {
    const { found, disk } = take('node1', '_data')
    onNode('node3').set(found, disk)
    const all = await problems({ node2: { lvlist: 'no answer of LVM' } })
    expect(all.filter((line) => line.includes('is unknown')).join()).toContain('it may be the only copy of')
  })
})

describe('a disk that no node has any more', () => {
  const disksOf = (name: string) => cluster.world.node(`${name}.gnt.example`).disks
  const missing = async () => (await problems()).filter((line) => line.includes(' missing on node'))
  const REMOVE = "; if its removal did not end, 'gnt-instance remove inst2.gnt.example' ends it"
  const recreate = (index: number) =>
    `; if its data is lost, 'gnt-instance recreate-disks --disk=${index} inst2.gnt.example' makes disk/${index} again, empty`

  test('a removal that did not end is ended, or the disk made again', async () => {
    for (const name of ['node1', 'node2']) disksOf(name).clear()
    const found = await missing()
    expect(found).toHaveLength(4)
    for (const line of found) expect(line).toContain(`${REMOVE}${recreate(0)}`)
  })

  test('nobody is told to remove the instance while another disk of it is there', async () => {
    const options = { instance_name: 'inst2.gnt.example', ignore_failures: false }
    await cluster.run('OP_INSTANCE_REMOVE', options)
    await cluster.run('OP_INSTANCE_CREATE', { ...drbdInstance, disks: [{ size: 64 }, { size: 64 }] })
    for (const name of ['node1', 'node2'])
      for (const volume of [...disksOf(name).keys()]) if (volume.includes('.disk1_')) disksOf(name).delete(volume)
    const found = await missing()
    expect(found).toHaveLength(4)
    for (const line of found) expect(line.endsWith(`.gnt.example${recreate(1)}`)).toBe(true)
  })

  test('two disks that have lost different sides are made whole one by one', async () => {
    const options = { instance_name: 'inst2.gnt.example', ignore_failures: false }
    await cluster.run('OP_INSTANCE_REMOVE', options)
    await cluster.run('OP_INSTANCE_CREATE', { ...drbdInstance, disks: [{ size: 64 }, { size: 64 }] })
    for (const [name, lost] of [
      ['node1', '.disk0_data'],
      ['node2', '.disk1_data'],
    ] as const)
      // prettier-ignore
      for (const volume of [...disksOf(name).keys()]) if (volume.endsWith(lost)) disksOf(name).delete(volume)
    const found = (await missing()).map((line) => line.slice(line.indexOf(';')))
    expect(found).toEqual([
      "; 'gnt-instance replace-disks -p --disks=0 inst2.gnt.example' makes that side again",
      "; 'gnt-instance replace-disks -s --disks=1 inst2.gnt.example' makes that side again",
    ])
  })

  test('a volume that may have the data is looked at first', async () => {
    const copy = (volume: string) => {
      disksOf('node3').clear()
      disksOf('node3').set(volume, { size: 128, dev_type: 'plain', logical_id: volume.split('/') })
    }
    const [data = ''] = [...disksOf('node1').keys()].filter((volume) => volume.endsWith('_data'))
    for (const name of ['node1', 'node2']) disksOf(name).clear()
    copy(data)
    for (const line of await missing()) expect(line).toMatch(/ missing on node node\d.gnt.example$/)
    copy('xenvg/rescued')
    for (const line of await missing()) expect(line.endsWith(`.gnt.example${REMOVE}`)).toBe(true)
  })

  test('nothing is said while a node does not tell what it has', async () => {
    disksOf('node1').clear()
    const found = await problems({ node2: { lvlist: 'no answer of LVM' } })
    expect(found.filter((line) => / missing on node node1.gnt.example$/.test(line))).toHaveLength(2)
  })
})

test('disks of a running instance are to be activated where a side of a mirror is down, or its volumes are not in use', async () => {
  const verify = () => cluster.run('OP_GROUP_VERIFY_DISKS', { group_name: 'default', is_strict: true })
  const open = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, ['1.00', false, true] as const]))
  cluster.answers.lv_list = ({ name }) => open([...cluster.world.node(name).disks.keys()])
  await expect(verify()).resolves.toEqual([{}, [], {}])
  minors('node2').clear()
  await expect(verify()).resolves.toEqual([{}, ['inst2.gnt.example'], {}])
  cluster.answers.drbd_needs_activation = () => {
    throw new Error('no module')
  }
  await expect(verify()).resolves.toEqual([
    { 'node1.gnt.example': 'no module', 'node2.gnt.example': 'no module' },
    [],
    {},
  ])
  const [lost = ''] = cluster.world.node('node2.gnt.example').disks.keys()
  cluster.world.node('node2.gnt.example').disks.delete(lost)
  cluster.answers.drbd_needs_activation = () => []
  await expect(verify()).resolves.toEqual([{}, [], { 'inst2.gnt.example': [['node2.gnt.example', lost]] }])
})
