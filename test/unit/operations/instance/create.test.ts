// New instances, with the log of a real master.
import { verifyConfig } from '../../../../src/config/verify'
import { step } from '../../../../src/locks/table'
import type { ClientId, LockRequest } from '../../../../src/model/lock'
import type { NodeInfo } from '../../../../src/rpc/node/dicts'
import { type FakeCluster, simulatedCluster } from '../../../support/fake-cluster'

const create = {
  instance_name: 'inst20.gnt.example',
  mode: 'create',
  disk_template: 'diskless',
  disks: [],
  nics: [],
  os_type: 'noop',
  hypervisor: 'fake',
  beparams: { memory: 32 },
  pnode: 'node1.gnt.example',
}
const shared = {
  ...create,
  disk_template: 'sharedfile',
  disks: [
    { size: 8, name: 'd0' },
    { size: 4, mode: 'ro' },
  ],
}

let cluster: FakeCluster
beforeEach(() => {
  cluster = simulatedCluster()
})
afterEach(() => {
  expect(cluster.table.owners.size).toBe(0)
})

test('a diskless instance is made, started and logged as a real master does', async () => {
  await expect(cluster.run('OP_INSTANCE_CREATE', create)).resolves.toEqual(['node1.gnt.example'])
  expect(cluster.log).toEqual([
    '* creating instance disks...',
    'adding instance inst20.gnt.example to cluster config',
    'adding disks to cluster config',
    '* starting instance...',
  ])
  expect(cluster.instance('inst20')).toMatchObject({ admin_state: 'up', beparams: { minmem: 32, maxmem: 32 } })
  expect(cluster.runningOn('inst20')).toEqual(['node1.gnt.example'])
  expect(verifyConfig(cluster.config)).toEqual([])
})

test.each([
  ['node1.gnt.example', "A node of the cluster has the name 'node1.gnt.example'"],
  ['NODE1.gnt.example', "A node of the cluster has the name 'node1.gnt.example'"],
  ['cluster.gnt.example', "The cluster has the name 'cluster.gnt.example'"],
])('an instance cannot have the name %s, nor get it later', async (name, text) => {
  const refusal = ['OpPrereqError', [text, 'already_exists']]
  expect(await cluster.failure('OP_INSTANCE_CREATE', { ...create, instance_name: name })).toEqual(refusal)
  const rename = { instance_name: 'inst2.gnt.example', new_name: name, name_check: false, ip_check: false }
  expect(await cluster.failure('OP_INSTANCE_RENAME', rename)).toEqual(refusal)
})

test('a NIC can have an address of the IPv6 part of its network that nobody else has', async () => {
  await cluster.run('OP_NETWORK_SET_PARAMS', {
    ...{ network_name: 'net1', network6: '2001:db8::/64', gateway6: '2001:db8::1' },
  })
  const inst = (number: number, ip: string) => ({
    ...{ ...create, instance_name: `inst${number}.gnt.example`, nics: [{ ip, network: 'net1' }] },
  })
  await cluster.run('OP_INSTANCE_CREATE', inst(20, '2001:DB8::0:5'))
  expect(cluster.instance('inst20')?.nics).toMatchObject([{ ip: '2001:db8::5' }])
  expect(verifyConfig(cluster.config)).toEqual([])
  for (const taken of ['2001:db8::5', '2001:db8::1'])
    expect(await cluster.failure('OP_INSTANCE_CREATE', inst(21, taken))).toMatchObject([
      'OpPrereqError',
      [expect.stringMatching(/is already in use, or reserved, in network net1/), 'resource_not_unique'],
    ])
  expect(await cluster.failure('OP_INSTANCE_CREATE', inst(21, '2001:db9::5'))).toEqual([
    'OpPrereqError',
    ['IP address 2001:db9::5 is outside of network net1 (10.99.0.0/24, 2001:db8::/64)', 'wrong_input'],
  ])
  const modify = { instance_name: 'inst20', nics: [['modify', 0, { ip: '2001:db8::6' }]] }
  await cluster.run('OP_INSTANCE_SET_PARAMS', modify)
  await cluster.run('OP_INSTANCE_CREATE', inst(21, '2001:db8::5'))
  expect(verifyConfig(cluster.config)).toEqual([])
})

test('that a secondary node is not used is said, also where only its uuid is given', async () => {
  await cluster.run('OP_INSTANCE_CREATE', { ...create, snode_uuid: 'some node' })
  expect(cluster.log).toContain(' - WARNING: Secondary node will be ignored on non-mirrored disk template')
})

