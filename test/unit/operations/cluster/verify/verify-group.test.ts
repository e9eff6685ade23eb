// Verify of a group, line by line as a real master reported it.
import * as path from 'node:path'
import { change } from '../../../../../src/config/changes'
import { LOCAL_DISK_STATUS } from '../../../../../src/model/constants/disks'
import { MAINTENANCE } from '../../../../../src/model/maintenance'
import { goldenConfig } from '../../../../support/golden-query'
import { NOW_S, OS, RecordedCluster } from './recorded-nodes'

const NODE2 = 'node2.gnt.example'

test('a healthy group is reported line by line as it was recorded', async () => {
  const cluster = new RecordedCluster()
  expect(await cluster.run({ OP_ID: 'OP_CLUSTER_VERIFY_GROUP', group_name: 'default' })).toBe(true)
  // gnt-cluster verify of the recorded cluster, job 855; Ganeti 3.1, unlike the recorded 3.0, gives advice, too.
  const advice = cluster.log.splice(cluster.log.indexOf('* Assessing cluster hypervisor parameters'), 6)
  expect(advice.slice(1)).toEqual(
    advice.slice(1).map(() => expect.stringMatching(/^ {2}- (cpu_type|vhost_net|migr|mach|Ch)/)),
  )
  expect(cluster.log).toEqual([
    "* Verifying group 'default'",
    '* Gathering data (3 nodes)',
    '* Gathering information about nodes (3 nodes)',
    '* Gathering information about the master node',
    '* Gathering disk information (3 nodes)',
    '* Verifying configuration file consistency',
    '* Verifying node status',
    '* Verifying instance status',
    '* Verifying orphan volumes',
    '* Verifying N+1 Memory redundancy',
    '* Other Notes',
    '  - NOTICE: 2 non-redundant instance(s) found.',
    '* Hooks Results',
  ])
})

test('advice about the parameters comes after the memory, and without it their check is made all the same', async () => {
  const cluster = new RecordedCluster()
  cluster.broken[NODE2] = { hvparms: [['cluster', 'kvm', 'no such file']] }
  const input = cluster.answers.node_verify
  const requested: unknown[] = []
  cluster.answers.node_verify = (node, args) => {
    if (node.name === NODE2) requested.push(args[0]['hvparms'])
    return input?.(node, args)
  }
  const refusal = `ERROR: node ${NODE2}: hypervisor kvm parameter verify failure (source cluster): no such file`
  expect(await cluster.verifyGroup()).toEqual([false, [refusal]])
  const at = cluster.log.indexOf('* Verifying N+1 Memory redundancy')
  expect(cluster.log[at + 1]).toBe('* Assessing cluster hypervisor parameters')
  expect(cluster.log[at + 2]).toMatch(/^ {2}- cpu_type is currently unset and defaults to 'qemu64'/)
  expect(await cluster.verifyGroup({ skip_checks: ['hvparam_assessment'] })).toEqual([false, [refusal]])
  expect(cluster.log.join()).not.toMatch(/Assessing|cpu_type/)
  expect(requested[1]).toEqual(requested[0])
  expect(requested[0]).toContainEqual(['cluster', 'kvm', expect.anything()])
})

