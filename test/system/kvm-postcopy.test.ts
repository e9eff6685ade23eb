// Post-copy migrations between real QEMU processes, under a guest that writes all its memory and checks what it wrote. The network
// between the two is a proxy that the test cuts.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as path from 'node:path'
import type { NodeContext } from '../../src/node/context'
import { createCertificate } from '../../src/lib/tls'
import { instanceHandlers as calls } from '../../src/node/handlers/instance'
import { instanceMigrationHandlers as migration } from '../../src/node/handlers/instance-migration'
import { withQmp } from '../../src/node/hypervisor/kvm/qmp'
import type { InstanceDict, MigrationSideStatus } from '../../src/rpc/node/dicts'
import { eventually, qemuProcessesBelow, SerialConsole } from '../support/hypervisor'
import { testWith, qemuPresent } from '../support/needs'
import { NO_REASON, socketOf, TinyNodes } from '../support/tiny-nodes'

/**
 * A boot sector: in each pass it finds in every page of 8 MiB the number of the pass before, writes the next one, and prints a
 * dot; an E for each page with another number.
 */
const WRITER = Buffer.from(
  '+jHAjtgPARaIfA8gwAwBDyLA6hd8CABmuBAAjtiOwI7Q5JIMAuaSMdtmuvgDvwAAgACJH4HHABAAAIH/AAAAAXLwvwAAgAA5H3QDsEXuidhAiQeBxwAQAACB/wAAAAFy5kOwLu65QEIPAOL+69RmkAAAAAAAAAAA//8AAACazwD//wAAAJLPABcAcHwAAA==',
  'base64',
)
const MEMORY_MIB = 32
const CABLE = '127.0.73.9'

/** Without privileges QEMU gets no faults of its memory from the kernel, unless the machine allows that. */
const postcopyTest = testWith(
  qemuPresent && faultsAllowed(),
  'qemu-system-x86 (as root, or with vm.unprivileged_userfaultfd=1)',
)

function faultsAllowed(): boolean {
  return process.getuid?.() === 0 || fs.readFileSync('/proc/sys/vm/unprivileged_userfaultfd', 'utf8').trim() === '1'
}

let nodes: TinyNodes
let source: NodeContext
let target: NodeContext
let instance: InstanceDict
let info: string
let cable: Cable | undefined
let isSecure = false
let pem: string | undefined

beforeEach(async () => {
  isSecure = false
  nodes = new TinyNodes()
  source = nodes.first
  target = nodes.node('node2.test')
  const beparams = { minmem: MEMORY_MIB, maxmem: MEMORY_MIB, vcpus: 1 }
  const params = { migration_caps: 'postcopy-ram', migration_bandwidth: 8 }
  instance = await nodes.instance(params)
  instance = { ...instance, beparams: { ...instance.beparams, ...beparams } }
  const sector = Buffer.alloc(512)
  WRITER.copy(sector)
  sector.writeUInt16LE(0xaa55, 510)
  const disk = path.join(nodes.root, 'shared', 'vm1.test', 'disk0')
  fs.writeFileSync(disk, sector, { flag: 'r+' })
  pem ??= await createCertificate()
  for (const { paths } of [source, target]) {
    fs.mkdirSync(path.dirname(paths.serverCert), { recursive: true })
    fs.writeFileSync(paths.serverCert, pem)
  }
})
afterEach(async () => {
  await cable?.cut()
  cable = undefined
  nodes.remove()
})

/** What connects the two nodes. As long as it is cut, it refuses connections. */
class Cable {
  private readonly sockets = new Set<net.Socket>()
  private readonly server = net.createServer((near) => {
    const far = net.connect(this.port, '127.0.0.1')
    near.pipe(far).pipe(near)
    for (const socket of [near, far]) {
      this.sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => [near, far].forEach((one) => one.destroy()))
    }
  })

  constructor(private readonly port: number) {}

  plug(): Promise<void> {
    return new Promise((resolve) => this.server.listen(this.port, CABLE, resolve))
  }

  cut(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    this.sockets.clear()
    return new Promise((resolve) => this.server.close(() => resolve()))
  }
}

const status = (): Promise<MigrationSideStatus> => migration.gantry_migration_status(source, instance)
const statusBecomes = (desired: string) =>
  eventually(
    async () => ((await status()).status === desired ? true : undefined),
    undefined,
    () => `status ${desired}`,
  )
const machine = (where: NodeContext) => withQmp(socketOf(where, 'qmp'), where.clock, (qmp) => qmp.status())
const limit = (mib: number) =>
  withQmp(socketOf(source, 'qmp'), source.clock, (qmp) =>
    qmp.run('migrate-set-parameters', { 'max-postcopy-bandwidth': mib << 20 }),
  )

