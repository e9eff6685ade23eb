// The last hours of a recorded node, whose counters grow, begin anew and are missing.
import { History } from '../../../../src/collectors/history/history'
import { readHistory, type SavedHistory, writeHistory } from '../../../../src/collectors/history/saved'
import { silentLog } from '../../../../src/lib/log'
import { HISTORY_LOOK_S, HISTORY_LOOKS, HISTORY_SAVED_S } from '../../../../src/model/limits/history'
import { nodeSources, type RecordedNode } from '../../../support/node-sources'
import { SteppedClock } from '../../../support/stepped-clock'

const RUN = '/var/run/ganeti/kvm-hypervisor'
const MIB = 1 << 20

interface Guest {
  readonly pid: number
  readonly started_s: number
  /** What it has done so far. */
  readonly cpu_s: number
  readonly read?: number
  readonly written?: number
  readonly drive?: string
  readonly taps?: readonly string[]
}

function filesOf(name: string, guest: Guest): Record<string, string> {
  const { pid, started_s, cpu_s, read, written, drive = 'driver=raw,file.driver=host_device', taps = [] } = guest
  const stat = Array<number>(50).fill(0)
  stat[14 - 3] = cpu_s * 100
  stat[22 - 3] = started_s * 100
  return {
    [`${RUN}/pid/${name}`]: `${pid}\n`,
    [`/proc/${pid}/cmdline`]: ['qemu', '-name', name, '-blockdev', drive].join('\0'),
    [`/proc/${pid}/stat`]: `${pid} (qemu) ${stat.join(' ')}`,
    [`/proc/${pid}/status`]: 'Name:\tqemu\nVmRSS:\t   1024 kB\nHugetlbPages:\t    2048 kB\n',
    ...(read !== undefined && { [`/proc/${pid}/io`]: `rchar: 9\nread_bytes: ${read}\nwrite_bytes: ${written ?? 0}\n` }),
    ...Object.fromEntries(taps.map((tap, index) => [`${RUN}/nic/${name}/${index}`, tap])),
  }
}

const NET = 'Inter-| Receive\n face |bytes\n'
const line = (name: string, [received, sent]: readonly [number, number]) =>
  `${name}: ${received} 1 0 0 0 0 0 0 ${sent} 1 0 0 0 0 0 0\n`

interface Counted {
  readonly uptime_s: number
  readonly busy_s?: number
  readonly sectors?: readonly [number, number]
  readonly nics?: Readonly<Record<string, readonly [number, number]>>
  readonly guests?: Readonly<Record<string, Guest>>
}

function nodeAt({ uptime_s, busy_s = 0, sectors = [0, 0], nics = {}, guests = {} }: Counted): Record<string, string> {
  return {
    '/proc/uptime': `${uptime_s} 1.0\n`,
    '/proc/loadavg': '1.25 0.50 0.25 1/100 4711\n',
    '/proc/meminfo': 'MemTotal:  4096 kB\nMemFree:  512 kB\nMemAvailable:  1024 kB\n',
    // To wait for disks, or to do nothing, is not to be at work.
    '/proc/stat': `cpu  ${busy_s * 100} 0 0 777 888 0 0 0 0 0\ncpu0 1 1 1 1\n`,
    '/proc/diskstats': `8 0 sda 1 0 ${sectors[0]} 0 1 0 ${sectors[1]} 0 0 0 0\n8 1 sda1 1 0 ${sectors[0]} 0 1 0 ${sectors[1]} 0 0 0 0\n`,
    '/sys/block/sda/device/model': 'disk',
    '/proc/net/dev':
      NET +
      Object.entries(nics)
        .map(([name, bytes]) => line(name, bytes))
        .join(''),
    '/sys/class/net/eth0/device/vendor': '1',
    ...Object.assign({}, ...Object.entries(guests).map(([name, guest]) => filesOf(name, guest))),
  }
}

async function measured() {
  const clock = new SteppedClock()
  const node: RecordedNode = { clock }
  const saved: SavedHistory[] = []
  const sources = nodeSources(node)
  const save = async (history: SavedHistory) => void saved.push(history)
  const history = new History({ sources, log: silentLog, save })
  let started = false
  return {
    ...{ clock, node, saved, history },
    /** A look at what there is then, a minute after the one before. */
    async look(counted: Counted): Promise<void> {
      node.files = nodeAt(counted)
      if (started) await clock.pass(HISTORY_LOOK_S)
      else await history.start()
      started = true
    },
  }
}