test('guests on types of machines that QEMU is about to drop, or has dropped, are noted with what to do', async () => {
  const cluster = new RecordedCluster().given(
    change('patchInstance', new RecordedCluster().instance('inst2').uuid, {
      hypervisor: 'kvm',
      hvparams: { machine_version: 'pc-i440fx-7.2,usb=off' },
    }),
  )
  const on = (name: string, machine: string, gone = false) => {
    return { instance: `${name}.gnt.example`, machine, version: '11.1.3', gone }
  }
  cluster.broken[NODE2] = {
    'gantry-old-machines': [on('inst2', 'pc-i440fx-7.2'), on('inst1', 'pc-i440fx-7.2'), on('stranger', 'pc-1.0')],
  }
  cluster.broken['node3.gnt.example'] = {
    'gantry-old-machines': [on('inst3', 'pc-i440fx-2.0', true), on('inst4', 'pc-i440fx-7.2')],
  }
  expect(await cluster.verifyGroup()).toEqual([true, []])
  const deprecated =
    'on machine type pc-i440fx-7.2, which QEMU 11.1.3 calls deprecated and a later one will lack; before that upgrade,'
  expect(cluster.log.filter((line) => line.includes('machine type'))).toEqual([
    '  - NOTICE: 1 instance(s) on machine type pc-i440fx-2.0, which QEMU 11.1.3 lacks, so they cannot migrate to nodes with it; ' +
      'stop and start each once: inst3.gnt.example',
    `  - NOTICE: 1 instance(s) ${deprecated} name another machine_version for them, and stop and start each once: inst2.gnt.example`,
    `  - NOTICE: 2 instance(s) ${deprecated} stop and start each once: inst1.gnt.example, inst4.gnt.example`,
  ])
  cluster.broken[NODE2] = { 'gantry-old-machines': 'the check failed' }
  expect(await cluster.verifyGroup()).toEqual([true, []])
})

test('more is said to those who ask, and a check that is skipped is not announced', async () => {
  const cluster = new RecordedCluster()
  await cluster.verifyGroup({ verbose: true, skip_checks: ['nplusone_mem'] })
  expect(cluster.log).toEqual(
    expect.arrayContaining([
      '* Verifying node node1.gnt.example (master)',
      '* Verifying node node3.gnt.example (master candidate)',
      '* Verifying instance inst4.gnt.example',
    ]),
  )
  expect(cluster.log).not.toContain('* Verifying N+1 Memory redundancy')
})

test('locks are shared, and only those of the group', async () => {
  const cluster = new RecordedCluster()
  await cluster.verifyGroup()
  const locks = cluster.lockRequests.flat()
  expect(locks.every(([, mode]) => mode === 'shared')).toBe(true)
  expect(locks.map(([name]) => name.split('/')[0])).toEqual([
    'cluster',
    ...Array.from({ length: 6 }, () => 'instance'),
    'nodegroup',
    ...['node', 'node', 'node'],
  ])
})

test.each<[string, string, unknown, string]>([
  [
    'version',
    NODE2,
    [2160000, '2.16.2'],
    `node ${NODE2}: incompatible protocol versions: master 3010000, node 2160000`,
  ],
  ['hypervisor', NODE2, { fake: null, kvm: 'no qemu' }, `node ${NODE2}: hypervisor kvm verify failure: 'no qemu'`],
  [
    'hvparms',
    NODE2,
    [['cluster', 'kvm', 'no such file']],
    `node ${NODE2}: hypervisor kvm parameter verify failure (source cluster): no such file`,
  ],
  ['nodesetup', NODE2, ['/sys is not mounted'], `node ${NODE2}: node setup error: /sys is not mounted`],
  [
    'time',
    NODE2,
    [NOW_S - 200, 500000],
    `node ${NODE2}: Node time diverges by at least 199.5s from master node time; set its clock`,
  ],
  ['nodelist', NODE2, { node9: 'refused' }, `node ${NODE2}: ssh communication with node 'node9': refused`],
  [
    'node-net-test',
    NODE2,
    { node9: 'failure using the primary interface(s)' },
    `node ${NODE2}: tcp communication with node 'node9': failure using the primary interface(s)`,
  ],
  ['master-ip', NODE2, false, `node ${NODE2}: cannot reach the master IP`],
  ['bridges', NODE2, ['xen-br0'], `node ${NODE2}: missing bridges: xen-br0`],
  ['user-scripts', NODE2, ['/x'], `node ${NODE2}: user scripts not present or not executable: /x`],
  [
    'oslist',
    NODE2,
    [],
    `node ${NODE2}: OSes present on reference node node1.gnt.example but missing on this node: noop`,
  ],
  ['oslist', NODE2, 'failed', `node ${NODE2}: node hasn't returned valid OS data`],
  [
    'file-storage-path',
    NODE2,
    'it does not exist',
    `node ${NODE2}: The configured file storage path is unusable: it does not exist`,
  ],
  ['filelist', NODE2, {}, `node ${NODE2}: Node did not return file checksum data`],
  [
    'gantry-owners',
    NODE2,
    ['/var/lib/ganeti/hmac.key has mode 0644, and should have 0400: run ensure-dirs there'],
    `node ${NODE2}: /var/lib/ganeti/hmac.key has mode 0644, and should have 0400: run ensure-dirs there`,
  ],
  [
    'client-cert',
    NODE2,
    ['ERROR', 'it is missing'],
    `cluster : Client certificate of node '${NODE2}' failed validation: it is missing; use 'gnt-cluster renew-crypto --new-node-certificates'`,
  ],
])('a node that answers %s wrong is named', async (check, node, answer, text) => {
  const cluster = new RecordedCluster()
  cluster.broken[node] = { [check]: answer }
  expect(await cluster.verifyGroup()).toEqual([false, [`ERROR: ${text}`]])
})

