// Free space is zeroed by a helper machine before an export.
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { InstanceDict } from '../../../../src/rpc/node/dicts'
import type { CallName } from '../../../../src/rpc/node/calls'
import { type FakeCluster, simulatedCluster } from '../../../support/fake-cluster'

const full = (name: string) => `${name}.gnt.example`
const IMAGE = '/srv/zero.img'
const BYTES = 3_000_000
const zeroing = { instance_name: full('inst6'), target_node: full('node1'), long_sleep: true, zero_free_space: true }
const fail = (text: string) => () => {
  throw new Error(text)
}

/** The number of looks that find the helper machine at work. */
const LOOKS = 3

// inst6: one disk of 8 MiB (sharedfile), up on node3; inst5: one of 32 MiB (file), down on node1.
let cluster: FakeCluster
beforeEach(() => void (cluster = clusterThatZeroes()))
afterEach(() => {
  if (!cluster.killed) expect(cluster.table.owners.size).toBe(0)
  expect(cluster.inconsistencies()).toEqual([])
})

function clusterThatZeroes(): FakeCluster {
  const made = simulatedCluster()
  made.change('patchCluster', { zeroing_image: IMAGE })
  made.change('patchInstance', made.instance('inst6')?.uuid, { hypervisor: 'kvm' })
  made.answers.get_file_info = () => [true, { size: BYTES }]
  made.answers.blockdev_image = () => null
  let left = LOOKS
  made.answers.instance_info = ({ name: node }, [instance]) => {
    // Only after its start there is a helper machine; that switches itself off by and by.
    if (helperStarts(made).length > 0 && left-- === 0) made.world.node(node).instances.delete(instance)
    return undefined
  }
  return made
}

const isHelper = ({ os }: Pick<InstanceDict, 'os'>) => os === ''
const helperStarts = (of: FakeCluster) =>
  of.calls('instance_start').flatMap(({ args }) => (isHelper(args[0] as InstanceDict) ? [args[0] as InstanceDict] : []))
const disksOf = (name: string) => cluster.instance(name)?.disks ?? []
const order = (...names: CallName[]) =>
  cluster.asked.flatMap(({ call }) => (names.includes(call) ? [call.replace(/^(instance|blockdev)_/, '')] : []))

test('a helper machine is made while the instance runs, works in its place, and is gone before the disks are copied', async () => {
  const before = cluster.config
  await expect(cluster.run('OP_BACKUP_EXPORT', zeroing)).resolves.toEqual([true, [true]])
  expect(
    order(
      'blockdev_create',
      'blockdev_image',
      'instance_shutdown',
      'instance_start',
      'blockdev_remove',
      'import_start',
    ),
  ).toEqual(['create', 'image', 'shutdown', 'start', 'shutdown', 'remove', 'import_start', 'start'])
  expect(cluster.log.filter((text) => text.startsWith('Zeroing'))).toEqual([
    'Zeroing free disk space: Creating a temporary disk of 3 MiB with image /srv/zero.img',
    'Zeroing free disk space: Starting helper VM',
    'Zeroing free disk space: Waiting for helper VM to finish, for at most 5m 0s',
    'Zeroing free disk space: Helper VM has finished',
    'Zeroing free disk space: Removing the temporary disk',
  ])
  expect(cluster.runningOn('inst6')).toEqual([full('node3')])
  expect(disksOf('inst6')).toEqual(Object.values(before.instances).find(({ name }) => name === full('inst6'))?.disks)
  expect(Object.keys(cluster.config.disks)).toEqual(Object.keys(before.disks))
  expect(cluster.calls('import_start')).toHaveLength(1)
  const last = cluster.calls('instance_start').at(-1)?.args[0] as InstanceDict
  expect(last.disks_info.map(({ uuid }) => uuid)).toEqual(disksOf('inst6'))
})

test('the instance boots the helper from its first disk, whatever it boots itself, and tells it nothing of its own', async () => {
  const hvparams = { kernel_path: '/boot/vmlinuz', boot_order: 'network', user_shutdown: true }
  const osparams_private = { password: 'secret' }
  cluster.change('patchInstance', cluster.instance('inst6')?.uuid, { hvparams, osparams_private })
  const kept = cluster.instance('inst6')
  await cluster.run('OP_BACKUP_EXPORT', zeroing)
  const [helper] = helperStarts(cluster)
  expect(helper).toMatchObject({
    hvparams: { kernel_path: '', boot_order: 'disk', user_shutdown: false },
    ...{ os: '', osparams: {}, osparams_private: {} },
    disks_info: [{ name: 'helper-machine', size: 3, dev_type: 'file' }, { uuid: disksOf('inst6')[0] }],
  })
  const image = cluster.calls('blockdev_image').map(({ args }) => args.slice(1))
  expect(image).toEqual([[IMAGE, 3]])
  expect(cluster.instance('inst6')).toMatchObject({ hvparams: kept?.hvparams, osparams_private })
})

