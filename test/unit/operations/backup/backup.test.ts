// Exports and imports of instances on simulated nodes.
import { TRANSFER_READY_S } from '../../../../src/model/limits/transfers'
import { signDestination } from '../../../../src/operations/transfer/domain-secret'
import type { ImpExpEnd } from '../../../../src/rpc/node/dicts'
import { type FakeCluster, simulatedCluster } from '../../../support/fake-cluster'

// inst6: sharedfile, up on node3; inst2: file, down; inst4: diskless, down on node3.
let cluster: FakeCluster
beforeEach(() => {
  cluster = simulatedCluster()
  cluster.files.set('/var/lib/ganeti/cluster-domain-secret', 'the secret\n')
})
afterEach(() => {
  expect(cluster.table.owners.size).toBe(0)
  expect(cluster.inconsistencies()).toEqual([])
})

const full = (name: string) => `${name}.gnt.example`
const fail = (text: string) => () => {
  throw new Error(text)
}
const backup = { instance_name: full('inst6'), target_node: full('node1'), long_sleep: true }
const lastPart = (end: ImpExpEnd) => String(end[1][0]).split('/').at(-1)

test('an export stops the instance, copies its disks, and starts it again', async () => {
  await expect(cluster.run('OP_BACKUP_EXPORT', backup)).resolves.toEqual([true, [true]])
  expect(cluster.log).toEqual([
    'Shutting down instance inst6.gnt.example',
    'Exporting disk/0 from node3.gnt.example to node1.gnt.example',
    'disk/0 is now listening, starting export',
    'disk/0 is receiving data on node1.gnt.example',
    'disk/0 finished receiving data',
    'disk/0 is sending data on node3.gnt.example',
    'disk/0 finished sending data',
    'Finalizing export on node1.gnt.example',
    'Starting instance inst6.gnt.example',
    'Removing old exports for instance inst6.gnt.example',
  ])
  expect(cluster.runningOn('inst6')).toEqual([full('node3')])
  const disk = cluster.instance('inst6')?.disks[0]
  const [started] = cluster.calls('import_start')
  expect(started?.node).toBe(full('node1'))
  expect(started?.args[3]).toEqual(['file', [`/var/lib/ganeti/export/inst6.gnt.example.new/${disk}`]])
  const [sent] = cluster.calls('export_start')
  expect(sent?.args.slice(1, 3)).toEqual([cluster.node('node1').secondary_ip, 11000])
  expect(sent?.args[5]).toMatchObject(['script', [{ uuid: disk }, 0]])
  // Both ends know the magic value; nobody else does.
  expect(sent?.args[0]).toMatchObject({ magic: expect.stringMatching(/^[0-9a-f]{40}$/) as string, compress: 'none' })
  expect(cluster.calls('impexp_cleanup')).toHaveLength(2)
})

test('an instance on files runs on while its snapshots are copied, where its file system has any', async () => {
  const { long_sleep: _, ...short } = backup
  cluster.answers.blockdev_snapshot = (_node, [disk]) => ['file', `${String(disk.logical_id?.[1])}.snap`]
  await expect(cluster.run('OP_BACKUP_EXPORT', { ...short, shutdown: false })).resolves.toEqual([true, [true]])
  expect(cluster.calls('instance_shutdown')).toEqual([])
  expect(cluster.log).toContain('Exporting snapshot/0 from node3.gnt.example to node1.gnt.example')
  expect(cluster.calls('blockdev_snapshot')).toHaveLength(1)
  expect(cluster.calls('blockdev_remove')).toHaveLength(1)
  // Before it is stopped, a trial shows that it need not be stopped for long.
  cluster.asked.length = 0
  await expect(cluster.run('OP_BACKUP_EXPORT', short)).resolves.toEqual([true, [true]])
  const order = ['blockdev_snapshot', 'blockdev_remove', 'instance_shutdown', 'blockdev_snapshot', 'instance_start']
  expect(cluster.asked.map(({ call }) => call).filter((call) => order.includes(call))).toEqual([
    ...order,
    'blockdev_remove',
  ])
})

test('an instance that runs is not stopped for an export that would fail', async () => {
  const { long_sleep: _, ...short } = backup
  cluster.answers.blockdev_snapshot = fail('the file system cannot share blocks')
  const why = 'Could not snapshot disk/0 on node node3.gnt.example: the file system cannot share blocks'
  await expect(cluster.failure('OP_BACKUP_EXPORT', short)).resolves.toEqual([
    'OpExecError',
    [
      `Not all disks could be snapshotted, and you did not allow the instance to remain offline for a longer time through the --long-sleep option; aborting: ${why}`,
    ],
  ])
  await expect(cluster.failure('OP_BACKUP_EXPORT', { ...short, shutdown: false })).resolves.toEqual([
    'OpExecError',
    [`Not all disks could be snapshotted, and you requested a live export; aborting: ${why}`],
  ])
  expect(cluster.runningOn('inst6')).toEqual([full('node3')])
  expect(cluster.calls('instance_shutdown')).toEqual([])
})