const ALL = -Infinity
const vm = (more: Partial<Guest>): Guest => ({ pid: 7, started_s: 100, cpu_s: 10, ...more })

test('a node is told with its load and memory, and what was done per second since the look before', async () => {
  const { history, look } = await measured()
  await look({ uptime_s: 1000, busy_s: 500, sectors: [100, 200], nics: { eth0: [1000, 2000], tap1: [9, 9] } })
  await look({ uptime_s: 1060, busy_s: 590, sectors: [220, 320], nics: { eth0: [7000, 14_000], tap1: [99, 99] } })
  expect(history.ofNode(ALL)).toEqual({
    ...{ interval_s: 60, times: [1e9, 1e9 + 60], load: [1.25, 1.25], cpus_busy: [null, 1.5] },
    ...{ memory_used_bytes: [3 * MIB, 3 * MIB], memory_total_bytes: [4 * MIB, 4 * MIB] },
    // Partitions and taps count nothing once more.
    ...{ disk_read_bytes_per_s: [null, 1024], disk_write_bytes_per_s: [null, 1024] },
    ...{ net_in_bytes_per_s: [null, 100], net_out_bytes_per_s: [null, 200] },
  })
})

test('an instance is told with what its process and its interfaces have done', async () => {
  const { history, look } = await measured()
  const taps = ['tap1', 'tap2']
  await look({
    ...{ uptime_s: 1000, nics: { tap1: [0, 0], tap2: [10, 20] } },
    guests: { vm1: vm({ taps, read: 0, written: 600 }) },
  })
  await look({
    ...{ uptime_s: 1060, nics: { tap1: [600, 0], tap2: [10, 6020] } },
    guests: { vm1: vm({ taps, cpu_s: 40, read: 1200, written: 600 }) },
  })
  expect(history.ofInstance('vm1', 1e9)).toEqual({
    ...{ interval_s: 60, times: [1e9 + 60], cpus_busy: [0.5], memory_bytes: [3 * MIB] },
    ...{ disk_read_bytes_per_s: [20], disk_write_bytes_per_s: [0] },
    // The node receives what the guest sends.
    ...{ net_in_bytes_per_s: [100], net_out_bytes_per_s: [10] },
  })
  expect(history.ofInstance('vm2', ALL).times).toEqual([])
})

test('what cannot be read is unknown, and so is the traffic of disks that QEMU reaches by itself', async () => {
  const { history, look } = await measured()
  for (const at of [0, 1])
    await look({
      uptime_s: 1000 + 60 * at,
      guests: {
        unread: vm({}),
        rbd: vm({ pid: 8, read: at, drive: 'driver=raw,file.driver=rbd,file.pool=p' }),
        uri: vm({ pid: 9, read: at, drive: 'file=rbd:pool/image,format=raw' }),
      },
    })
  for (const name of ['unread', 'rbd', 'uri'])
    expect(history.ofInstance(name, 1e9)).toMatchObject({
      ...{ cpus_busy: [0], disk_read_bytes_per_s: [null], net_in_bytes_per_s: [null] },
    })
})

test('counters of an instance that was started since begin at nothing, and those of one that is seen late are unknown', async () => {
  const { history, look } = await measured()
  await look({ uptime_s: 1000, guests: { vm1: vm({ cpu_s: 5000 }) } })
  await look({
    uptime_s: 1060,
    guests: {
      vm1: vm({ pid: 8, started_s: 1030, cpu_s: 30 }),
      vm2: vm({ pid: 9, started_s: 1040, cpu_s: 15 }),
      old: vm({ pid: 10, started_s: 10, cpu_s: 900 }),
    },
  })
  const busy = (name: string) => history.ofInstance(name, 1e9).cpus_busy
  expect([busy('vm1'), busy('vm2'), busy('old')]).toEqual([[0.5], [0.25], [null]])
})