/** Starts the guest and its migration, and waits until it runs on the target with little of its memory. */
async function switchOver(): Promise<void> {
  cable = new Cable(Number(instance.hvparams['migration_port']))
  await cable.plug()
  await calls.instance_start(source, instance, false, NO_REASON)
  await (await SerialConsole.open(socketOf(source, 'serial'))).expect(/\.\.\./)
  info = await migration.migration_info(source, instance)
  nodes.assemble(target)
  if (isSecure) {
    for (const node of [source, target]) expect(await migration.gantry_migration_tls(node, instance)).toBe(true)
    await migration.gantry_migration_accept(target, instance, info, '127.0.0.1')
  } else await migration.accept_instance(target, instance, info, '127.0.0.1')
  await limit(1)
  if (isSecure) await migration.gantry_migration_send(source, instance, CABLE, true)
  else await migration.instance_migrate(source, 'cluster', instance, CABLE, true)
  await statusBecomes('postcopy-active')
  // Until then it has not run there.
  await eventually(async () => ((await machine(target)) === 'running' ? true : undefined))
}

async function arrives(): Promise<void> {
  await limit(0)
  await statusBecomes('completed')
  await migration.instance_finalize_migration_src(source, instance, true, true)
  await migration.instance_finalize_migration_dst(target, instance, info, true)
  expect(await calls.instance_list(source, ['kvm'])).toEqual([])
  const console = await SerialConsole.open(socketOf(target, 'serial'))
  expect((await console.expect(/[.E]{8}/))[0]).toBe('........')
  await calls.instance_shutdown(target, instance, 0, NO_REASON)
}

/** Nobody can make an old memory run, or end a side that is needed, whatever he believes. */
async function refusesHarm(): Promise<void> {
  const { instance_finalize_migration_src: src, instance_finalize_migration_dst: dst } = migration
  await expect(src(source, instance, true, true)).rejects.toThrow(/not ended here, since its migration is not complete/)
  await expect(src(source, instance, false, true)).rejects.toThrow(/does not go on here/)
  await expect(dst(target, instance, info, false)).rejects.toThrow(/its guest has arrived/)
  await expect(dst(target, instance, info, true)).rejects.toThrow(/still waits for its memory/)
  await expect(calls.instance_shutdown(source, instance, 60, NO_REASON)).rejects.toThrow(/does not go on here/)
  await expect(calls.instance_reboot(source, instance, 'soft', 0, NO_REASON)).rejects.toThrow(/does not go on here/)
  await expect(calls.instance_start(source, instance, false, NO_REASON)).rejects.toThrow(/does not go on here/)
  await expect(calls.instance_start(target, instance, false, NO_REASON)).rejects.toThrow(
    /waits for a part of its memory/,
  )
  expect(await machine(source)).toBe('finish-migrate')
  expect(await calls.instance_info(source, instance.name, 'kvm')).toMatchObject({ machine_state: 'finish-migrate' })
}

describe.each([
  ['in clear', false],
  ['with TLS', true],
])('%s', (_how, secure) => {
  beforeEach(() => void (isSecure = secure))

  postcopyTest(
    'a guest runs on the target while its memory follows, and both sides are kept until it has all',
    async () => {
      await switchOver()
      expect((await status()).switched).toBe(true)
      await refusesHarm()
      expect((await status()).status).toBe('postcopy-active')
      await arrives()
    },
  )

  postcopyTest('a network that is cut in the middle is used again when it is back', async () => {
    await switchOver()
    await cable?.cut()
    await statusBecomes('postcopy-paused')
    await refusesHarm()
    const recover = async () => {
      await migration.gantry_migration_recover(target, instance, '127.0.0.1', 'target')
      await migration.gantry_migration_recover(source, instance, CABLE, 'source')
    }
    if (isSecure) await expect(recover()).rejects.toThrow(/cannot be reached with TLS: .*ECONNREFUSED/)
    else await recover()
    await source.clock.sleep(200)
    await statusBecomes('postcopy-paused')
    await cable?.plug()
    await recover()
    await arrives()
  })
})

postcopyTest(
  'a guest whose target dies never goes on from its old memory, but starts anew from its disks',
  async () => {
    await switchOver()
    const [there] = qemuProcessesBelow(target.paths.root)
    process.kill(Number(there), 'SIGKILL')
    await statusBecomes('postcopy-paused')
    const { instance_finalize_migration_src: src } = migration
    await expect(src(source, instance, false, true)).rejects.toThrow(/does not go on here/)
    await expect(calls.instance_start(source, instance, false, NO_REASON)).rejects.toThrow(/does not go on here/)
    expect(await calls.instance_info(target, instance.name, 'kvm')).toEqual({})
    await calls.instance_shutdown(source, instance, 0, NO_REASON)
    await calls.instance_start(source, instance, true, NO_REASON)
    const console = await SerialConsole.open(socketOf(source, 'serial'))
    await calls.instance_start(source, instance, false, NO_REASON)
    await console.expect(/\.\.\./)
    await calls.instance_shutdown(source, instance, 0, NO_REASON)
  },
)
