// Real QEMU processes that run the tiny guest, driven by the handlers of node calls as a job would drive them.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { PassThrough } from 'node:stream'
import { systemDisk } from '../../src/lib/disk'
import { Turns } from '../../src/lib/turns'
import type { NodeContext } from '../../src/node/context'
import { instanceHandlers as calls } from '../../src/node/handlers/instance'
import { NodeMeasures } from '../../src/node/measures'
import { instanceMigrationHandlers as migration } from '../../src/node/handlers/instance-migration'
import { hypervisorsOf } from '../../src/node/hypervisor/index'
import { bridge } from '../../src/node/hypervisor/kvm/console-bridge'
import { withQmp } from '../../src/node/hypervisor/kvm/qmp'
import { openSsconf } from '../../src/node/ssconf'
import type { InstanceDict, NicDict, ReasonTrail } from '../../src/rpc/node/dicts'
import {
  SerialConsole,
  contextIn,
  diskDict,
  eventually,
  freePort,
  instanceDict,
  kvmParams,
} from '../unit/node/hypervisor/support'
import {
  qemuPresent,
  qemuProcessesBelow,
  qemuSkipped,
  removeRoot,
  temporaryRoot,
  tinyDisk,
} from '../unit/node/hypervisor/support'

const when = qemuPresent ? test : test.skip
if (!qemuPresent) test.skip(qemuSkipped, () => undefined)

jest.setTimeout(60_000)
const NO_REASON: ReasonTrail = []
const CONTROL_BRACKET = '\x1d'
let root: string
let node: NodeContext
let instance: InstanceDict

beforeEach(async () => {
  root = temporaryRoot()
  node = nodeContext('node1.test')
  instance = await tinyInstance({})
})
afterEach(() => {
  SerialConsole.closeAll()
  const left = qemuProcessesBelow(root)
  removeRoot(root)
  expect(left).toEqual([])
})

function nodeContext(hostname: string): NodeContext {
  const base = contextIn(root, hostname)
  const unused = (): never => {
    throw new Error('not part of this test')
  }
  return {
    ...base,
    hostname,
    disk: systemDisk,
    ssconf: openSsconf(base.paths),
    osSearchPath: [],
    hypervisor: hypervisorsOf(base),
    measures: new NodeMeasures('test'),
    queueTurns: new Turns(),
    daemons: { startMaster: unused, stopMaster: unused, yieldMaster: unused, ensure: unused, leave: unused },
  }
}

/** Its disk is in a folder that all nodes of the test share. */
async function tinyInstance(
  params: Record<string, unknown>,
  overrides: Partial<InstanceDict> = {},
): Promise<InstanceDict> {
  const shared = '/srv/ganeti/shared-file-storage/vm1.test/disk0'
  const real = path.join(root, 'shared', 'vm1.test', 'disk0')
  tinyDisk(real)
  for (const hostname of ['node1.test', 'node2.test']) shareFolder(hostname)
  return instanceDict({
    hvparams: { ...kvmParams, migration_port: await freePort('127.0.0.1'), ...params },
    disks_info: [diskDict(shared, { dev_type: 'sharedfile' })],
    ...overrides,
  })
}

function shareFolder(hostname: string): void {
  const { paths } = contextIn(root, hostname)
  const folder = paths.local('/srv/ganeti/shared-file-storage')
  fs.mkdirSync(path.dirname(folder), { recursive: true })
  fs.rmSync(folder, { recursive: true, force: true })
  fs.symlinkSync(path.join(root, 'shared'), folder)
  fs.mkdirSync(path.dirname(paths.local('/etc/ganeti/x')), { recursive: true })
  fs.writeFileSync(paths.local('/etc/ganeti/file-storage-paths'), '/srv/ganeti/shared-file-storage\n')
}

const socket = (where: NodeContext, kind: string, name = instance.name) =>
  where.paths.local(`/var/run/ganeti/kvm-hypervisor/ctrl/${name}.${kind}`)

/** Starts the guest so that nothing it prints is missed. */
async function boot(where = node): Promise<SerialConsole> {
  await calls.instance_start(where, instance, true, NO_REASON)
  const console = await SerialConsole.open(socket(where, 'serial'))
  await calls.instance_start(where, instance, false, NO_REASON)
  await console.expect(/READY gantry-tiny/)
  return console
}

const info = (where = node) => calls.instance_info(where, instance.name, 'kvm')
const shutdown = (timeout_s: number, where = node) => calls.instance_shutdown(where, instance, timeout_s, NO_REASON)
const seconds = (match: RegExpExecArray): number => Number(match[1])

