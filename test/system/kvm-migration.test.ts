// Live migrations of the tiny guest between real QEMU processes, those that fail among them: the guest always goes on somewhere.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { NodeContext } from '../../src/node/context'
import { instanceHandlers as calls } from '../../src/node/handlers/instance'
import { instanceMigrationHandlers as migration } from '../../src/node/handlers/instance-migration'
import { decodeRuntime } from '../../src/node/hypervisor/kvm/runtime'
import { withQmp } from '../../src/node/hypervisor/kvm/qmp'
import type { InstanceDict } from '../../src/rpc/node/dicts'
import { filesOfIso } from '../support/iso-files'
import { qemuTest } from '../support/needs'
import { NO_REASON, TinyNodes, secondsOf as seconds, socketOf as socket } from '../support/tiny-nodes'
import { SerialConsole, eventually, qemuProcessesBelow } from '../support/hypervisor'

let nodes: TinyNodes
let root: string
let node: NodeContext
let instance: InstanceDict

beforeEach(async () => {
  nodes = new TinyNodes()
  ;({ root, first: node } = nodes)
  instance = await nodes.instance({})
})
afterEach(() => nodes.remove())

const boot = () => nodes.boot(instance)
const shutdown = (timeout_s: number, where = node) => calls.instance_shutdown(where, instance, timeout_s, NO_REASON)

/** The instance, once its disk is there. */
function assembled(where: NodeContext): InstanceDict {
  nodes.assemble(where)
  return instance
}

qemuTest('a live migration moves the guest to another node, where it goes on counting', async () => {
  const other = nodes.node('node2.test')
  const console = await boot()
  const last = seconds(await console.expect(/T(\d{4})/))
  await migrate(node, other)
  const there = await SerialConsole.open(socket(other, 'serial'))
  const next = seconds(await there.expect(/T(\d{4})/))
  expect(next).toBeGreaterThan(last)
  there.type('\r')
  await there.expect(/READY/)
  expect(await calls.instance_list(node, ['kvm'])).toEqual([])
  expect(await calls.instance_list(other, ['kvm'])).toEqual(['vm1.test'])
  await migrate(other, node)
  const back = await SerialConsole.open(socket(node, 'serial'))
  expect(seconds(await back.expect(/T(\d{4})/))).toBeGreaterThanOrEqual(next)
  await shutdown(20)
})

qemuTest("the seed for cloud-init goes with the guest, is nobody else's to read, and ends with it", async () => {
  const other = nodes.node('node2.test')
  instance = { ...instance, osparams: { cloud_init: 'yes' } }
  const console = await boot()
  const seed = (where: NodeContext) => where.paths.local('/var/run/ganeti/kvm-hypervisor/seed/vm1.test.iso')
  const made = fs.readFileSync(seed(node))
  expect(fs.statSync(seed(node)).mode & 0o777).toBe(0o600)
  expect(filesOfIso(made).files['meta-data']).toContain('"vm1.test"')
  await console.expect(/T(\d{4})/)
  await migrate(node, other)
  expect(fs.existsSync(seed(node))).toBe(false)
  expect(fs.readFileSync(seed(other))).toEqual(made)
  expect(fs.statSync(seed(other)).mode & 0o777).toBe(0o600)
  const runtime = fs.readFileSync(other.paths.local('/var/run/ganeti/kvm-hypervisor/conf/vm1.test.runtime'), 'utf8')
  expect(decodeRuntime(runtime).seed).toBeUndefined()
  const there = await SerialConsole.open(socket(other, 'serial'))
  await there.expect(/T(\d{4})/)
  await shutdown(20, other)
  expect(fs.existsSync(seed(other))).toBe(false)
})

async function migrate(from: NodeContext, to: NodeContext): Promise<void> {
  await calls.instance_migratable(from, instance)
  const text = await migration.migration_info(from, instance)
  await migration.accept_instance(to, assembled(to), text, '127.0.0.1')
  await migration.instance_migrate(from, 'cluster', instance, '127.0.0.1', true)
  const end = await eventually(async () => {
    const status = await migration.instance_get_migration_status(from, instance)
    return status.status === 'active' ? undefined : status
  })
  expect(end).toMatchObject({ status: 'completed', transferred_ram: expect.any(Number), total_ram: expect.any(Number) })
  await migration.instance_finalize_migration_dst(to, instance, text, true)
  await migration.instance_finalize_migration_src(from, instance, true, true)
}