test('a file that was set aside is named', async () => {
  const cluster = new RecordedCluster()
  const file = '/var/lib/ganeti/config.journal.rejected-7'
  cluster.broken[NODE2] = { 'gantry-set-aside': [file] }
  const text = `${file} did not fit, and was set aside: keep it until you have seen that nothing in it is missing; then 'rm ${file}' removes it`
  expect(await cluster.verifyGroup()).toEqual([true, [`WARNING: node ${NODE2}: ${text}`]])
})

test('a directory of Gluster that cannot be used is named with a code of its own', async () => {
  const cluster = new RecordedCluster().given(
    change('patchCluster', { enabled_disk_templates: ['diskless', 'file', 'sharedfile', 'gluster'] }),
  )
  const requested: unknown[] = []
  const answer = cluster.answers.node_verify
  cluster.answers.node_verify = (node, args) => {
    requested.push((args[0] as Record<string, unknown>)['gluster-storage-path'])
    return answer?.(node, args)
  }
  cluster.broken[NODE2] = { 'gluster-storage-path': 'the program mount.glusterfs is missing' }
  const [result, problems] = await cluster.verifyGroup({ error_codes: true })
  expect([result, problems.filter((line) => line.includes('ENODEGLUSTER'))]).toEqual([
    false,
    [
      `ERROR:ENODEGLUSTERSTORAGEPATHUNUSABLE:node:${NODE2}:The configured gluster storage path is unusable: the program mount.glusterfs is missing`,
    ],
  ])
  expect(requested).toContain('/var/run/ganeti/gluster')
})

test('a node that runs Ganeti 3.0 is told apart, and is no error', async () => {
  const cluster = new RecordedCluster()
  cluster.broken[NODE2] = { version: [3000000, '3.0.2'] }
  const other = `WARNING: node ${NODE2}: software version mismatch: master 3.1.0, node 3.0.2`
  expect(await cluster.verifyGroup()).toEqual([true, [other]])
  // Ours brings an operating system with it.
  const bundled = ['gantry-tiny', '/opt/gantry/os/gantry-tiny', true, '', [], [], [20], true]
  cluster.broken['node1.gnt.example'] = { oslist: [OS, bundled] }
  expect(await cluster.verifyGroup()).toEqual([true, [other]])
  const newer = new RecordedCluster({ ...goldenConfig(), version: 3010000 })
  newer.broken[NODE2] = cluster.broken[NODE2]
  const [ok, problems] = await newer.verifyGroup()
  expect(ok).toBe(true)
  expect(problems).toEqual([other, expect.stringContaining('cannot read this configuration, whose version is 3010000')])
})