when('the guest boots, ticks, echoes what is typed, and powers off when it is asked to', async () => {
  const console = await boot()
  const first = seconds(await console.expect(/T(\d{4})/))
  expect(seconds(await console.expect(/T(\d{4})/))).toBe(first + 1)
  console.type('hello')
  await console.expect(/hello/)
  console.type('\x17\x12')
  await console.expect(/D\d{4}/)
  expect(await info()).toEqual({ memory: 16, vcpus: 1, state: 0, time: 0 })
  await shutdown(20)
  await console.expect(/POWEROFF/)
  expect(await info()).toEqual({})
  expect(fs.existsSync(node.paths.local('/var/run/ganeti/instance-disks/vm1.test:0'))).toBe(false)
})

when('calls that find their work done succeed, and say who did it', async () => {
  const trail: ReasonTrail = [['gnt:client', 'test', 1]]
  await calls.instance_start(node, instance, false, trail)
  const pids = qemuProcessesBelow(root)
  await calls.instance_start(node, instance, false, trail)
  expect(qemuProcessesBelow(root)).toEqual(pids)
  const noted: unknown = JSON.parse(fs.readFileSync(`${node.paths.instanceReasonDir}/vm1.test`, 'utf8'))
  expect(noted).toEqual([
    ['gnt:client', 'test', 1],
    ['gnt:daemon:noded:start', '', expect.any(Number)],
  ])
  await shutdown(0)
  await shutdown(0)
  expect(await info()).toEqual({})
})

when('a guest that ignores its power button is forced off when the time is over', async () => {
  const console = await boot()
  // The boot sector goes on in memory, so a guest that does not answer is one that is halted.
  await withQmp(socket(node, 'qmp'), node.clock, (qmp) =>
    qmp.run('human-monitor-command', { 'command-line': 'o /2 0x602 0' }),
  )
  const started = node.clock.monotonic_ms()
  await shutdown(0.5)
  expect(node.clock.monotonic_ms() - started).toBeGreaterThan(400)
  expect(console.text).not.toContain('POWEROFF')
  expect(await info()).toEqual({})
})

when('a soft reboot keeps the process, a hard one makes a new one; the guest starts over in both', async () => {
  const console = await boot()
  await console.expect(/T0002/)
  const before = qemuProcessesBelow(root)
  await calls.instance_reboot(node, instance, 'soft', 10, NO_REASON)
  await console.expect(/READY/)
  await console.expect(/T0001/)
  expect(qemuProcessesBelow(root)).toEqual(before)
  await calls.instance_reboot(node, instance, 'hard', 10, NO_REASON)
  const after = qemuProcessesBelow(root)
  expect(after).toHaveLength(1)
  expect(after).not.toEqual(before)
  await shutdown(0)
  await expect(calls.instance_reboot(node, instance, 'soft', 10, NO_REASON)).rejects.toThrow(
    "Cannot reboot instance 'vm1.test' that is not running",
  )
})

when('a live migration moves the guest to another node, where it goes on counting', async () => {
  const other = nodeContext('node2.test')
  const console = await boot()
  const last = seconds(await console.expect(/T(\d{4})/))
  await migrate(node, other)
  const there = await SerialConsole.open(socket(other, 'serial'))
  const next = seconds(await there.expect(/T(\d{4})/))
  expect(next).toBeGreaterThan(last)
  expect(next).toBeLessThan(last + 10)
  there.type('\r')
  await there.expect(/READY/)
  expect(await calls.instance_list(node, ['kvm'])).toEqual([])
  expect(await calls.instance_list(other, ['kvm'])).toEqual(['vm1.test'])
  await migrate(other, node)
  const back = await SerialConsole.open(socket(node, 'serial'))
  expect(seconds(await back.expect(/T(\d{4})/))).toBeGreaterThanOrEqual(next)
  await shutdown(20)
})

async function migrate(from: NodeContext, to: NodeContext): Promise<void> {
  await calls.instance_migratable(from, instance)
  const text = await migration.migration_info(from, instance)
  await migration.accept_instance(to, await assembled(to), text, '127.0.0.1')
  await migration.instance_migrate(from, 'cluster', instance, '127.0.0.1', true)
  const end = await eventually(async () => {
    const status = await migration.instance_get_migration_status(from, instance)
    return status.status === 'active' ? undefined : status
  })
  expect(end).toMatchObject({ status: 'completed', transferred_ram: expect.any(Number), total_ram: expect.any(Number) })
  await migration.instance_finalize_migration_dst(to, instance, text, true)
  await migration.instance_finalize_migration_src(from, instance, true, true)
}

