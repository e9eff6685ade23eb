// A node's hypervisor context in a temporary root, instances as they travel in node calls, and a reader of serial consoles.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock } from '../../src/lib/clock'
import { thisMachine } from '../../src/lib/machine'
import { silentLog } from '../../src/lib/log'
import { pathsOf } from '../../src/lib/paths'
import { systemRandom } from '../../src/lib/random'
import { withQmp } from '../../src/node/hypervisor/kvm/qmp'
import type { LinkedDisk, HypervisorContext } from '../../src/node/hypervisor/hypervisor'
import type { DiskDict, InstanceDict } from '../../src/rpc/node/dicts'

/** How long things take depends on what else the machine does. Longer means never. */
const HANG_S = 300

export const HOSTNAME = 'node1.test'
export const OS_DIRECTORY = path.resolve(__dirname, '../../os/gantry-tiny')

export const kvmParams = {
  acpi: true,
  boot_order: 'disk',
  cpu_mask: 'all',
  disk_aio: 'threads',
  disk_cache: 'default',
  disk_discard: 'ignore',
  disk_type: 'paravirtual',
  kernel_path: '',
  kvm_path: '/usr/bin/kvm',
  kvm_pci_reservations: 12,
  migration_bandwidth: 32,
  migration_downtime: 30,
  migration_mode: 'live',
  migration_port: 8102,
  nic_type: 'paravirtual',
  reboot_behavior: 'reboot',
  root_path: '/dev/vda1',
  scsi_controller_type: 'lsi',
  security_model: 'none',
  serial_console: true,
  serial_speed: 38400,
  vhost_net: true,
  virtio_net_queues: 1,
  vnet_hdr: true,
}

export const qemuSkipped =
  'skipped, no QEMU here; install it with: apt-get install -y --no-install-recommends qemu-system-x86'

/** A short root: the paths of Unix sockets below it must fit into 107 bytes. */
export function temporaryRoot(): string {
  return fs.mkdtempSync(path.join(os.tmpdir(), 'ghv-'))
}

export function contextIn(base: string, hostname = HOSTNAME, bindAddress = '127.0.0.1'): HypervisorContext {
  const root = path.join(base, hostname)
  fs.mkdirSync(root, { recursive: true })
  const paths = pathsOf(root, hostname)
  return { ...thisMachine, paths, clock: systemClock, random: systemRandom, log: silentLog, bindAddress }
}

export function instanceDict(overrides: Partial<InstanceDict> = {}): InstanceDict {
  return {
    uuid: '5f5f8c2e-0d1c-4a8e-9c5e-3a5b8a3c1d10',
    name: 'vm1.test',
    primary_node: 'e8d56ac1-915c-49f9-8bb1-36e90c83850b',
    secondary_nodes: [],
    os: 'gantry-tiny',
    hypervisor: 'kvm',
    hvparams: kvmParams,
    beparams: { minmem: 16, maxmem: 16, vcpus: 1, auto_balance: true, always_failover: false, spindle_use: 1 },
    osparams: {},
    admin_state: 'up',
    nics: [],
    disks: [],
    disks_info: [],
    disks_active: true,
    network_port: 11000,
    ...overrides,
  }
}

export function diskDict(file: string, overrides: Partial<DiskDict> = {}): DiskDict {
  return {
    uuid: '82b1a1e0-4f64-45a3-84f6-43f0dfa33643',
    dev_type: 'file',
    logical_id: ['loop', file],
    size: 1,
    mode: 'rw',
    iv_name: 'disk/0',
    params: {},
    ...overrides,
  }
}

/** A disk file with the tiny guest on it, installed by the bundled OS's own create script. */
export function tinyDisk(file: string, env: Record<string, string> = {}): DiskDict {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, Buffer.alloc(1 << 20))
  execFileSync(path.join(OS_DIRECTORY, 'create'), {
    cwd: OS_DIRECTORY,
    env: { PATH: '/usr/bin:/bin', DISK_COUNT: '1', DISK_0_PATH: file, INSTANCE_NAME: 'vm1.test', ...env },
  })
  return diskDict(file)
}

export function linked(context: HypervisorContext, instance: InstanceDict): LinkedDisk[] {
  return instance.disks_info.map((disk, index) => {
    const link = context.paths.local(`/var/run/ganeti/instance-disks/${instance.name}:${index}`)
    fs.mkdirSync(path.dirname(link), { recursive: true })
    fs.rmSync(link, { force: true })
    fs.symlinkSync(String(disk.logical_id?.[1]), link)
    return { disk, link }
  })
}

