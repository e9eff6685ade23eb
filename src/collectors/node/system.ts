// The node's system: processors, memory, file systems, interfaces, kernel, programs, and the pressure on each resource.
import { NODE_PROGRAM_VERSIONS_S } from '../../model/limits/collectors'
import { RELEASE_VERSION } from '../../model/constants/versions'
import { type Mount, mounts } from '../mounts'
import { nodeUptime } from '../processes'
import { type Collector, type NodeSources, readIfThere, readSource } from '../report'
import { about, dict, flag, float, int, list, maybe, record, text } from '../shapes'
import { interfaces } from './interfaces'

const PRESSURE = record({ avg10: float, avg60: float, avg300: float, total_us: int })

export const system: Collector = {
  ...{ name: 'system', category: 'node', kind: 'performance' },
  help: 'the processors, memory, file systems and interfaces of the node',
  ...{ interval_s: 5, cost_ms: 20 },
  shape: record({
    uptime_s: float,
    cpus: record({
      ...{
        number: int,
        online: text,
        offline: text,
        model: maybe(text),
        load: about('over 1, 5, 15 minutes', list(float)),
      },
    }),
    memory: about('bytes', dict(int)),
    filesystems: list(
      record({
        ...{ point: text, device: text, type: text, readOnly: flag },
        bind_of: about('the mount point of the same file system, for a bind mount', maybe(text)),
        ...{ size_bytes: maybe(int), free_bytes: maybe(int) },
      }),
    ),
    interfaces: list(
      record({
        ...{ name: text, state: text, address: text, mtu: int, speed_mbit: maybe(int) },
        counters: dict(int),
      }),
    ),
    kernel: record({ release: text, version: text }),
    versions: about('of programs that the node uses', dict(text)),
    pressure: about('the share of time, in percent, in which work waits; by resource', dict(dict(PRESSURE))),
  }),
  open(sources) {
    const versions = new ProgramVersions(sources)
    return { collect: () => collect(sources, versions) }
  },
}

async function collect(sources: NodeSources, versions: ProgramVersions): Promise<unknown> {
  const [uptime_s, cpus, memory, filesystems, nics, kernel, pressure] = await Promise.all([
    ...([nodeUptime(sources), processors(sources), memoryOf(sources), fileSystems(sources)] as const),
    ...([interfaces(sources), kernelOf(sources), pressures(sources)] as const),
  ])
  const known = await versions.known()
  return { uptime_s, cpus, memory, filesystems, interfaces: nics, kernel, versions: known, pressure }
}

const CPUS = '/sys/devices/system/cpu'

async function processors(sources: NodeSources) {
  const line = async (file: string) => ((await readIfThere(sources, file)) ?? '').trim()
  const info = await readSource(sources, '/proc/cpuinfo')
  return {
    number: (info.match(/^processor\s*:/gm) ?? []).length,
    online: await line(`${CPUS}/online`),
    offline: await line(`${CPUS}/offline`),
    model: /^model name\s*:\s*(.*)$/m.exec(info)?.[1] ?? null,
    load: (await line('/proc/loadavg')).split(' ').slice(0, 3).map(Number),
  }
}

/** The kernel's names and ours. */
const MEMORY = {
  ...{ MemTotal: 'total', MemFree: 'free', MemAvailable: 'available', Buffers: 'buffers', Cached: 'cached' },
  ...{ SwapTotal: 'swap_total', SwapFree: 'swap_free', Dirty: 'dirty', AnonPages: 'anonymous', Slab: 'slab' },
  ...{ HugePages_Total: 'huge_pages', HugePages_Free: 'huge_pages_free' },
} as const

async function memoryOf(sources: NodeSources) {
  const text = await readSource(sources, '/proc/meminfo')
  const found = Object.entries(MEMORY).flatMap(([key, name]) => {
    const [, value, unit] = new RegExp(`^${key}:\\s+(\\d+)( kB)?`, 'm').exec(text) ?? []
    return value === undefined ? [] : [[name, Number(value) * (unit === undefined ? 1 : 1024)] as const]
  })
  return Object.fromEntries(found)
}