/** What the job's `blockdev_assemble` on the target does: the disk's link is there before QEMU opens it. */
async function assembled(where: NodeContext): Promise<InstanceDict> {
  const link = where.paths.local('/var/run/ganeti/instance-disks/vm1.test:0')
  fs.mkdirSync(path.dirname(link), { recursive: true })
  fs.rmSync(link, { force: true })
  fs.symlinkSync(path.join(root, 'shared/vm1.test/disk0'), link)
  return instance
}

when('a migration that is given up while it runs leaves the guest counting where it was', async () => {
  const other = nodeContext('node2.test')
  // Noise in the guest's memory, which cannot be sent within seconds at 1 MiB a second.
  const noise = path.join(root, 'noise')
  fs.writeFileSync(noise, randomBytes(20 << 20))
  const kvm_extra = `-device loader,file=${noise},addr=0x1000000,force-raw=on`
  const beparams = { ...instance.beparams, minmem: 64, maxmem: 64 }
  instance = await tinyInstance({ migration_bandwidth: 1, kvm_extra }, { beparams })
  const console = await boot()
  const text = await migration.migration_info(node, instance)
  await migration.accept_instance(other, await assembled(other), text, '127.0.0.1')
  await migration.instance_migrate(node, 'cluster', instance, '127.0.0.1', true)
  const progress = await eventually(async () => {
    const status = await migration.instance_get_migration_status(node, instance)
    return (status.transferred_ram ?? 0) > 0 ? status : undefined
  })
  expect(progress.status).toBe('active')
  expect(progress.transferred_ram).toBeLessThan(progress.total_ram ?? 0)
  await migration.instance_finalize_migration_src(node, instance, false, true)
  expect((await migration.instance_get_migration_status(node, instance)).status).toBe('cancelled')
  await migration.instance_finalize_migration_dst(other, instance, text, false)
  expect(await calls.instance_list(other, ['kvm'])).toEqual([])
  console.text = ''
  const next = seconds(await console.expect(/T(\d{4})/))
  expect(seconds(await console.expect(/T(\d{4})/))).toBe(next + 1)
  await shutdown(20)
})

when('a target whose port is taken says so, and leaves nothing behind', async () => {
  const other = nodeContext('node2.test')
  await boot()
  const text = await migration.migration_info(node, instance)
  const port = Number(instance.hvparams['migration_port'])
  const taken = spawn(process.execPath, [
    '-e',
    `require('net').createServer().listen(${port}, '127.0.0.1', () => console.log('up'))`,
  ])
  await new Promise((resolve) => taken.stdout.once('data', resolve))
  await expect(migration.accept_instance(other, await assembled(other), text, '127.0.0.1')).rejects.toThrow(
    /Failed to accept instance: QEMU did not start: .*Address already in use/s,
  )
  taken.kill()
  expect(await calls.instance_list(other, ['kvm'])).toEqual([])
  await shutdown(20)
})

when('the end of a killed QEMU is noticed, and the instance starts again', async () => {
  await boot()
  for (const pid of qemuProcessesBelow(root)) process.kill(pid, 'SIGKILL')
  await eventually(async () => (Object.keys(await info()).length === 0 ? true : undefined))
  expect(await calls.instance_list(node, ['kvm'])).toEqual([])
  expect(await calls.all_instances_info(node, ['kvm'])).toEqual({})
  await boot()
  await shutdown(20)
})

when('a QEMU that hangs is still told of, and is ended by force when asking is of no use', async () => {
  await boot()
  for (const pid of qemuProcessesBelow(root)) process.kill(pid, 'SIGSTOP')
  expect(await info()).toMatchObject({ state: 0, memory: expect.any(Number) })
  await calls.instance_shutdown(node, instance, 1, NO_REASON)
  expect(qemuProcessesBelow(root)).toEqual([])
  expect(await info()).toEqual({})
})

when('a QEMU whose PID file was lost is found again', async () => {
  await boot()
  fs.rmSync(node.paths.local('/var/run/ganeti/kvm-hypervisor/pid/vm1.test'))
  expect(await calls.instance_list(node, ['kvm'])).toEqual(['vm1.test'])
  await shutdown(20)
  expect(await calls.instance_list(node, ['kvm'])).toEqual([])
})

