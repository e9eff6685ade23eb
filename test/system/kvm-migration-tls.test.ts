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
import { qemuTest } from '../support/needs'
import { NO_REASON, secondsOf, socketOf, TinyNodes } from '../support/tiny-nodes'

let nodes: TinyNodes
let source: NodeContext
let target: NodeContext
let instance: InstanceDict
let info: string
const stranger = new net.Socket().on('error', () => undefined)

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
  stranger.destroy()
  nodes.remove()
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

qemuTest('a guest moves with TLS, though a stranger was faster, and no key stays behind', async () => {
  const console = await accept()
  const last = secondsOf(await console.expect(/T(\d{4})/))
  const port = Number(instance.hvparams['migration_port'])
  await new Promise<void>((resolve) =>
    stranger.connect(port, '127.0.0.1', () => stranger.write('junk'.repeat(100), () => resolve())),
  )
  await migration.gantry_migration_send(source, instance, '127.0.0.1', true)
  expect(await end()).toBe('completed')
  await migration.instance_finalize_migration_dst(target, instance, info, true)
  await migration.instance_finalize_migration_src(source, instance, true, true)
  const there = await SerialConsole.open(socketOf(target, 'serial'))
  expect(secondsOf(await there.expect(/T(\d{4})/))).toBeGreaterThanOrEqual(last)
  for (const { paths } of [source, target])
    expect(fs.existsSync(paths.local('/var/run/ganeti/kvm-hypervisor/tls/vm1.test'))).toBe(false)
  const told = await withQmp(socketOf(target, 'qmp'), target.clock, (qmp) => qmp.object('query-migrate-parameters'))
  expect(told['tls-creds']).toBe('')
  await calls.instance_shutdown(target, instance, 0, NO_REASON)
})

qemuTest('a source without the certificate of the cluster is refused, and its guest stays', async () => {
  await accept()
  fs.writeFileSync(source.paths.serverCert, await createCertificate())
  await migration.gantry_migration_send(source, instance, '127.0.0.1', true)
  expect(await end()).toBe('failed')
  expect(await withQmp(socketOf(target, 'qmp'), target.clock, (qmp) => qmp.status())).toBe('inmigrate')
  await migration.instance_finalize_migration_src(source, instance, false, true)
  await migration.instance_finalize_migration_dst(target, instance, info, false)
  expect(await calls.instance_list(target, ['kvm'])).toEqual([])
  await calls.instance_shutdown(source, instance, 0, NO_REASON)
})