test('disks are made before the instance starts, with the log of a real master', async () => {
  const nics = [
    { ip: 'pool', network: 'net1' },
    { mac: 'AA:00:00:12:34:56', link: 'xen-br0' },
  ]
  await cluster.run('OP_INSTANCE_CREATE', { ...shared, nics })
  expect(cluster.log).toEqual([
    " - INFO: NIC/0 inherits netparams ['xen-br0', 'bridged', '']",
    ' - INFO: Chose IP 10.99.0.3 from network net1',
    '* disk 0, size 8M',
    '* disk 1, size 4M',
    '* creating instance disks...',
    'adding instance inst20.gnt.example to cluster config',
    'adding disks to cluster config',
    ' - INFO: Waiting for instance inst20.gnt.example to sync disks',
    " - INFO: Instance inst20.gnt.example's disks are in sync",
    ' - INFO: Waiting for instance inst20.gnt.example to sync disks',
    " - INFO: Instance inst20.gnt.example's disks are in sync",
    '* running the instance OS create scripts...',
    '* starting instance...',
  ])
  const instance = cluster.instance('inst20')
  expect(instance?.forthcoming).toBeUndefined()
  expect(instance?.nics).toMatchObject([{ ip: '10.99.0.3' }, { mac: 'aa:00:00:12:34:56' }])
  const disks = instance?.disks.map((uuid) => cluster.config.disks[uuid])
  expect(disks).toMatchObject([
    { name: 'd0', size: 8, mode: 'rw', iv_name: 'disk/0', dev_type: 'sharedfile' },
    { size: 4, mode: 'ro', iv_name: 'disk/1' },
  ])
  expect(String(disks?.[0]?.logical_id[1])).toMatch(
    /^\/srv\/ganeti\/shared-file-storage\/inst20\.gnt\.example\/[-0-9a-f]{36}\.sharedfile\.disk0$/,
  )
  expect(cluster.diskFiles()).toEqual(expect.arrayContaining([...(instance?.disks ?? [])]))
  expect(verifyConfig(cluster.config)).toEqual([])
})

test('the job shows what was chosen and what was left out, but no hidden parameter', async () => {
  const { pnode: _, ...anywhere } = shared
  cluster.secrets = { osparams_private: { pw: 'hidden' } }
  const osparams_private = { pw: '<redacted>' }
  const [chosen] = (await cluster.run('OP_INSTANCE_CREATE', {
    ...anywhere,
    ...{ iallocator: 'hail', beparams: { memory: 32 }, osparams_private },
  })) as string[]
  expect(cluster.noted).toEqual({
    ...{ instance_name: 'inst20.gnt.example', beparams: { maxmem: 32, minmem: 32 } },
    ...{ pnode: chosen, pnode_uuid: cluster.node(String(chosen).split('.')[0] ?? '').uuid },
    ...{ osparams: {}, osparams_secret: {}, file_driver: 'loop', disk_template: 'sharedfile', hypervisor: 'fake' },
    ...{ helper_startup_timeout: 300, helper_shutdown_timeout: 7200 },
  })
})

test('a refused job shows what was settled before', async () => {
  const failure = {
    wire: 'TypeEnforcementError',
    args: ["'size' (value -5) is not a valid size. error: Invalid format"],
  }
  await expect(cluster.run('OP_INSTANCE_CREATE', { ...shared, disks: [{ size: -5 }] })).rejects.toMatchObject(failure)
  const settled = { helper_startup_timeout: 300, helper_shutdown_timeout: 7200, disk_template: 'sharedfile' }
  expect(cluster.noted).toEqual({ ...settled, instance_name: 'inst20.gnt.example' })
})

test('names of disks are given once', async () => {
  const disks = [
    { size: 8, name: 'a' },
    { size: 8, name: 'a' },
  ]
  await expect(cluster.run('OP_INSTANCE_CREATE', { ...shared, disks })).rejects.toMatchObject({
    args: ["disk name 'a' already used", 'resource_not_unique'],
  })
})

test('only the locks that are needed are asked for, in order', async () => {
  await cluster.run('OP_INSTANCE_CREATE', create)
  const { uuid } = cluster.node('node1')
  expect(cluster.lockRequests.flat()).toEqual([
    ['cluster/BGL', 'shared'],
    ['instance/inst20.gnt.example', 'exclusive'],
    [`node/${uuid}`, 'exclusive'],
    [`node-res/${uuid}`, 'exclusive'],
  ])
})