when('a start that fails leaves no process, no link and no runtime data', async () => {
  instance = { ...instance, hvparams: { ...instance.hvparams, kvm_extra: '-device no-such-device' } }
  await expect(calls.instance_start(node, instance, false, NO_REASON)).rejects.toThrow(
    /^Hypervisor error: QEMU did not start: .*no-such-device/s,
  )
  expect(qemuProcessesBelow(root)).toEqual([])
  expect(await calls.instance_list(node, ['kvm'])).toEqual([])
  const left = ['ctrl/vm1.test.qmp', 'conf/vm1.test.runtime', 'pid/vm1.test']
  for (const file of left) expect(fs.existsSync(node.paths.local(`/var/run/ganeti/kvm-hypervisor/${file}`))).toBe(false)
  expect(fs.existsSync(node.paths.local('/var/run/ganeti/instance-disks/vm1.test:0'))).toBe(false)
})

when('a guest that its user shuts down is reported so until it is started or stopped', async () => {
  instance = await tinyInstance({ user_shutdown: true })
  const console = await boot()
  console.type('q')
  await console.expect(/POWEROFF/)
  await eventually(async () =>
    'state' in (await info()) ? ((await info()) as { state: number }).state === 1 || undefined : undefined,
  )
  expect(await info()).toEqual({ memory: 0, vcpus: 0, state: 1, time: 0 })
  expect(await calls.instance_list(node, ['kvm'])).toEqual(['vm1.test'])
  expect(qemuProcessesBelow(root)).toEqual([])
  await boot()
  await shutdown(20)
  expect(await info()).toEqual({})
})

when('a guest whose user may not shut it down is just gone', async () => {
  const console = await boot()
  console.type('q')
  await eventually(async () => ((await calls.instance_list(node, ['kvm'])).length === 0 ? true : undefined))
  expect(await info()).toEqual({})
})

when('NICs get user-mode networking where their bridge is missing, and the runtime files say so', async () => {
  const nics: NicDict[] = [
    {
      uuid: '003fc157-66a8-4e6d-8b7e-ec4f69751396',
      mac: 'aa:00:00:bf:2f:16',
      nicparams: { mode: 'bridged', link: 'no-such-br0' },
    },
  ]
  instance = { ...instance, nics }
  await boot()
  expect(fs.readFileSync(node.paths.local('/var/run/ganeti/kvm-hypervisor/nic/vm1.test/0'), 'utf8')).toBe('user')
  expect(await info()).toMatchObject({ state: 0, user_nics: [0] })
  await shutdown(20)
})

when('less than the most memory, pinning and a VNC password are set before the guest runs', async () => {
  fs.writeFileSync(path.join(root, 'password'), 'secret\n')
  const params = { cpu_mask: '0', vnc_bind_address: '0.0.0.0', vnc_password_file: path.join(root, 'password') }
  const beparams = { ...instance.beparams, minmem: 16, maxmem: 32 }
  const network_port = await freePort('127.0.0.1')
  instance = await tinyInstance(params, { beparams, network_port })
  await boot()
  const [pid] = qemuProcessesBelow(root)
  expect(fs.readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/Cpus_allowed_list:\s+0\n/)
  const vnc: unknown = await withQmp(socket(node, 'qmp'), node.clock, (qmp) => qmp.run('query-vnc'))
  expect(vnc).toMatchObject({ enabled: true, host: '127.0.0.1', service: String(network_port) })
  await shutdown(20)
})

when('the console command joins a terminal to the guest until ctrl-] is typed', async () => {
  await calls.instance_start(node, instance, true, NO_REASON)
  const request = { instance, node: { name: 'node1.test' }, group: {}, hvParams: instance.hvparams, beParams: {} }
  const consoles = await calls.instance_console_info(node, { 'vm1.test': request })
  expect(consoles['vm1.test']).toMatchObject({ kind: 'ssh', host: 'node1.test', port: 22, user: 'root' })
  const [, , serial = '', qmp = ''] = consoles['vm1.test']?.command ?? []
  const input = new PassThrough()
  const output = new PassThrough()
  let text = ''
  output.on('data', (data: Buffer) => (text += data.toString('latin1')))
  const done = bridge(serial, { input, output }, () => void withQmp(qmp, node.clock, (monitor) => monitor.run('cont')))
  await eventually(() => /READY gantry-tiny/.exec(text) ?? undefined)
  input.write('typed')
  await eventually(() => /typed/.exec(text) ?? undefined)
  input.write(CONTROL_BRACKET)
  expect(await done).toBe(0)
  await shutdown(20)
  await expect(bridge(serial, { input, output })).rejects.toThrow(/ENOENT/)
})