/** File systems without storage of their own. */
const VIRTUAL =
  /^(autofs|binfmt_misc|bpf|cgroup2?|configfs|debugfs|devpts|devtmpfs|efivarfs|fuse\..*|fusectl|hugetlbfs|mqueue|nsfs|proc|pstore|ramfs|rpc_pipefs|securityfs|sysfs|tracefs|squashfs|nfs4?|cifs|ceph|9p)$/

async function fileSystems(sources: NodeSources) {
  const real = (await mounts(sources)).filter(({ type }) => !VIRTUAL.test(type))
  // A later mount at the same place hides the earlier one.
  const visible = [...new Map(real.map((mount) => [mount.point, mount])).values()]
  const firsts = new Map<string, Mount>()
  for (const mount of [...visible.filter(({ root }) => root === '/'), ...visible])
    if (!firsts.has(mount.fs)) firsts.set(mount.fs, mount)
  const rooms = new Map(
    await Promise.all([...firsts.values()].map(async (one) => [one.fs, await roomOf(sources, one)] as const)),
  )
  return visible.map((mount) => {
    const { point, device, type, options, fs } = mount
    const first = firsts.get(fs)
    const bind_of = first === undefined || first === mount ? null : first.point
    return { point, device, type, bind_of, readOnly: options.includes('ro'), ...(rooms.get(fs) ?? NO_ROOM) }
  })
}

const NO_ROOM = { size_bytes: null, free_bytes: null }

const roomOf = (sources: NodeSources, { point }: Mount) => sources.room(point).catch(() => NO_ROOM)

async function kernelOf(sources: NodeSources) {
  const line = async (name: string) => (await readSource(sources, `/proc/sys/kernel/${name}`)).trim()
  return { release: await line('osrelease'), version: await line('version') }
}

/** Kernels can be built without this. */
async function pressures(sources: NodeSources) {
  const kinds = ['cpu', 'io', 'memory'] as const
  const texts = await Promise.all(
    kinds.map((kind) => readIfThere(sources, `/proc/pressure/${kind}`).catch(() => undefined)),
  )
  return Object.fromEntries(
    kinds.flatMap((kind, at) => (texts[at] === undefined ? [] : [[kind, pressureOf(texts[at])]])),
  )
}

const LINE = /^(some|full) avg10=([\d.]+) avg60=([\d.]+) avg300=([\d.]+) total=(\d+)$/gm

const pressureOf = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(LINE)].map(([, who = '', avg10, avg60, avg300, total]) => [
      who,
      { avg10: Number(avg10), avg60: Number(avg60), avg300: Number(avg300), total_us: Number(total) },
    ]),
  )

const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  qemu: ['qemu-system-x86_64', '--version'],
  lvm: ['lvm', 'version'],
  drbd: ['drbdadm', '--version'],
  // The version for QEMU's guests. `ceph` reports the same, but is a Python program that takes six times as long to
  // start.
  ceph: ['rbd', '--version'],
  xen: ['xl', 'info'],
}
const NUMBER = /(?:LVM version:|DRBDADM_VERSION=|xen_version\s*:|version)\s*v?(\d[\w.+~-]*)/

/** Starting programs is the most expensive part, and programs seldom change. */
class ProgramVersions {
  private looked_ms = -Infinity
  private found: Readonly<Record<string, string>> = {}

  constructor(private readonly sources: NodeSources) {}

  async known(): Promise<Readonly<Record<string, string>>> {
    const now_ms = this.sources.clock.monotonic_ms()
    if (now_ms - this.looked_ms >= NODE_PROGRAM_VERSIONS_S * 1000) {
      this.looked_ms = now_ms
      this.found = await this.ask()
    }
    return { gantry: RELEASE_VERSION, ...this.found }
  }

  private async ask(): Promise<Record<string, string>> {
    const requested = Object.entries(PROGRAMS).map(async ([name, command]) => {
      const output = await this.sources.run(command).catch(() => '')
      const version = NUMBER.exec(output)?.[1]
      return version === undefined ? [] : [[name, version] as const]
    })
    return Object.fromEntries((await Promise.all(requested)).flat())
  }
}