test('the allocator chooses a node and says so; a dry run stops there', async () => {
  const { pnode: _, ...anywhere } = create
  const result = await cluster.run('OP_INSTANCE_CREATE', { ...anywhere, iallocator: 'hail', dry_run: true })
  expect(cluster.log).toEqual([
    expect.stringMatching(/^ - INFO: Selected nodes for instance inst20.gnt.example via iallocator hail: node/),
    ' - INFO: dry-run mode requested, not actually executing the operation',
  ])
  expect(Object.keys(cluster.config.nodes)).toContain((result as string[])[0])
  expect(cluster.instance('inst20')).toBeUndefined()
  expect(cluster.calls('hooks_runner').map(({ args }) => args.slice(0, 2))).toContainEqual(['instance-add', 'pre'])
})

test('a network of a NIC, by name, is looked for in the groups, and the allocator takes one that has it', async () => {
  const { pnode: _, ...anywhere } = create
  const desired = { ...anywhere, iallocator: 'hail', nics: [{ ip: 'pool', network: 'net1' }] }
  await cluster.run('OP_INSTANCE_CREATE', desired)
  const [net1] = Object.values(cluster.config.networks).filter(({ name }) => name === 'net1')
  expect(cluster.instance('inst20')?.nics).toMatchObject([{ network: net1?.uuid, ip: '10.99.0.3' }])
  for (const [uuid, group] of Object.entries(cluster.config.nodegroups))
    if (Object.keys(group.networks).length > 0) cluster.change('patchNodeGroup', uuid, { networks: {} })
  const [, [text]] = (await cluster.failure('OP_INSTANCE_CREATE', { ...desired, instance_name: 'other' })) as [
    string,
    [string],
  ]
  expect(text).toMatch(/not connected to its network/)
  await expect(
    cluster.failure('OP_INSTANCE_CREATE', { ...desired, instance_name: 'other', nics: [{ network: 'nosuch' }] }),
  ).resolves.toEqual(['OpPrereqError', ["Network 'nosuch' not found", 'unknown_entity']])
})

describe('with opportunistic locking', () => {
  const { pnode: _, ...anywhere } = create
  const op = { ...anywhere, iallocator: 'hail', opportunistic_locking: true }
  const other: ClientId = [9, '/livelock/9', 99]
  const hold = (names: readonly string[]) =>
    step(cluster.table, {
      ...{ owner: other, at: 0, kind: 'update', priority: 0 },
      request: names.map((name): LockRequest => [`node/${cluster.node(name).uuid}`, 'exclusive']),
    })

  test('a node that nobody holds is taken, with its storage', async () => {
    hold(['node1'])
    const [name] = (await cluster.run('OP_INSTANCE_CREATE', op)) as string[]
    const chosen = cluster.node(String(name).split('.')[0] ?? '')
    expect(cluster.lockRequests.flat()).toContainEqual([`node-res/${chosen.uuid}`, 'exclusive'])
    expect(cluster.lockRequests.flat()).not.toContainEqual([`node-res/${cluster.node('node1').uuid}`, 'exclusive'])
    step(cluster.table, { owner: other, at: 0, kind: 'free' })
  })

  test('when none of the free nodes will do, all are waited for', async () => {
    cluster.change('patchNode', cluster.node('node4').uuid, { drained: true, master_candidate: false })
    hold(['node1', 'node2', 'node3'])
    await expect(cluster.run('OP_INSTANCE_CREATE', op)).rejects.toThrow(/^blocked by .*livelock\/9/)
    expect(cluster.log).toEqual([
      expect.stringMatching(
        /^ - INFO: IAllocator 'hail' failed on opportunistically acquired nodes: no node fits: 3 are locked/,
      ),
      '* falling back to full lock allocation',
    ])
    expect([cluster.started, cluster.noted]).toEqual([false, expect.objectContaining({ opportunistic_locking: false })])
    for (const { uuid } of Object.values(cluster.config.nodes))
      expect(cluster.lockRequests.flat()).toContainEqual([`node/${uuid}`, 'exclusive'])
    step(cluster.table, { owner: other, at: 0, kind: 'free' })
  })

  test('a script that finds no room on the free nodes is asked again with all of them', async () => {
    const requested: unknown[] = []
    cluster.answers.iallocator_runner = (_node, [, input]) => {
      const { request } = JSON.parse(input) as { request: Record<string, unknown> }
      requested.push(request['restrict-to-nodes'])
      return JSON.stringify({ success: false, info: 'the moon is wrong', result: [] })
    }
    hold(['node1'])
    const locked = cluster.run('OP_INSTANCE_CREATE', { ...op, iallocator: 'mine' })
    await expect(locked).rejects.toThrow(/^blocked by .*livelock\/9/)
    expect(requested).toEqual([expect.not.arrayContaining([cluster.node('node1').name])])
    expect(cluster.log).toEqual([
      " - INFO: IAllocator 'mine' failed on opportunistically acquired nodes: the moon is wrong",
      '* falling back to full lock allocation',
    ])
    step(cluster.table, { owner: other, at: 0, kind: 'free' })
  })

  test('an instance that fits on no node is refused for good', async () => {
    const desired = { ...op, beparams: { memory: '1t' }, ignore_ipolicy: true }
    const [, [, code]] = (await cluster.failure('OP_INSTANCE_CREATE', desired)) as [string, string[]]
    expect([code, cluster.log.at(-1)]).toEqual(['insufficient_resources', '* falling back to full lock allocation'])
  })
})