test('a node that runs another version of Gantry than the master is told with the way out, one that runs Ganeti is not', async () => {
  const cluster = new RecordedCluster()
  const release = (name: string, version: string) => (cluster.broken[name] = { 'gantry-release': version })
  release(NODE2, '0.1.0')
  expect(await cluster.verifyGroup()).toEqual([true, []])
  release('node1.gnt.example', '0.1.1')
  const text = (name: string) =>
    `WARNING: node ${name}: it runs Gantry 0.1.0, and the master 0.1.1: with the package of one of both on all nodes, run ` +
    "'gnt-cluster upgrade --to=0.1.1' (or --to=0.1.0) on the master"
  expect(await cluster.verifyGroup()).toEqual([true, [text(NODE2)]])
  release(NODE2, '0.1.1')
  expect(await cluster.verifyGroup()).toEqual([true, []])
  // The master is in another group.
  release('node4.gnt.example', '0.1.0')
  expect(await cluster.verifyGroup({ group_name: 'rack2' })).toEqual([true, [text('node4.gnt.example')]])
})

test('a node that cannot be asked is an error, an offline one only a note', async () => {
  const cluster = new RecordedCluster()
  cluster.answers.node_verify = (node, [checks]) => {
    if (node.name === NODE2) throw new Error('connection refused')
    return new RecordedCluster().answers.node_verify?.(node, [checks, '', {}]) ?? {}
  }
  const [result, problems] = await cluster.verifyGroup()
  expect(result).toBe(false)
  expect(problems).toContain(`ERROR: node ${NODE2}: while contacting node: connection refused`)
  expect(problems).toContain(`ERROR: node ${NODE2}: instance inst1.gnt.example, connection to primary node failed`)
  const offline = new RecordedCluster().given(
    change('patchNode', cluster.node(NODE2).uuid, { offline: true, master_candidate: false }),
  )
  const [, others] = await offline.verifyGroup()
  const text = (name: string) =>
    `ERROR: instance ${name}: instance is marked as running and lives on offline node ${NODE2}`
  expect(others).toEqual(expect.arrayContaining([text('inst1.gnt.example'), text('inst2.gnt.example')]))
  expect(offline.log).toContain('  - NOTICE: 1 offline node(s) found.')
})

test('instances that are down, strange or in a wrong place are named, also for programs', async () => {
  const cluster = new RecordedCluster()
  cluster.broken[NODE2] = { instancelist: ['inst1.gnt.example', 'inst3.gnt.example', 'ghost.example', 'new.example'] }
  cluster.lockOwners = [['instance/new.example', [[[7, '/livelock', 9], 'exclusive']]]]
  cluster.broken['node3.gnt.example'] = { instancelist: ['inst6.gnt.example'] }
  const [result, problems] = await cluster.verifyGroup({ error_codes: true })
  expect(result).toBe(false)
  expect(problems).toEqual([
    `ERROR:EINSTANCEWRONGNODE:instance:inst3.gnt.example:instance should not run on node ${NODE2}; its primary node is node3.gnt.example; 'gnt-instance migrate --cleanup inst3.gnt.example' makes the node where it runs its primary node`,
    `ERROR:ENODEORPHANINSTANCE:node:${NODE2}:node is running unknown instance ghost.example; stop it there, nothing in the configuration owns it`,
    `ERROR:EINSTANCEDOWN:instance:inst2.gnt.example:instance not running on its primary node ${NODE2}; start it with 'gnt-instance startup inst2.gnt.example'`,
  ])
})

test('disks that nodes with exclusive storage do not take, and those without spindles there, are named', async () => {
  const { group } = new RecordedCluster().node(NODE2)
  const cluster = new RecordedCluster().given(
    change('patchNodeGroup', group, { ndparams: { exclusive_storage: true } }),
  )
  const [, problems] = await cluster.verifyGroup({ error_codes: true })
  expect(problems).toContain(
    'ERROR:EINSTANCEUNSUITABLENODE:instance:inst3.gnt.example:instance uses disk types sharedfile, which are not supported on nodes that have exclusive storage set: node3.gnt.example',
  )
  expect(problems).toContain(
    'ERROR:EINSTANCEMISSINGCFGPARAMETER:instance:inst3.gnt.example:number of spindles not configured for disk 0 while exclusive storage is enabled, try running gnt-cluster repair-disk-sizes',
  )
})