test('a counter that is lower than before has begun anew, and is unknown for once', async () => {
  const { history, look } = await measured()
  for (const [at, received] of [6000, 12_000, 60, 660].entries())
    await look({ uptime_s: 1000 + 60 * at, nics: { eth0: [received, 0] } })
  expect(history.ofNode(ALL).net_in_bytes_per_s).toEqual([null, 100, null, 10])
})

test('a look that fails is missing, and the next one tells the average since the last', async () => {
  const { clock, node, history, look } = await measured()
  await look({ uptime_s: 1000, busy_s: 0 })
  node.files = {}
  await clock.pass(HISTORY_LOOK_S)
  await look({ uptime_s: 1120, busy_s: 60 })
  expect(history.ofNode(ALL)).toMatchObject({ times: [1e9, 1e9 + 120], cpus_busy: [null, 0.5] })
})

test('times at which an instance did not run are missing', async () => {
  const { history, look } = await measured()
  const guests = { vm1: vm({}) }
  await look({ uptime_s: 1000, guests })
  await look({ uptime_s: 1060 })
  await look({ uptime_s: 1120, guests })
  expect(history.ofInstance('vm1', ALL)).toMatchObject({ times: [1e9, 1e9 + 120], cpus_busy: [null, null] })
})

test('only the last hours are kept, and instances that are gone for longer are forgotten', async () => {
  const { history, look, saved } = await measured()
  await look({ uptime_s: 1000, guests: { vm1: vm({}) } })
  for (let at = 1; at < HISTORY_LOOKS; at++) await look({ uptime_s: 1000 + 60 * at })
  expect(history.ofNode(ALL).times).toHaveLength(HISTORY_LOOKS)
  expect(history.ofInstance('vm1', ALL).times).toEqual([1e9])
  await look({ uptime_s: 1000 + 60 * HISTORY_LOOKS })
  expect(history.ofNode(ALL).times[0]).toBe(1e9 + 60)
  await history.close()
  expect(Object.keys(saved.at(-1)?.instances ?? {})).toEqual([])
})

test('what was measured later than now is not told after the clock was set back', async () => {
  const { clock, history, look } = await measured()
  let back_ms = 0
  const { now_ms } = clock
  clock.now_ms = () => now_ms() - back_ms
  for (const at of [0, 1, 2]) await look({ uptime_s: 1000 + 60 * at })
  back_ms = 100_000
  await look({ uptime_s: 1180 })
  expect(history.ofNode(ALL).times).toEqual([1e9, 1e9 + 60, 1e9 + 80])
})

test('a restart goes on where it was, and what cannot be read is as if it were not there', async () => {
  const first = await measured()
  const guests = { vm1: vm({}) }
  await first.look({ uptime_s: 1000, guests })
  await first.look({ uptime_s: 1060, busy_s: 30 })
  await first.history.close()
  const files = new Map<string, Buffer>()
  const disk = {
    read: (file: string) => Promise.resolve(files.get(file)),
    write: (file: string, data: string | Buffer) => Promise.resolve(void files.set(file, Buffer.from(data))),
  }
  const [kept] = first.saved
  if (kept === undefined) throw new Error('nothing was saved')
  await writeHistory(disk, 'a', kept)
  const second = await measured()
  const found = await readHistory(disk, 'a', silentLog)
  if (found === undefined) throw new Error('nothing was found')
  second.history.restore(found)
  expect(second.history.ofNode(ALL)).toEqual(first.history.ofNode(ALL))
  expect(second.history.ofInstance('vm1', ALL)).toEqual(first.history.ofInstance('vm1', ALL))
  files.set('a', Buffer.from('{"node": 1}'))
  expect(await readHistory(disk, 'a', silentLog)).toBeUndefined()
  expect(await readHistory(disk, 'b', silentLog)).toBeUndefined()
})

test('it is saved now and then, and a disk that refuses stops nothing', async () => {
  const { clock, saved, look, history } = await measured()
  await look({ uptime_s: 1000 })
  expect(saved).toEqual([])
  await clock.pass(HISTORY_SAVED_S)
  expect(saved).toHaveLength(1)
  saved.push = () => {
    throw new Error('full')
  }
  await clock.pass(HISTORY_SAVED_S)
  const { length } = history.ofNode(ALL).times
  await clock.pass(HISTORY_LOOK_S)
  expect(history.ofNode(ALL).times.length).toBe(length + 1)
})