test('when no node fits, the error counts the reasons, and says how much there is', async () => {
  const { pnode: _, ...anywhere } = create
  cluster.change('patchNode', cluster.node('node2').uuid, { drained: true, master_candidate: false })
  cluster.change('patchNode', cluster.node('node3').uuid, { offline: true, master_candidate: false })
  const desired = { ...anywhere, beparams: { memory: '1t' }, ignore_ipolicy: true }
  await expect(cluster.failure('OP_INSTANCE_CREATE', desired)).resolves.toEqual([
    'OpPrereqError',
    [
      "Can't compute nodes using iallocator 'hail': no node fits: 2 lack memory (largest free 65,536 MiB on node4.gnt.example, 1,048,576 needed), 1 is drained, 1 is offline",
      'insufficient_resources',
    ],
  ])
})

test.each([
  [{ instance_name: 'inst1.gnt.example' }, "Instance 'inst1.gnt.example' is already in the cluster", 'already_exists'],
  [{ pnode: 'nosuch.gnt.example' }, "Node 'nosuch.gnt.example' not known", 'unknown_entity'],
  [
    { instance_name: '../etc/passwd' },
    "Parameter 'instance_name': '../etc/passwd' is no name: it may have letters, digits, dots, hyphens and underscores, and at most 63 characters between two dots",
    'wrong_input',
  ],
  [
    { beparams: { vcpus: 100 } },
    'Instance allocation to group dec2a93f-d71e-4791-8af8-d291d7dedc1f (default) violates policy: cpu-count value 100 is not in range [1, 8]',
    'wrong_input',
  ],
  [
    { disk_template: 'drbd', disks: [{ size: 10 }] },
    "Disk template 'drbd' is not enabled in cluster. Enabled disk templates are: diskless,file,sharedfile",
    undefined,
  ],
  [{ iallocator: 'hail' }, 'Do not specify both, iallocator and node', 'wrong_input'],
  [{ hypervisor: 'lxc' }, 'Selected hypervisor (lxc) not enabled in the cluster (fake,kvm)', 'wrong_state'],
  [{ nics: [{ ip: 'pool' }] }, 'if ip=pool, parameter network must be passed too', 'wrong_input'],
  [{ nics: [{ mac: 'zz' }] }, "Invalid MAC address 'zz'", 'wrong_input'],
  [{ nics: [{ mac: '00:00:00:00:00:00' }] }, "Invalid MAC address '00:00:00:00:00:00'", 'wrong_input'],
  [
    { nics: [{ ip: '10.77.0.5', network: 'net1' }] },
    'IP address 10.77.0.5 is outside of network net1 (10.99.0.0/24)',
    'wrong_input',
  ],
  [{ nics: [{ ip: '10.99.0.77' }] }, expect.stringContaining('belongs to network net1'), 'wrong_state'],
  [{ beparams: { minmem: 64, maxmem: 32 } }, expect.stringContaining('minmem'), 'wrong_input'],
  [{ mode: 'import' }, 'No export found for relative path inst20.gnt.example', 'wrong_input'],
  [
    { mode: 'import', src_path: '/tmp/x' },
    'Importing an instance from a path requires a source node option',
    'wrong_input',
  ],
  [
    { mode: 'import', compress: 'rm' },
    'Compression tool not allowed, tools allowed are [gzip, gzip-fast, gzip-slow]',
    'wrong_input',
  ],
  [{ os_type: null }, 'No guest OS or OS image specified', 'wrong_input'],
])('%j is refused, and nothing is left', async (given, text, code) => {
  const before = cluster.config
  await expect(cluster.failure('OP_INSTANCE_CREATE', { ...create, ...given })).resolves.toEqual([
    'OpPrereqError',
    code === undefined ? [text] : [text, code],
  ])
  expect(cluster.config).toBe(before)
})