test('its disk is a volume where instances have volumes, and no other job takes the room of it', async () => {
  cluster.change('patchCluster', { enabled_disk_templates: ['sharedfile', 'drbd'], volume_group_name: 'xenvg' })
  await cluster.run('OP_BACKUP_EXPORT', zeroing)
  const [made] = cluster.calls('blockdev_create')
  expect(made?.args[0]).toMatchObject({ dev_type: 'plain', logical_id: ['xenvg', expect.any(String)] })
  expect(cluster.locks).toContain(`node-res/${cluster.node('node3').uuid} exclusive`)
})

test('an export to another cluster keeps the node of the instance to itself, as Ganeti does', async () => {
  const remote = { mode: 'remote', target_node: [], x509_key_name: ['a', 'b', 'c'], destination_x509_ca: 'ca' }
  const node = `/${cluster.node('node3').uuid} exclusive`
  await cluster.failure('OP_BACKUP_EXPORT', { ...zeroing, ...remote, zero_free_space: false })
  expect(cluster.locks).not.toContain(`node${node}`)
  await cluster.failure('OP_BACKUP_EXPORT', { ...zeroing, ...remote })
  expect(cluster.locks).toEqual(expect.arrayContaining([`node${node}`, `node-res${node}`]))
})

test('a mirrored instance has the disk of its helper on its primary node alone', async () => {
  cluster.change('patchCluster', { enabled_disk_templates: ['drbd'], volume_group_name: 'xenvg' })
  // Its port is given to the mirror.
  cluster.change('patchInstance', cluster.instance('inst5')?.uuid, { network_port: 11001 })
  const { uuid } = cluster.addInstance('mirror1', 'node1', { hypervisor: 'kvm' }, 'node2')
  cluster.answers.blockdev_assemble = () => ['/dev/drbd0', '/link', null]
  await cluster.run('OP_BACKUP_EXPORT', { ...zeroing, instance_name: 'mirror1' })
  expect(cluster.calls('blockdev_create').map(({ node }) => node)).toEqual([full('node1')])
  expect(cluster.calls('blockdev_remove').map(({ node }) => node)).toEqual([full('node1')])
  expect(cluster.config.instances[uuid]?.disks).toHaveLength(1)
})

test("where there are snapshots, an instance is stopped for the zeroing alone, and the helper's disk has none", async () => {
  cluster.answers.blockdev_snapshot = (_node, [disk]) => ['file', `${String(disk.logical_id?.[1])}.snap`]
  await cluster.run('OP_BACKUP_EXPORT', { ...zeroing, long_sleep: false })
  // Before the instance is stopped, a trial shows that there are some.
  expect(order('blockdev_snapshot', 'instance_shutdown', 'instance_start', 'import_start')).toEqual(
    ['snapshot', 'shutdown', 'start', 'shutdown', 'snapshot', 'start', 'import_start'], // prettier-ignore
  )
})

test('a stopped instance is stopped afterwards, and its disks are inactive', async () => {
  await cluster.run('OP_BACKUP_EXPORT', { ...zeroing, instance_name: full('inst5') })
  expect(helperStarts(cluster)).toHaveLength(1)
  expect(cluster.runningOn('inst5')).toEqual([])
  expect(cluster.instance('inst5')).toMatchObject({ admin_state: 'down', disks_active: false })
  expect(cluster.calls('import_start')).toHaveLength(1)
})

test.each([
  [{}, 300.4],
  [{ zeroing_timeout_fixed: 10 }, 10.4],
  [{ zeroing_timeout_fixed: 100, zeroing_timeout_per_mib: 5 }, 140],
  [{ zeroing_timeout_fixed: 0, zeroing_timeout_per_mib: 0 }, 0],
])(
  'a helper machine that does not end gets the time for its disks (%j), then the instance runs again',
  async (input, limit_s) => {
    cluster.answers.instance_info = undefined
    const began_ms = cluster.clock.now_ms()
    const [, [text]] = (await cluster.failure('OP_BACKUP_EXPORT', { ...zeroing, ...input })) as [string, [string]]
    expect(text).toMatch(/^Helper VM with image .* has not finished within .*--zeroing-timeout-fixed/)
    expect((cluster.clock.now_ms() - began_ms) / 1000).toBeCloseTo(limit_s)
    expect(order('instance_shutdown', 'instance_start', 'import_start')).toEqual([
      'shutdown',
      'start',
      'shutdown',
      'start',
    ])
    expect(cluster.log.filter((line) => /has worked for/.test(line))).toHaveLength(Math.floor(limit_s / 60))
    expectNothingLeft()
  },
)