test('an error that is to be ignored is only a warning', async () => {
  const cluster = new RecordedCluster()
  cluster.broken[NODE2] = { 'master-ip': false }
  expect(await cluster.verifyGroup({ ignore_errors: ['ENODENET'] })).toEqual([
    true,
    [`WARNING: node ${NODE2}: cannot reach the master IP`],
  ])
})

test('simulated errors make every check complain', async () => {
  const [result, problems] = await new RecordedCluster().verifyGroup({ debug_simulate_errors: true })
  expect(result).toBe(false)
  expect(problems.length).toBeGreaterThan(40)
})

test('a file with the name of a disk is not to be removed', async () => {
  const cluster = new RecordedCluster()
  const disk = cluster.config.disks[cluster.instance('inst2').disks[0] ?? '']
  const desired = String(disk?.logical_id[1])
  const name = path.posix.basename(desired)
  const file = `/srv/ganeti/shared-file-storage/sub/former/${name}`
  cluster.extraFiles.push([file, 5 << 20])
  const warned = async () => (await cluster.verifyGroup())[1].filter((line) => line.includes(file))
  await expect(warned()).resolves.toEqual([
    `WARNING: node node1.gnt.example: file ${file} (5 MiB) is not a disk of any instance; it has the name of the disk whose file is ` +
      `${desired}: keep it until you know that that file has the data`,
  ])
})

test('disks that are missing, degraded or belong to nobody are named', async () => {
  const cluster = new RecordedCluster()
  const [disk0, disk1] = cluster
    .instance('inst2')
    .disks.map((uuid) => String(cluster.config.disks[uuid]?.logical_id[1]))
  cluster.lostFiles.add(String(disk0))
  cluster.extraFiles.push(['/srv/ganeti/shared-file-storage/gone.example/x.disk0', 5 << 20])
  cluster.extraFiles.push(['/srv/ganeti/shared-file-storage/busy.example/x.disk0', 5 << 20])
  cluster.lockOwners = [['instance/busy.example', [[[7, '/livelock', 9], 'exclusive']]]]
  cluster.answers.blockdev_getmirrorstatus_multi = (_node, [disks]) =>
    disks.map((disk) =>
      disk.logical_id?.[1] === disk1
        ? [true, { dev_path: '/dev/x', is_degraded: true, ldisk_status: LOCAL_DISK_STATUS.faulty }]
        : disk.logical_id?.[1] === disk0
          ? [false, 'no such file']
          : [true, { dev_path: '/dev/x', is_degraded: false, ldisk_status: 1 }],
    )
  expect(await cluster.verifyGroup()).toEqual([
    false,
    [
      `ERROR: instance inst2.gnt.example: file ${disk0} missing on node ${NODE2}; if its data is lost, ` +
        "'gnt-instance recreate-disks --disk=0 inst2.gnt.example' makes disk/0 again, empty",
      `ERROR: instance inst2.gnt.example: disk/1 on ${NODE2} is degraded; local disk state is 'faulty'; bring its storage back, or ` +
        "'gnt-instance recreate-disks inst2.gnt.example' makes it again, empty",
      'WARNING: node node1.gnt.example: file /srv/ganeti/shared-file-storage/gone.example/x.disk0 (5 MiB) is not a disk of any instance; ' +
        "if nobody needs it, remove it there with 'rm /srv/ganeti/shared-file-storage/gone.example/x.disk0'",
    ],
  ])
})