test('an instance without disks may run while it is exported', async () => {
  cluster.change('setInstanceStatus', cluster.instance('inst4')?.uuid, 'up', false, 'admin')
  await cluster.run('OP_INSTANCE_STARTUP', { instance_name: full('inst4') })
  const short = { instance_name: full('inst4'), target_node: full('node1') }
  await expect(cluster.run('OP_BACKUP_EXPORT', { ...short, shutdown: false })).resolves.toEqual([true, []])
  expect(cluster.calls('instance_shutdown')).toEqual([])
  await expect(cluster.run('OP_BACKUP_EXPORT', short)).resolves.toEqual([true, []])
  expect(cluster.calls('instance_shutdown')).toHaveLength(1)
  expect(cluster.runningOn('inst4')).toEqual([full('node3')])
})

test('a disk that does not arrive fails the export; the instance runs on, and an older export stays', async () => {
  cluster.world.node(full('node2')).exports.set(full('inst6'), 'old')
  cluster.answers.impexp_status = (_node, [names]) =>
    names.map(
      (name) =>
      name.startsWith('import')
        ? { recent_output: [], listen_port: 5, connected: true, ctime: 0, mtime: 0, exit_status: 1, error_message: 'disk full' } // prettier-ignore
        : { recent_output: ['dd: broken pipe'], connected: true, ctime: 0, mtime: 0, exit_status: 1, error_message: 'status 1' }, // prettier-ignore
    )

  await expect(cluster.failure('OP_BACKUP_EXPORT', backup)).resolves.toEqual([
    'OpExecError',
    ['Export failed, errors in export finalization, disk export: disk(s) 0'],
  ])
  expect(cluster.log).toContain('disk/0 failed to receive data: disk full (recent output: None)')
  expect(cluster.log).toContain('disk/0 failed to send data: status 1 (recent output: dd: broken pipe)')
  expect(cluster.calls('finalize_export')).toEqual([])
  expect(cluster.runningOn('inst6')).toEqual([full('node3')])
  expect([...cluster.world.node(full('node2')).exports.keys()]).toEqual([full('inst6')])
})

test('a node that cannot start a transfer, or says nothing of it, ends the wait', async () => {
  cluster.answers.import_start = fail('no space')
  await cluster.failure('OP_BACKUP_EXPORT', backup)
  expect(cluster.log).toContain(
    ' - WARNING: import on node1.gnt.example failed: Failed to start import on node1.gnt.example: no space',
  )
  cluster.answers.import_start = undefined
  cluster.answers.impexp_status = () => [null]
  await cluster.failure('OP_BACKUP_EXPORT', backup)
  expect(cluster.log).toContainEqual(expect.stringContaining(`Didn't become ready after ${TRANSFER_READY_S} seconds`))
  expect(cluster.runningOn('inst6')).toEqual([full('node3')])
})

test('the disks of a stopped instance are active only meanwhile, and it may go afterwards', async () => {
  cluster.world.node(full('node3')).exports.set(full('inst2'), 'old')
  cluster.change('setInstanceStatus', cluster.instance('inst2')?.uuid, 'down', false, 'admin')
  await cluster.run('OP_BACKUP_EXPORT', { ...backup, instance_name: full('inst2'), remove_instance: true })
  expect(cluster.log).toContain('Activating disks for inst2.gnt.example')
  expect(cluster.log).toContain('Deactivating disks for inst2.gnt.example')
  expect(cluster.log).toContain('Removing instance inst2.gnt.example')
  expect(cluster.instance('inst2')).toBeUndefined()
  expect([...cluster.world.node(full('node3')).exports.keys()]).toEqual([])
})

test.each([
  [{ target_node: 'nosuch' }, "Node 'nosuch' not known", 'unknown_entity'],
  [{ compress: 'sh' }, 'Compression tool not allowed, tools allowed are [gzip, gzip-fast, gzip-slow]', 'wrong_input'],
  [{ mode: 'remote' }, 'Missing X509 key name for encryption', 'wrong_input'],
  [{ remove_instance: true, shutdown: false, long_sleep: false }, 'Can not remove instance without shutting it down before', 'wrong_state'], // prettier-ignore
  [{ shutdown: false }, 'The long sleep option only makes sense when the instance can be shut down.', 'wrong_input'],
])('%j is refused', async (input, text, code) => {
  const outcome = await cluster.failure('OP_BACKUP_EXPORT', { ...backup, ...input })
  expect(outcome).toEqual(['OpPrereqError', [text, code]])
})