test.each(['beparams', 'hvparams'])('one of the %s that there is not is refused by name', async (kind) => {
  await expect(cluster.failure('OP_INSTANCE_CREATE', { ...create, [kind]: { nosuch: 1 } })).resolves.toEqual([
    'TypeEnforcementError',
    ["Unknown parameter 'nosuch'"],
  ])
})

test('a disk’s parameter that no disk has is refused by name, and so it is of the second disk', async () => {
  const disks = [{ size: 8 }, { size: 8, siez: 5 }]
  await expect(cluster.failure('OP_INSTANCE_CREATE', { ...shared, disks })).resolves.toEqual([
    'TypeEnforcementError',
    ["Unknown parameter 'siez'"],
  ])
})

test('an OS that the node does not have is the node’s error', async () => {
  await expect(cluster.failure('OP_INSTANCE_CREATE', { ...create, os_type: 'nosuch' })).resolves.toEqual([
    'OpExecError',
    ['OS Parameters validation failed on node node1.gnt.example: Directory for OS nosuch not found in search path'],
  ])
})

test('a disk that cannot be made takes the others and the reservation with it', async () => {
  const before = cluster.diskFiles()
  let made = 0
  cluster.answers.blockdev_create = () => {
    if (++made === 2) throw new Error('no space left')
    return undefined
  }
  const [name, [text]] = (await cluster.failure('OP_INSTANCE_CREATE', shared)) as [string, [string]]
  expect(name).toBe('OpExecError')
  expect(text).toMatch(
    /^Can't create block device <Disk\(type=sharedfile, logical_id=\('loop', '.*disk1'\), children=\[\], visible as \/dev\/disk\/1, size=4m\)> on node node1.gnt.example for instance inst20.gnt.example: no space left$/,
  )
  expect(cluster.diskFiles()).toEqual(before)
  expect(cluster.instance('inst20')).toBeUndefined()
})

test('a disk that may be there, on a node that does not answer, keeps its instance known', async () => {
  const away = () => {
    throw new Error('connection refused')
  }
  cluster.answers.blockdev_create = away
  cluster.answers.blockdev_remove = away
  await cluster.failure('OP_INSTANCE_CREATE', { ...shared, disks: [{ size: 8 }] })
  expect(cluster.log.join('\n')).toMatch(/Failed to remove newly-created disk .* on node node1.gnt.example/)
  expect(cluster.log.join('\n')).toContain("remove it with 'gnt-instance remove inst20.gnt.example'")
  expect(cluster.instance('inst20')).toMatchObject({ forthcoming: true })
  cluster.answers = {}
  await cluster.run('OP_INSTANCE_REMOVE', { instance_name: 'inst20' })
  expect(cluster.instance('inst20')).toBeUndefined()
})

test('parts that cannot be taken back are named, and stay known', async () => {
  cluster.answers.blockdev_getmirrorstatus = () => [{ dev_path: '', is_degraded: true, ldisk_status: 4 }]
  cluster.answers.blockdev_remove = () => {
    throw new Error('busy')
  }
  const desired = { ...shared, disks: [{ size: 8 }] }
  await expect(cluster.failure('OP_INSTANCE_CREATE', desired)).resolves.toEqual([
    'OpExecError',
    ['There are some degraded disks for this instance'],
  ])
  expect(cluster.log.join('\n')).toContain('Could not remove disk disk/0 on node node1.gnt.example')
  expect(cluster.log.join('\n')).toContain('Instance inst20.gnt.example stays in the configuration')
  expect(cluster.instance('inst20')).toBeDefined()
})