test('an instance without any of its files was half removed, unless a file without owner may be one of them', async () => {
  const cluster = new RecordedCluster()
  const paths = cluster.instance('inst2').disks.map((uuid) => String(cluster.config.disks[uuid]?.logical_id[1]))
  for (const file of paths) cluster.lostFiles.add(file)
  const of = async (start: string) => (await cluster.verifyGroup())[1].filter((line) => line.startsWith(start))
  const missing = () => of('ERROR: instance inst2.gnt.example: file')
  const end = "; if its removal did not end, 'gnt-instance remove inst2.gnt.example' ends it"
  const found = await missing()
  expect(found).toHaveLength(paths.length)
  found.forEach((line, index) =>
    expect(line).toContain(
      `${end}; if its data is lost, 'gnt-instance recreate-disks --disk=${index} inst2.gnt.example' makes disk/${index} again, empty`,
    ),
  )
  cluster.extraFiles.push([`/srv/ganeti/file-storage/former/${path.basename(paths[0] ?? '')}`, 5 << 20])
  for (const line of await missing()) expect(line).toMatch(/ missing on node \S+$/)
  const [elsewhere] = await of('WARNING: node node1.gnt.example: file')
  expect(elsewhere).toContain(`which is missing on node ${NODE2}: keep it until that is there again`)
})

test('a file of another group is not compared twice, and one that differs only for a moment is no problem', async () => {
  const cluster = new RecordedCluster()
  const good = cluster.answers.node_verify
  let answers = 0
  cluster.answers.node_verify = async (node, args) => {
    const answer = (await good?.(node, args)) ?? {}
    if (node.name !== NODE2 || answers++ > 0) return answer
    return { ...answer, filelist: { '/var/lib/ganeti/hmac.key': 'other' } }
  }
  expect(await cluster.verifyGroup()).toEqual([true, []])
  expect(cluster.flushes).toBe(1)
  cluster.broken[NODE2] = { filelist: { '/var/lib/ganeti/hmac.key': 'other' } }
  const [result, problems] = await cluster.verifyGroup()
  expect(result).toBe(false)
  expect(problems).toContain(`ERROR: cluster : File /var/lib/ganeti/rapi.pem is missing from node(s) ${NODE2}`)
  expect(problems).toContain(
    `ERROR: cluster : File /var/lib/ganeti/rapi/users is optional, but it must exist on all or no nodes (not found on ${NODE2})`,
  )
  expect(problems).toContain(
    `ERROR: cluster : File /var/lib/ganeti/hmac.key found with 2 different checksums (variant 1 on node1.gnt.example, node3.gnt.example, node4.gnt.example; variant 2 on ${NODE2})`,
  )
})

test('a file of ssconf that was not as it should be is written again, and verify says so', async () => {
  const cluster = new RecordedCluster()
  const good = cluster.answers.node_verify
  const file = '/var/lib/ganeti/ssconf_cluster_name'
  let answers = 0
  cluster.answers.node_verify = async (node, args) => {
    const answer = (await good?.(node, args)) ?? {}
    if (node.name !== NODE2 || answers++ > 0) return answer
    return { ...answer, filelist: { ...(answer['filelist'] as object), [file]: 'tampered' } }
  }
  expect(await cluster.verifyGroup()).toEqual([true, []])
  expect(cluster.log).toContainEqual(
    expect.stringMatching(
      /NOTICE: File .*ssconf_cluster_name found with 2 different.*: mended, it was written to all nodes again/,
    ),
  )
})

test.each([
  ['is behind', {}, "see that its node daemon runs, then use 'gnt-cluster redist-conf'"],
  [
    'knows more than the master',
    { has_more: true },
    `if that is right, 'gnt-cluster master-failover' on ${NODE2} makes it the master; if the master is right, stop the master's daemons, and ` +
      "run 'gantryd fold --take-file' there",
  ],
])('a candidate that %s is named with what to do', async (_, more, todo) => {
  const cluster = new RecordedCluster()
  cluster.replicas = cluster.replicas.map((one) =>
    one.name === NODE2 ? { ...one, state: 'out of sync', reason: 'disk full', ...more } : one,
  )
  expect(await cluster.verifyGroup()).toEqual([
    false,
    [`ERROR: cluster : master candidate ${NODE2} does not have the current configuration: disk full; ${todo}`],
  ])
})