test('the key of an export to another cluster goes with its end, also when nothing could be sent', async () => {
  const prepared = (await cluster.run('OP_BACKUP_PREPARE', { instance_name: full('inst2'), mode: 'remote' })) as {
    x509_key_name: [name: string, digest: string, salt: string]
    x509_ca: string
  }
  const to = { host: '192.0.2.9', port: 1234, magic: 'abcdefgh' }
  const removed: unknown[] = []
  cluster.answers.x509_cert_remove = (node, [name]) => void removed.push([node.name, name])
  cluster.answers.blockdev_assemble = fail('no such file')
  await cluster.failure('OP_BACKUP_EXPORT', {
    ...{ instance_name: full('inst2'), mode: 'remote', x509_key_name: prepared.x509_key_name },
    target_node: [0, 1].map((index) => signDestination('the secret', '22', index, to)),
    destination_x509_ca: prepared.x509_ca,
  })
  expect(cluster.log).not.toContainEqual(expect.stringContaining('Sending disk'))
  expect(removed).toEqual([[full('node2'), prepared.x509_key_name[0]]])
})

test('data from another cluster must be signed with the domain secret', async () => {
  const prepared = (await cluster.run('OP_BACKUP_PREPARE', { instance_name: full('inst2'), mode: 'remote' })) as {
    handshake: unknown[]
    x509_key_name: unknown[]
    x509_ca: string
  }
  expect(prepared.handshake).toEqual([
    0,
    expect.stringMatching(/^[0-9a-f]{40}$/),
    expect.stringMatching(/^[0-9a-f]{16}$/),
  ])
  expect(cluster.log).toEqual(['Generating X509 certificate on node2.gnt.example'])
  const remote = {
    ...{
      instance_name: full('inst2'),
      mode: 'remote',
      target_node: ['00', '11'].map((digest) => ['192.0.2.9', 1234, 'abcdefgh', digest, '22']),
    },
    ...{ x509_key_name: prepared.x509_key_name, destination_x509_ca: prepared.x509_ca },
  }
  const refused = (input: object) => cluster.failure('OP_BACKUP_EXPORT', { ...remote, ...input })
  expect(await refused({})).toEqual(['OpPrereqError', ['Target info for disk 0: HMAC is wrong', 'wrong_input']])
  expect(await refused({ x509_key_name: ['name', '00', '11'] })).toEqual([
    'OpPrereqError',
    ['HMAC for X509 key name is wrong', 'wrong_input'],
  ])
  expect(await refused({ destination_x509_ca: prepared.x509_ca.replace(/\/[0-9a-f]+/, `/${'0'.repeat(40)}`) })).toEqual(
    ['OpPrereqError', ['Unable to load destination X509 CA (X509 certificate signature is invalid)', 'wrong_input']],
  )
  expect(await refused({ target_node: [] })).toMatchObject([
    'OpPrereqError',
    ['Received destination information for 0 disks, but instance inst2.gnt.example has 2 disks', 'wrong_input'],
  ])
})

test('an exported instance is made again as it was, where the opcode does not say otherwise', async () => {
  const old = cluster.instance('inst2')
  await cluster.run('OP_BACKUP_EXPORT', { ...backup, instance_name: full('inst2'), remove_instance: true })
  cluster.log.length = 0
  const desired = { instance_name: full('inst2'), mode: 'import', disk_template: 'file', disks: [], nics: [] }
  await cluster.run('OP_INSTANCE_CREATE', { ...desired, pnode: full('node3'), start: false })
  expect(cluster.noted).toMatchObject({ src_node: full('node1'), src_path: '/var/lib/ganeti/export/inst2.gnt.example' })
  expect(cluster.log).toContain('* running the instance OS import scripts...')
  expect(cluster.log.at(-1)).toBe('Running rename script for inst2.gnt.example')
  expect(cluster.instance('inst2')).toMatchObject({ os: old?.os, hypervisor: old?.hypervisor, admin_state: 'down' })
  const imported = cluster.calls('export_start').at(-1)
  expect(lastPart(imported?.args[5] as ImpExpEnd)).toBe(old?.disks.at(-1))
})