/** Reads what a guest prints. */
export class SerialConsole {
  text = ''
  private static readonly opened = new Set<SerialConsole>()

  private constructor(private readonly socket: net.Socket) {
    SerialConsole.opened.add(this)
    socket.on('data', (data) => (this.text += data.toString('latin1')))
    socket.on('error', () => undefined)
  }

  static open(file: string): Promise<SerialConsole> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(file)
      socket.once('error', reject)
      socket.once('connect', () => resolve(new SerialConsole(socket)))
    })
  }

  type(text: string): void {
    this.socket.write(text)
  }

  /** Waits for the pattern and drops what came up to its end. */
  async expect(pattern: RegExp, timeout_s = HANG_S): Promise<RegExpExecArray> {
    const match = await eventually(
      () => pattern.exec(this.text) ?? undefined,
      timeout_s,
      () => `${pattern} in ${JSON.stringify(this.text.slice(-200))}`,
    )
    this.text = this.text.slice(match.index + match[0].length)
    return match
  }

  /** Between tests: a connection that stays open would keep the test process alive. */
  static closeAll(): void {
    for (const console of this.opened) console.socket.destroy()
    this.opened.clear()
  }
}

export async function eventually<T>(
  look: () => T | undefined | Promise<T | undefined>,
  timeout_s = HANG_S,
  what: () => string = () => 'what was waited for',
): Promise<T> {
  const deadline = systemClock.monotonic_ms() + timeout_s * 1000
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (systemClock.monotonic_ms() > deadline) throw new Error(`did not see ${what()} within ${timeout_s} s`)
    await systemClock.sleep(10)
  }
}

/** QEMU processes whose files are below a root. */
export function qemuProcessesBelow(root: string): number[] {
  return fs
    .readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      try {
        return (
          fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${root}/`) && pid !== process.pid && isQemu(pid)
        )
      } catch {
        return false
      }
    })
}

const isQemu = (pid: number): boolean => fs.readlinkSync(`/proc/${pid}/exe`).includes('qemu')

/** Ends whatever QEMU a test left below its root, and removes the root. */
export function removeRoot(root: string): void {
  for (const pid of qemuProcessesBelow(root)) process.kill(pid, 'SIGKILL')
  fs.rmSync(root, { recursive: true, force: true })
}

export async function freePort(address: string): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = net.createServer()
    server.once('error', reject)
    server.listen(0, address, () => {
      const bound = server.address()
      server.close(() => (typeof bound === 'object' && bound ? resolve(bound.port) : reject(new Error('no port'))))
    })
  })
}

/** The sizes of a guest's disks in bytes, as QEMU knows them, by the socket of its monitor. */
export function diskSizes(monitor: string): Promise<number[]> {
  return withQmp(monitor, systemClock, async (qmp) => {
    const blocks = (await qmp.run('query-block')) as { inserted?: { image: { 'virtual-size': number } } }[]
    return blocks.flatMap(({ inserted }) => inserted?.image['virtual-size'] ?? [])
  })
}

/** The keys that the BIOS keeps for a guest, as letters or, if they have none, as their number. The tiny guest never takes them. */
export async function keysOfGuest(monitor: string): Promise<string[]> {
  const words = await withQmp(monitor, systemClock, async (qmp) =>
    String(await qmp.run('human-monitor-command', { 'command-line': `xp /${KEYS_MAX + 2}hx ${KEYS_AT}` })),
  )
  const numbers = [...words.matchAll(/\b0x([0-9a-f]{4})\b/g)].map(([, hex = '']) => Number.parseInt(hex, 16))
  const [first = 0, end = 0, ...keys] = numbers
  const before = (offset: number) => (offset - FIRST_KEY) / 2
  return keys.slice(before(first), before(end)).map((key) => {
    const letter = String.fromCharCode(key & 0xff)
    return letter >= ' ' ? letter : `key ${key >> 8}`
  })
}

/** In the data of a BIOS: where the first key and the end of the keys are, then the keys, each as its letter and its number. */
const KEYS_AT = '0x41a'
const FIRST_KEY = 0x1e
const KEYS_MAX = 16