test.each([
  ['no change', 1],
  ['none after the first', 2],
])('no disk is taken away that the configuration names, if that takes %s', async (_, refused) => {
  cluster.answers.blockdev_getmirrorstatus = () => {
    let changes = 0
    cluster.refuses = (requested) => requested.length > 0 && ++changes >= refused
    return [{ dev_path: '', is_degraded: true, ldisk_status: 4 }]
  }
  const desired = { ...shared, disks: [{ size: 8 }] }
  await expect(cluster.failure('OP_INSTANCE_CREATE', desired)).resolves.toEqual([
    'OpExecError',
    ['There are some degraded disks for this instance'],
  ])
  const isWhole = cluster.instance('inst20')?.forthcoming !== true
  expect(isWhole).toBe(refused === 1)
  expect(cluster.calls('blockdev_remove').length > 0).toBe(!isWhole)
  expect(cluster.log.join('\n')).toContain("remove it with 'gnt-instance remove inst20.gnt.example'")
})

test('a failed installation leaves the instance stopped and says so', async () => {
  cluster.answers.instance_os_add = () => {
    throw new Error('script failed')
  }
  await expect(cluster.failure('OP_INSTANCE_CREATE', shared)).resolves.toEqual([
    'OpExecError',
    ['Could not add os for instance inst20.gnt.example on node node1.gnt.example: script failed'],
  ])
  expect(cluster.instance('inst20')?.admin_state).toBe('down')
  expect(cluster.runningOn('inst20')).toEqual([])
})

test('secret OS parameters reach the scripts and no record', async () => {
  cluster.secrets = { osparams_secret: { password: 'hunter2' } }
  await cluster.run('OP_INSTANCE_CREATE', { ...shared, osparams: { size: 3 }, osparams_secret: {} })
  expect(cluster.calls('instance_os_add')[0]?.args[0]).toMatchObject({
    osparams: { size: '3' },
    osparams_private: { password: 'hunter2' },
  })
  expect(JSON.stringify([cluster.config, cluster.log])).not.toContain('hunter2')
})

test('without installation nothing is run or started', async () => {
  await cluster.run('OP_INSTANCE_CREATE', { ...shared, no_install: true })
  expect(cluster.calls('instance_os_add')).toEqual([])
  expect(cluster.runningOn('inst20')).toEqual([])
  expect(cluster.log[0]).toBe(' - INFO: No-installation mode selected, disabling startup')
})

test('a hook script that refuses stops it before anything is made', async () => {
  cluster.answers.hooks_runner = (_node, [path, phase]) =>
    path === 'instance-add' && phase === 'pre' ? [['instance-add-pre.d/quota', 1, 'over quota']] : []
  await expect(cluster.failure('OP_INSTANCE_CREATE', shared)).resolves.toEqual([
    'HooksAbort',
    [[['node1.gnt.example', 'instance-add-pre.d/quota', 'over quota']]],
  ])
  expect(cluster.calls('blockdev_create')).toEqual([])
})

test('a job killed at any node call leaves no disk and no guest that the configuration does not know', async () => {
  let killed = true
  for (let after = 1; killed; after++) {
    const fresh = simulatedCluster()
    killed = await fresh.runUntilKilled('OP_INSTANCE_CREATE', shared, after)
    expect(verifyConfig(fresh.config)).toEqual([])
    const known = Object.keys(fresh.config.disks)
    expect(fresh.diskFiles().filter((uuid) => !known.includes(uuid))).toEqual([])
    if (fresh.runningOn('inst20').length > 0) expect(fresh.instance('inst20')?.admin_state).toBe('up')
    if (!killed) expect(after).toBeGreaterThan(8)
  }
})