test('a helper machine for whose zeros there is no room is not waited for', async () => {
  const halted = { state: 0, memory: 64, vcpus: 1, time: 0, machine_state: 'io-error' }
  cluster.answers.instance_info = () => (helperStarts(cluster).length > 0 ? halted : undefined)
  const [, [text]] = (await cluster.failure('OP_BACKUP_EXPORT', zeroing)) as [string, [string]]
  expect(text).toMatch(/cannot write to its disks: has the storage run full\?$/)
  expect(cluster.runningOn('inst6')).toEqual([full('node3')])
  expectNothingLeft()
})

test('a node that does not tell for a while is asked again', async () => {
  const reported = cluster.answers.instance_info
  let silent = 2
  cluster.answers.instance_info = (node, args) => {
    if (helperStarts(cluster).length > 0 && silent-- > 0) throw new Error('starting')
    return reported?.(node, args)
  }
  await expect(cluster.run('OP_BACKUP_EXPORT', zeroing)).resolves.toEqual([true, [true]])
})

test.each([
  ['blockdev_create', /^Can't create block device/, false],
  ['blockdev_image', /^Could not write image/, false],
  ['instance_shutdown', /^Could not shutdown instance/, true],
  ['blockdev_assemble', /^Can't activate the disk of the helper VM/, true],
  ['instance_start', /^Could not start helper VM/, true],
] as const)('when %s fails, nothing is left, and the instance runs', async (call, expected, late) => {
  let failed = false
  cluster.answers[call] = () => {
    if (failed && call !== 'blockdev_assemble') return undefined
    failed = true
    throw new Error('no')
  }
  const [, [text]] = (await cluster.failure('OP_BACKUP_EXPORT', zeroing)) as [string, [string]]
  expect(text).toMatch(expected)
  expect(cluster.calls('instance_shutdown').length > 0).toBe(late)
  expect(cluster.calls('import_start')).toEqual([])
  expect(cluster.runningOn('inst6')).toEqual([full('node3')])
  expectNothingLeft()
})

test('a disk that cannot be removed stays known, and the export goes on', async () => {
  cluster.answers.blockdev_remove = fail('busy')
  await expect(cluster.run('OP_BACKUP_EXPORT', zeroing)).resolves.toEqual([true, [true]])
  expect(cluster.log.join('\n')).toContain("remove it with 'gnt-instance modify --disk 1:remove inst6.gnt.example'")
  const [own = '', left = ''] = disksOf('inst6')
  expect(cluster.config.disks[left]).toMatchObject({ name: 'helper-machine', forthcoming: true })
  const last = cluster.calls('instance_start').at(-1)?.args[0] as InstanceDict
  expect(last.disks_info.map(({ uuid }) => uuid)).toEqual([own])
})

test('where the helper machine may still run, nobody starts the instance or takes its disk, and the error says how to go on', async () => {
  let stops = 0
  cluster.answers.instance_shutdown = () => {
    if (stops++ > 0) throw new Error('hangs')
    return undefined
  }
  const [, [text]] = (await cluster.failure('OP_BACKUP_EXPORT', zeroing)) as [string, [string]]
  expect(text).toBe(
    "The helper VM of instance inst6.gnt.example may still run on node node3.gnt.example: stop it with 'gnt-instance shutdown " +
      "inst6.gnt.example', and remove its disk with 'gnt-instance modify --disk 1:remove inst6.gnt.example': hangs",
  )
  expect(order('instance_start', 'blockdev_remove')).toEqual(['start'])
  expect(cluster.config.disks[disksOf('inst6')[1] ?? '']).toMatchObject({ forthcoming: true })
})

test('a job that is killed at any moment leaves a disk that is marked, or none, and the way out leads back', async () => {
  let marked = 0
  await cluster.run('OP_BACKUP_EXPORT', zeroing)
  const copying = cluster.asked.findIndex(({ call }) => call === 'import_start')
  for (let after = 1; after < copying; after++) {
    cluster = clusterThatZeroes()
    const files = new Set(cluster.diskFiles())
    await cluster.runUntilKilled('OP_BACKUP_EXPORT', zeroing, after)
    const [own = '', ...more] = disksOf('inst6')
    for (const uuid of more)
      expect(cluster.config.disks[uuid]).toMatchObject({ forthcoming: true, name: 'helper-machine' })
    for (const uuid of cluster.diskFiles()) expect(files.has(uuid) || more.includes(uuid as never)).toBe(true)
    cluster.table.owners.clear()
    cluster.table.locks.clear()
    if (more.length === 0) continue
    marked++
    await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: full('inst6') })
    await cluster.run('OP_INSTANCE_SET_PARAMS', { instance_name: full('inst6'), disks: [['remove', 1, {}]] })
    await cluster.run('OP_INSTANCE_STARTUP', { instance_name: full('inst6') })
    expect(disksOf('inst6')).toEqual([own])
    expect(new Set(cluster.diskFiles())).toEqual(files)
  }
  expect(marked).toBeGreaterThan(8)
})