qemuTest('a migration that is given up while it runs leaves the guest counting where it was', async () => {
  const other = nodes.node('node2.test')
  // Noise in the guest's memory, which cannot be sent within seconds at 1 MiB a second.
  const noise = path.join(root, 'noise')
  fs.writeFileSync(noise, randomBytes(20 << 20))
  const kvm_extra = `-device loader,file=${noise},addr=0x1000000,force-raw=on`
  const beparams = { ...instance.beparams, minmem: 64, maxmem: 64 }
  const how = { migration_bandwidth: 1, migration_downtime: 77, migration_caps: 'auto-converge', cpu_mask: '0' }
  instance = await nodes.instance({ ...how, kvm_extra }, { beparams })
  const console = await boot()
  const text = await migration.migration_info(node, instance)
  await migration.accept_instance(other, assembled(other), text, '127.0.0.1')
  await migration.instance_migrate(node, 'cluster', instance, '127.0.0.1', true)
  const progress = await eventually(async () => {
    const status = await migration.instance_get_migration_status(node, instance)
    return (status.transferred_ram ?? 0) > 0 ? status : undefined
  })
  expect(progress.status).toBe('active')
  const reported = await withQmp(socket(node, 'qmp'), node.clock, async (qmp) => ({
    ...(await qmp.object('query-migrate-parameters')),
    caps: await qmp.run('query-migrate-capabilities'),
  }))
  expect(reported).toMatchObject({ 'max-bandwidth': 1 << 20, 'downtime-limit': 77 })
  expect(reported.caps).toContainEqual({ capability: 'auto-converge', state: true })
  for (const pid of qemuProcessesBelow(root))
    expect(fs.readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/Cpus_allowed_list:\s+0\n/)
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

qemuTest('a target whose port is taken says so, and leaves nothing behind', async () => {
  const other = nodes.node('node2.test')
  await boot()
  const text = await migration.migration_info(node, instance)
  const port = Number(instance.hvparams['migration_port'])
  const taken = spawn(process.execPath, [
    '-e',
    `require('net').createServer().listen(${port}, '127.0.0.1', () => console.log('up'))`,
  ])
  await new Promise((resolve) => taken.stdout.once('data', resolve))
  await expect(migration.accept_instance(other, assembled(other), text, '127.0.0.1')).rejects.toThrow(
    /Failed to accept instance: QEMU did not start: .*Address already in use/s,
  )
  taken.kill()
  expect(await calls.instance_list(other, ['kvm'])).toEqual([])
  await shutdown(20)
})

type Parts = [command: string[], nics: unknown[], params: Record<string, unknown>, disks: unknown[], more?: unknown]

/** The information of a migration with its command changed. */
function changed(text: string, change: (command: string[]) => string[]): string {
  const [command, ...rest] = JSON.parse(text) as Parts
  return JSON.stringify([change(command), ...rest])
}

/** Without one option and its value. */
const without = (option: string, value: string) => (command: string[]) =>
  command.filter((word, index) => !(word === option && command[index + 1] === value) && !(word === value && command[index - 1] === option)) // prettier-ignore

qemuTest('the information of a migration names the machine that the guest runs on, and no other is taken', async () => {
  const other = nodes.node('node2.test')
  instance = await nodes.instance({ machine_version: 'pc' })
  await boot()
  const text = await migration.migration_info(node, instance)
  const [command] = JSON.parse(text) as Parts
  expect(command[command.indexOf('-machine') + 1]).toMatch(/^pc-i440fx-\d/)
  expect(command[command.indexOf('-accel') + 1]).toMatch(/^(kvm|tcg)/)
  const wrong: [RegExp, (words: string[]) => string[]][] = [
    [/its machine type pc-i440fx-99.0 is unknown to this node's QEMU \d/, replaced('-machine', 'pc-i440fx-99.0')],
    [/^Failed to accept instance: /, replaced('-accel', 'no-such-accelerator')],
  ]
  for (const [reason, change] of wrong)
    await expect(
      migration.accept_instance(other, assembled(other), changed(text, change), '127.0.0.1'),
    ).rejects.toThrow(reason)
  expect(await calls.instance_list(other, ['kvm'])).toEqual([])
  await shutdown(20)
})

const replaced = (option: string, value: string) => (command: string[]) =>
  command.map((word, index) => (command[index - 1] === option ? value : word))

// A device of the source that the target lacks is found out when all memory is there, with the last of what is sent.
const LACKING = without('-device', 'virtio-rng-pci')

qemuTest('a target that cannot load what it received is told of, and the guest goes on where it was', async () => {
  instance = await nodes.instance({ kvm_extra: '-device virtio-rng-pci' })
  const console = await boot()
  const { status, words } = await failToArrive(() =>
    migration.instance_migrate(node, 'cluster', instance, '127.0.0.1', true),
  )
  expect(status).toBe('failed')
  expect(words).toMatch(/Unknown savevm section.*virtio-rng/)
  await goesOn(console)
})

qemuTest('a source that believes all has arrived runs on when it is told that it has not', async () => {
  instance = await nodes.instance({ kvm_extra: '-device virtio-rng-pci' })
  const console = await boot()
  // As Ganeti starts it.
  const uri = `tcp:127.0.0.1:${String(instance.hvparams['migration_port'])}`
  await failToArrive(() => withQmp(socket(node, 'qmp'), node.clock, (qmp) => qmp.run('migrate', { uri })))
  await goesOn(console)
})

/** Migrates a guest that the target cannot load, until both nodes know that. Answers what they say. */
async function failToArrive(start: () => Promise<unknown>) {
  const other = nodes.node('node2.test')
  const text = changed(await migration.migration_info(node, instance), LACKING)
  await migration.accept_instance(other, assembled(other), text, '127.0.0.1')
  await start()
  const status = await eventually(async () => {
    const { status } = await migration.instance_get_migration_status(node, instance)
    return status === 'active' ? undefined : status
  })
  await eventually(async () => ((await calls.instance_list(other, ['kvm'])).length === 0 ? true : undefined))
  expect(await calls.instance_info(other, instance.name, 'kvm')).toEqual({})
  const words = await migration.instance_finalize_migration_dst(other, instance, text, false)
  await migration.instance_finalize_migration_src(node, instance, false, true)
  return { status, words }
}

async function goesOn(console: SerialConsole): Promise<void> {
  console.text = ''
  const next = seconds(await console.expect(/T(\d{4})/))
  expect(seconds(await console.expect(/T(\d{4})/))).toBe(next + 1)
  expect(await calls.instance_list(node, ['kvm'])).toEqual(['vm1.test'])
  await shutdown(20)
}