test('a candidate that lacks jobs of the queue is named with what to do', async () => {
  const cluster = new RecordedCluster()
  const copy = (name: string, reason: string | null) => ({
    ...{ node: cluster.node(name).uuid, name, in_sync: reason === null, reason },
  })
  const queueCopies = () => Promise.resolve([copy(NODE2, 'no space left on device'), copy('node3.gnt.example', null)])
  cluster.queries = { query: jest.fn(), queryFields: jest.fn(), queueCopies }
  expect(await cluster.verifyGroup()).toEqual([
    true,
    [
      `WARNING: cluster : master candidate ${NODE2} does not have all jobs of the queue: no space left on device; see that its node daemon ` +
        'runs and that its disk has room: it is tried again by itself. Until it has them, do not make it the master',
    ],
  ])
})

test('a hook script that fails makes the check fail, and its output is shown', async () => {
  const cluster = new RecordedCluster()
  cluster.answers.hooks_runner = (node) =>
    node.name === NODE2 ? [['cluster-verify-post.d/10-disk', 1, 'disk is\nfull']] : []
  expect(await cluster.verifyGroup()).toEqual([
    false,
    [`ERROR: node ${NODE2}: Script cluster-verify-post.d/10-disk failed, output:`],
  ])
  expect(cluster.log.at(-1)).toBe('      disk is\n      full')
  const env = cluster.calls('hooks_runner')[0]?.args[2]
  expect(env).toMatchObject({ GANETI_CLUSTER_TAGS: 'env:test owner:peer', 'GANETI_NODE_TAGS_node3.gnt.example': '' })
})

