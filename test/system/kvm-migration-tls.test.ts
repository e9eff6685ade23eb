// Migrations with TLS between real QEMU processes: only who has the cluster's certificate is heard.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as path from 'node:path'
import { createCertificate } from '../../src/lib/tls'
import type { NodeContext } from '../../src/node/context'
import { instanceHandlers as calls } from '../../src/node/handlers/instance'
import { instanceMigrationHandlers as migration } from '../../src/node/handlers/instance-migration'
import { withQmp } from '../../src/node/hypervisor/kvm/qmp'
import type { InstanceDict } from '../../src/rpc/node/dicts'
import { eventually, SerialConsole } from '../support/hypervisor'
import { qemuPresent, qemuTest, testWith } from '../support/needs'
import { NO_REASON, secondsOf, socketOf, TinyNodes } from '../support/tiny-nodes'

let nodes: TinyNodes
let source: NodeContext
let target: NodeContext
let instance: InstanceDict
let info: string
const strangers: net.Socket[] = []

beforeEach(async () => {
  nodes = new TinyNodes()
  source = nodes.first
  target = nodes.node('node2.test')
  instance = await nodes.instance({})
  const pem = await createCertificate()
  for (const { paths } of [source, target]) {
    fs.mkdirSync(path.dirname(paths.serverCert), { recursive: true })
    fs.writeFileSync(paths.serverCert, pem)
  }
})
afterEach(() => {
  for (const stranger of strangers.splice(0)) stranger.destroy()
  nodes.remove()
  expect(relaysOf(nodes.root)).toEqual([])
})

/** They connect before the source, to say nothing, or something that is no TLS, or only the beginning of TLS. */
async function strange(port: number): Promise<void> {
  for (const words of ['', '', 'junk'.repeat(100), '\x16\x03\x01']) {
    const stranger = net.connect(port, '127.0.0.1').on('error', () => undefined)
    strangers.push(stranger)
    await new Promise<void>((resolve) => stranger.once('connect', () => stranger.write(words, () => resolve())))
  }
}

const filesIn = (folder: string) => (fs.existsSync(folder) ? fs.readdirSync(folder) : [])

const relaysOf = (root: string): string[] =>
  fs.readdirSync('/proc').filter((pid) => {
    try {
      const command = /^\d+$/.test(pid) ? fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8') : ''
      return command.includes('migration-relay') && command.includes(root)
    } catch {
      return false
    }
  })

async function accept(): Promise<SerialConsole> {
  const console = await nodes.boot(instance)
  info = await migration.migration_info(source, instance)
  nodes.assemble(target)
  for (const node of [source, target]) expect(await migration.gantry_migration_tls(node, instance)).toBe(true)
  await migration.gantry_migration_accept(target, instance, info, '127.0.0.1')
  return console
}

const end = () =>
  eventually(async () => {
    const { status } = await migration.instance_get_migration_status(source, instance)
    return status === 'active' ? undefined : status
  }, 30)

qemuTest('a guest moves with TLS, though strangers were faster, and nothing stays behind', async () => {
  const console = await accept()
  const last = secondsOf(await console.expect(/T(\d{4})/))
  await strange(Number(instance.hvparams['migration_port']))
  await migration.gantry_migration_send(source, instance, '127.0.0.1', true)
  expect(await end()).toBe('completed')
  await migration.instance_finalize_migration_dst(target, instance, info, true)
  await migration.instance_finalize_migration_src(source, instance, true, true)
  const there = await SerialConsole.open(socketOf(target, 'serial'))
  expect(secondsOf(await there.expect(/T(\d{4})/))).toBeGreaterThanOrEqual(last)
  for (const { paths } of [source, target])
    for (const folder of ['migration', 'relay', 'chroot'])
      expect(filesIn(paths.local(`/var/run/ganeti/kvm-hypervisor/${folder}`))).toEqual([])
  expect(relaysOf(nodes.root)).toEqual([])
  await calls.instance_shutdown(target, instance, 0, NO_REASON)
})

const asRoot = testWith(qemuPresent && process.getuid?.() === 0, 'qemu-system-x86 (as root)')

for (const [how, params] of [
  ['another user', { security_model: 'user', security_domain: 'nobody' }],
  ['a user of the pool', { security_model: 'pool' }],
  ['a folder of its own as its root', { use_chroot: true }],
  ['another user and such a folder', { use_chroot: true, security_model: 'user', security_domain: 'nobody' }],
] as const)
  asRoot(`a guest moves with TLS whose QEMU has ${how}, and sees nothing of the certificate`, async () => {
    // Whoever QEMU is may enter the folder, as on a node.
    fs.chmodSync(nodes.root, 0o711)
    for (const [at, { paths }] of [source, target].entries()) {
      fs.mkdirSync(path.dirname(paths.ssconf('uid_pool')), { recursive: true })
      fs.writeFileSync(paths.ssconf('uid_pool'), `${61_240 + at}\n`)
    }
    instance = { ...instance, hvparams: { ...instance.hvparams, ...params } }
    await accept()
    await migration.gantry_migration_send(source, instance, '127.0.0.1', true)
    expect(await end()).toBe('completed')
    const reported = await withQmp(socketOf(target, 'qmp'), target.clock, (qmp) =>
      qmp.run('qom-list', { path: '/objects' }),
    )
    expect(JSON.stringify(reported)).not.toContain('tls-creds')
    await migration.instance_finalize_migration_dst(target, instance, info, true)
    await migration.instance_finalize_migration_src(source, instance, true, true)
    const there = await SerialConsole.open(socketOf(target, 'serial'))
    await there.expect(/T(\d{4})/)
    await calls.instance_shutdown(target, instance, 0, NO_REASON)
  })

qemuTest('a source without the certificate of the cluster is refused, and its guest stays', async () => {
  await accept()
  fs.writeFileSync(source.paths.serverCert, await createCertificate())
  await expect(migration.gantry_migration_send(source, instance, '127.0.0.1', true)).rejects.toThrow(
    /^Failed to migrate instance: The other node cannot be reached with TLS: .*certificate/,
  )
  expect(await withQmp(socketOf(target, 'qmp'), target.clock, (qmp) => qmp.status())).toBe('inmigrate')
  await migration.instance_finalize_migration_src(source, instance, false, true)
  await migration.instance_finalize_migration_dst(target, instance, info, false)
  expect(await calls.instance_list(target, ['kvm'])).toEqual([])
  await calls.instance_shutdown(source, instance, 0, NO_REASON)
})