describe('what disks are asked to be', () => {
  const GIB = 1024
  const space = (size: number, free: number) =>
    (cluster.answers.node_info = (): NodeInfo => [
      'boot',
      [{ type: 'sharedfile', name: '/srv', storage_size: size, storage_free: free }],
      [
        {
          memory_free: 4096,
          memory_total: 8192,
          memory_dom0: 0,
          cpu_total: 4,
          cpu_nodes: 1,
          cpu_sockets: 1,
          cpu_dom0: 1,
        },
      ],
    ])
  const big = { ...shared, disks: [{ size: 900 * GIB }], os_type: 'noop' }

  test('more than the file system could ever hold is refused, unless that is asked for', async () => {
    space(100 * GIB, 73 * GIB)
    const [, [text]] = (await cluster.failure('OP_INSTANCE_CREATE', big)) as [string, [string]]
    expect(text).toMatch(
      /^The new disk space \(900\.0G\) is more than \S+ on node node1\.gnt\.example can ever hold: 100\.0G, of which 73\.0G are free; ignore_ipolicy makes it nevertheless$/,
    )
    await cluster.run('OP_INSTANCE_CREATE', { ...big, ignore_ipolicy: true })
  })

  test('on nodes with exclusive storage only what Ganeti has there is made', async () => {
    const { group } = cluster.node('node1')
    cluster.change('patchNodeGroup', group, { ndparams: { exclusive_storage: true } })
    const [, said] = (await cluster.failure('OP_INSTANCE_CREATE', { ...shared, os_type: 'noop' })) as [string, unknown]
    expect(said).toEqual([
      "Disk template sharedfile not supported with exclusive storage, which node 'node1.gnt.example' has",
      'wrong_state',
    ])
  })

  test('more than is free is told, with the figures', async () => {
    space(1000 * GIB, 73 * GIB)
    await cluster.run('OP_INSTANCE_CREATE', big)
    expect(cluster.log[0]).toMatch(
      /^ - WARNING: The new disk space \(900\.0G\) is more than \S+ on node \S+ has free now: 73\.0G of 1000\.0G; /,
    )
  })

  test.each([
    [{ size: 8, vg: 'xenvg' }, /^Disks of template 'sharedfile' have no 'vg'; leave it out$/],
    [{ size: 8, access: 'userspace' }, /^Disks of template 'sharedfile' have no 'access'; leave it out$/],
    [{ size: 8, spindles: 1 }, /^Spindles in instance disks cannot be specified when exclusive storage is not active$/],
    [{ size: 8, provider: 'p' }, /^The 'provider' option is only valid for the ext disk template, not sharedfile$/],
  ])('%j is refused', async (disk, text) => {
    const failure = cluster.failure('OP_INSTANCE_CREATE', { ...shared, disks: [disk] })
    await expect(failure).resolves.toEqual(['OpPrereqError', [expect.stringMatching(text), 'wrong_input']])
    const add = { instance_name: 'inst6', disks: [['add', -1, disk]] }
    await expect(cluster.failure('OP_INSTANCE_SET_PARAMS', add)).resolves.toEqual([
      'OpPrereqError',
      [expect.stringMatching(text), 'wrong_input'],
    ])
  })

  test('a diskless instance ignores disks, and no policy wants some of it', async () => {
    const std = {
      'disk-count': 1,
      'memory-size': 128,
      'cpu-count': 1,
      'disk-size': 1024,
      'nic-count': 1,
      'spindle-use': 1,
    }
    const minmax = [{ min: { ...std, 'memory-size': 32, 'nic-count': 0 }, max: { ...std, 'memory-size': 512 } }]
    await cluster.run('OP_CLUSTER_SET_PARAMS', { ipolicy: { minmax, std } })
    await cluster.run('OP_INSTANCE_CREATE', { ...create, disks: [{ size: 8 }] })
    expect(cluster.instance('inst20')?.disks).toEqual([])
    expect(cluster.log).toContain(
      ' - WARNING: An instance of the template diskless gets no disks; those given are ignored',
    )
  })

  test('an image is written to the first disk instead of an installation', async () => {
    cluster.answers.blockdev_image = () => null
    const { os_type: _, ...without } = shared
    await cluster.run('OP_INSTANCE_CREATE', { ...without, osparams: { 'os-image': '/images/a.img' } })
    expect(cluster.calls('blockdev_image').map(({ args }) => args.slice(1))).toEqual([['/images/a.img', 8]])
    expect(cluster.calls('instance_os_add')).toEqual([])
    const relative = cluster.failure('OP_INSTANCE_CREATE', { ...without, osparams: { 'os-image': 'a.img' } })
    await expect(relative).resolves.toEqual([
      'OpPrereqError',
      ['OS image must be an absolute path or a URL', 'wrong_input'],
    ])
    const osparams = { 'os-image': '/images/a.img', cloud_init: 'yes', user: 'A B' }
    const [, [text]] = (await cluster.failure('OP_INSTANCE_CREATE', {
      ...{ ...without, osparams },
      instance_name: 'inst21',
    })) as [string, [string]]
    expect(text).toMatch(/^OS parameter user must be the name of a user/)
  })
})