test('violations of the policy and of exclusion tags are warnings', async () => {
  const cluster = new RecordedCluster()
  const uuid = cluster.instance('inst1').uuid
  cluster.given(
    change('addTags', 'cluster', '', ['htools:iextags:svc']),
    change('addTags', 'instance', uuid, ['svc:mail']),
    change('addTags', 'instance', cluster.instance('inst2').uuid, ['svc:mail']),
    change('patchInstance', uuid, { beparams: { maxmem: 10_000_000 } }),
  )
  const [result, problems] = await cluster.verifyGroup()
  expect(result).toBe(true)
  expect(problems).toEqual([
    `WARNING: node ${NODE2}: Tags where there is more than one instance: svc:mail`,
    expect.stringMatching(/^WARNING: instance inst1\.gnt\.example: memory-size value 10000000 is not in range \[/),
  ])
})

test('a degraded disk of a guest that runs is named, also if its disks do not count as active', async () => {
  const cluster = new RecordedCluster()
  cluster.answers.blockdev_getmirrorstatus_multi = (_node, [disks]) =>
    disks.map(() => [true, { dev_path: '/dev/x', is_degraded: true, ldisk_status: LOCAL_DISK_STATUS.faulty }])
  cluster.given(change('setInstanceStatus', cluster.instance('inst2').uuid, null, false, null))
  const [, problems] = await cluster.verifyGroup()
  expect(problems.filter((line) => line.includes('inst2') && line.includes('is degraded'))).toHaveLength(2)
})

test('logical volumes that are missing or that nobody owns are named, but not reserved ones', async () => {
  const cluster = new RecordedCluster().given(
    change('patchCluster', {
      enabled_disk_templates: ['plain'],
      volume_group_name: 'xenvg',
      reserved_lvs: ['xenvg/root'],
    }),
  )
  const instance = cluster.instance('inst2')
  const [uuid = ''] = instance.disks
  cluster.given(change('patchDisk', uuid, { dev_type: 'plain', logical_id: ['xenvg', 'data'] }))
  for (const name of ['node1', 'node2', 'node3'])
    cluster.broken[`${name}.gnt.example`] = {
      vglist: { xenvg: 50000 },
      pvlist: [],
      lvlist: { 'xenvg/root': [], 'other/lv': [] },
    }
  cluster.broken['node3.gnt.example'] = { vglist: { xenvg: 100 }, pvlist: [], lvlist: { 'xenvg/stray': [] } }
  const [result, problems] = await cluster.verifyGroup()
  expect([result, problems.filter((line) => !line.includes('Disk template mixed'))]).toEqual([
    false,
    [
      "ERROR: node node3.gnt.example: volume group 'xenvg' too small (20480 MiB required, 100 MiB found)",
      `ERROR: instance inst2.gnt.example: volume xenvg/data missing on node ${NODE2}; ` +
        "if its removal did not end, 'gnt-instance remove inst2.gnt.example' ends it; " +
        "if its data is lost, 'gnt-instance recreate-disks --disk=0 inst2.gnt.example' makes disk/0 again, empty",
      "WARNING: node node3.gnt.example: volume xenvg/stray is unknown; if nobody needs it, remove it there with 'lvremove xenvg/stray'",
    ],
  ])
})

test('a secondary without the memory to take over is named', async () => {
  const cluster = new RecordedCluster()
  const instance = cluster.instance('inst6')
  const [uuid = ''] = instance.disks
  const [from, to] = [instance.primary_node, cluster.node(NODE2).uuid]
  cluster.given(
    change('patchDisk', uuid, { dev_type: 'drbd', nodes: [from, to], logical_id: [from, to, 11000, 0, 0, 'x'] }),
    change('patchInstance', instance.uuid, { beparams: { minmem: 3000, maxmem: 3000 } }),
  )
  const text =
    'not enough memory to accommodate instance failovers should node node3.gnt.example fail (3000MiB needed, 2048MiB available)'
  const [, problems] = await cluster.verifyGroup()
  expect(problems).toContain(`ERROR: node ${NODE2}: ${text}`)
  // Half of the need is below what is free just now, but not below what the node leaves for instances, as hcheck counts.
  cluster.given(change('patchInstance', instance.uuid, { beparams: { minmem: 500, maxmem: 1500 } }))
  cluster.broken[NODE2] = { hvinfo: { memory_free: 2048, memory_total: 4096, memory_dom0: 2700 } }
  const [, narrow] = await cluster.verifyGroup()
  expect(narrow.filter((line) => line.includes('instance failovers'))).toEqual([
    expect.stringContaining('should node node3.gnt.example fail (1500MiB needed, 1204MiB available)'),
  ])
  // The htools keep 4 GiB for a KVM node itself, whatever it uses now.
  cluster.given(change('patchCluster', { enabled_hypervisors: ['kvm'] }))
  cluster.broken[NODE2] = { hvinfo: { memory_free: 4500, memory_total: 5000, memory_dom0: 400 } }
  const [, cautious] = await cluster.verifyGroup()
  expect(cautious.filter((line) => line.includes('instance failovers'))).toEqual([
    `WARNING: node ${NODE2}: not enough memory to accommodate instance failovers should node node3.gnt.example fail ` +
      '(1500MiB needed, 712MiB available when 4096MiB are kept for the node itself, as hcheck and hbal do)',
  ])
  delete cluster.broken[NODE2]
  const [, skipped] = await cluster.verifyGroup({ skip_checks: ['nplusone_mem'] })
  expect(skipped).not.toContain(`ERROR: node ${NODE2}: ${text}`)
})

test('a node whose self-diagnosis says nothing is named', async () => {
  const cluster = new RecordedCluster()
  const why = 'its self-diagnosis does not run (not-run): /etc/ganeti/node-diagnose-commands/check does not exist'
  cluster.gantry = {
    ...cluster.gantry,
    sections: {
      [MAINTENANCE.rounds]: { problems: { [NODE2]: why, 'node3.gnt.example': 'its report is from the future' } },
    },
  }
  expect(await cluster.verifyGroup()).toEqual([
    true,
    [`WARNING: node ${NODE2}: a fault of the node would not be seen: ${why}`],
  ])
})