const state = (fields: object) => () => cluster.change('patchInstance', cluster.instance('inst6')?.uuid, fields)
const ofCluster = (fields: object) => () => cluster.change('patchCluster', fields)
test.each<[string, object, () => unknown, RegExp]>([
  ['no image', {}, ofCluster({ zeroing_image: '' }), /^A zeroing image must be set .*--zeroing-image=IMAGE/],
  ['a running instance', { shutdown: false, long_sleep: false }, () => 0, /^Unless the instance is shut down, zeroing/],
  ['a negative timeout', { zeroing_timeout_fixed: -1 }, () => 0, /cannot be negative/],
  [
    'a timeout of nothing',
    { zero_free_space: false, zeroing_timeout_per_mib: 1 },
    () => 0,
    /can only be used only with/,
  ],
  ['a hypervisor without machines', {}, state({ hypervisor: 'fake' }), /^Hypervisor fake of instance .* boots no disk/],
  ['an instance that is offline', {}, state({ admin_state: 'offline' }), /is marked to be offline/],
  ['an instance without disks', { instance_name: full('inst4') }, noDisks, /^Instance inst4.* has no disks/],
  [
    'no template for it',
    {},
    ofCluster({ enabled_disk_templates: ['rbd'] }),
    /template plain, file, sharedfile, none of which/,
  ],
  [
    'an image that is missing',
    {},
    () => void (cluster.answers.get_file_info = () => [false, {}]),
    /is missing or empty on node node3/,
  ],
  [
    'an empty image',
    {},
    () => void (cluster.answers.get_file_info = () => [true, { size: 0 }]),
    /is missing or empty on node node3/,
  ],
  [
    'an image that cannot be looked at',
    {},
    () => void (cluster.answers.get_file_info = fail('EIO')),
    /^Could not determine the size .*: EIO/,
  ],
  [
    'an address that nobody serves',
    {},
    ofCluster({ zeroing_image: 'ftp://example.com/x' }),
    /cannot be asked for: .*unknown scheme/,
  ],
])('%s is refused before anything is touched', async (_what, input, prepare, text) => {
  prepare()
  const [kind, [said]] = (await cluster.failure('OP_BACKUP_EXPORT', { ...zeroing, ...input })) as [string, [string]]
  expect([kind, said]).toEqual(['OpPrereqError', expect.stringMatching(text)])
  expect(order('instance_shutdown', 'blockdev_create')).toEqual([])
})

function noDisks(): void {
  cluster.change('patchInstance', cluster.instance('inst4')?.uuid, { hypervisor: 'kvm' })
}

test('the size of an image at an address is asked of its server, and one that does not tell is refused', async () => {
  let length: string | undefined = String(BYTES)
  const server = http.createServer((request, response) => {
    expect(request.method).toBe('HEAD')
    response.writeHead(200, length === undefined ? {} : { 'Content-Length': length }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const image = `http://127.0.0.1:${(server.address() as AddressInfo).port}/zero.img`
    cluster.change('patchCluster', { zeroing_image: image })
    await cluster.run('OP_BACKUP_EXPORT', zeroing)
    expect(cluster.calls('blockdev_image').map(({ args }) => args.slice(1))).toEqual([[image, 3]])
    expect(cluster.calls('get_file_info')).toEqual([])
    length = undefined
    const [, [text]] = (await cluster.failure('OP_BACKUP_EXPORT', zeroing)) as [string, [string]]
    expect(text).toContain('has no known size')
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
})

function expectNothingLeft(): void {
  const recorded = simulatedCluster()
  expect(Object.keys(cluster.config.disks)).toEqual(Object.keys(recorded.config.disks))
  expect(cluster.diskFiles().sort()).toEqual(recorded.diskFiles().sort())
}