test('an export is not imported onto a disk that is smaller than its own', async () => {
  const [uuid = ''] = cluster.instance('inst2')?.disks ?? []
  const { size = 0 } = cluster.config.disks[uuid] ?? {}
  await cluster.run('OP_BACKUP_EXPORT', { ...backup, instance_name: full('inst2'), remove_instance: true })
  const desired = {
    instance_name: full('inst2'),
    mode: 'import',
    disk_template: 'file',
    nics: [],
    pnode: full('node3'),
  }
  const smaller = { ...desired, disks: [{ size: size - 1 }, { size }], start: false }
  expect(await cluster.failure('OP_INSTANCE_CREATE', smaller)).toEqual([
    'OpPrereqError',
    [
      `Disk 0 of the export has ${size} MiB, and ${size - 1} MiB were asked for: give it at least its size`,
      'wrong_input',
    ],
  ])
  expect(cluster.calls('blockdev_create')).toEqual([])
  await cluster.run('OP_INSTANCE_CREATE', { ...smaller, disks: [{ size: size + 4 }, { size }] })
})

test('an export without disks is imported without disks, unless the opcode wants some', async () => {
  await cluster.run('OP_CLUSTER_SET_PARAMS', { enabled_disk_templates: ['sharedfile', 'file', 'diskless'] })
  await cluster.run('OP_BACKUP_EXPORT', { ...backup, instance_name: full('inst4'), remove_instance: true })
  const desired = {
    instance_name: full('inst4'),
    mode: 'import',
    disks: [],
    nics: [],
    pnode: full('node3'),
    start: false,
  }
  expect(await cluster.failure('OP_INSTANCE_CREATE', { ...desired, disk_template: 'file' })).toEqual([
    'OpPrereqError',
    ['No disk info specified and the export is missing the disk information', 'wrong_input'],
  ])
  await cluster.run('OP_INSTANCE_CREATE', desired)
  expect(cluster.noted).toMatchObject({ disk_template: 'diskless' })
  expect(cluster.instance('inst4')).toMatchObject({ disks: [] })
})

test('a copy of an instance that is still there has network cards like it, with MAC addresses of their own', async () => {
  await cluster.run('OP_BACKUP_EXPORT', { ...backup, instance_name: full('inst2') })
  const mac = cluster.instance('inst2')?.nics[0]?.mac ?? ''
  const { exports } = cluster.world.node(full('node1'))
  const reported = exports.get(full('inst2')) ?? ''
  exports.set(full('inst2'), reported.replace(/\[instance\]\n/, `$&nic0_mac = ${mac}\n`))
  expect(exports.get(full('inst2'))).toContain(mac)
  const desired = { instance_name: full('inst31'), mode: 'import', disk_template: 'file', disks: [], nics: [] }
  const source = { src_node: full('node1'), src_path: full('inst2'), pnode: full('node3'), start: false }
  await cluster.run('OP_INSTANCE_CREATE', { ...desired, ...source, conflicts_check: false })
  expect(cluster.instance('inst31')?.nics).toMatchObject([{ mac: expect.not.stringMatching(mac) as string }])
})

test('an instance whose disks did not all come stays, stopped, and its job fails', async () => {
  await cluster.run('OP_BACKUP_EXPORT', { ...backup, instance_name: full('inst2') })
  cluster.answers.export_start = fail('gone')
  const desired = { instance_name: full('inst30'), mode: 'import', disk_template: 'file', disks: [], nics: [] }
  const source = { src_node: full('node1'), src_path: full('inst2'), pnode: full('node3') }
  const outcome = await cluster.failure('OP_INSTANCE_CREATE', { ...desired, ...source })
  expect(outcome).toMatchObject(['OpExecError', [expect.stringContaining('Not all disks of instance inst30')]])
  expect(cluster.instance('inst30')?.admin_state).toBe('down')
  expect(cluster.runningOn('inst30')).toEqual([])
})

test('exports are removed from every node, and one that is not there is said', async () => {
  for (const node of ['node1', 'node3']) cluster.world.node(full(node)).exports.set(full('inst2'), '')
  await cluster.run('OP_BACKUP_REMOVE', { instance_name: 'inst2' })
  expect(cluster.calls('export_remove').map(({ node }) => node)).toEqual([full('node1'), full('node3')])
  await cluster.run('OP_BACKUP_REMOVE', { instance_name: 'nosuch' })
  await expect(cluster.run('OP_BACKUP_REMOVE', { instance_name: '../../tmp' })).rejects.toThrow(
    "'../../tmp' is not the name of an export",
  )
  expect(cluster.log.at(-1)).toMatch(/^Export not found\./)
})

test('exports of another instance that got the name meanwhile are not removed', async () => {
  const another = { instance_name: 'inst2', instance_uuid: 'the former one' }
  await expect(cluster.failure('OP_BACKUP_REMOVE', another)).resolves.toMatchObject([
    'OpPrereqError',
    [expect.stringContaining('it was replaced meanwhile'), 'resource_not_unique'],
  ])
})
