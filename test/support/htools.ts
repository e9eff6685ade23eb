// Runs our allocation programs in this process and Ganeti's beside them, and makes clusters to run them on.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { BalanceOptions } from '../../src/allocation/balance/balance'
import type { InstanceData } from '../../src/allocation/model/cluster-data'
import { runHtool } from '../../src/cli/htools/run'
import { systemClock } from '../../src/lib/clock'
import { seededRandom } from '../../src/lib/random'
import { newestGaneti } from './newest-ganeti'

/** Only the package `ganeti-htools` has links to them in `/usr/bin`. */
export const DEBIAN_HTOOLS = `/usr/lib/ganeti/${newestGaneti('/usr/lib/ganeti')}/usr/bin`
export const HTOOLS_PACKAGE = 'ganeti-htools-$(sh test/support/ganeti-version.sh)'
export const debianPresent = (): boolean => fs.existsSync(`${DEBIAN_HTOOLS}/hbal`)

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Files in `files` are read instead of those on disk, and written files are put there. */
export async function ours(program: string, args: readonly string[], files = new Map<string, string>()): Promise<Ran> {
  let [out, err] = ['', '']
  const code = await runHtool(program, args, {
    clock: systemClock,
    random: seededRandom(1),
    connect: () => {
      throw new Error('there is no cluster to ask here')
    },
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    read: (file) => files.get(file) ?? fs.readFileSync(file, 'utf8'),
    write(file, text) {
      fs.accessSync(path.dirname(file))
      files.set(file, text)
    },
    interruption: () => () => false,
  })
  return { code, out, err }
}

export function debians(program: string, args: readonly string[], timeout_ms = 60_000): Ran {
  // One program plays all roles. hail has no name of its own there.
  const env = { ...process.env, HTOOLS: program }
  const ran = spawnSync(`${DEBIAN_HTOOLS}/htools`, args, { encoding: 'utf8', timeout: timeout_ms, env })
  return { code: ran.status ?? -1, out: ran.stdout, err: ran.stderr }
}

/** The text of a cluster of one group, on which instances were placed at random. */
export function clusterOf(seed: number, nodes: number, instances: number): string {
  const chance = seededRandom(seed)
  const random = () => chance.below(1_000_000) / 1_000_000
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
  const rows = Array.from({ length: nodes }, (_, at) => ({
    name: `node${at}.example.com`,
    memory: pick([65536, 98304, 131072]) ?? 65536,
    disk: pick([2, 4]) === 2 ? 2_097_152 : 4_194_304,
    cpus: pick([16, 32]) ?? 16,
    usedMemory: 0,
    usedDisk: 0,
    offline: nodes > 4 && random() < 0.03,
  }))
  const lines = Array.from({ length: instances }, (_, at) => {
    const memory = pick([512, 1024, 2048, 4096]) ?? 512
    const disk = 1024 * Math.ceil(random() * 40)
    const template = pick(['drbd', 'drbd', 'drbd', 'rbd', 'plain']) ?? 'drbd'
    const status = pick(['running', 'running', 'running', 'ADMIN_down']) ?? 'running'
    const primary = Math.floor(random() * random() * nodes)
    const other = template === 'drbd' ? (primary + 1 + Math.floor(random() * (nodes - 1))) % nodes : undefined
    const home = rows[primary]
    if (home !== undefined) {
      home.usedMemory += status === 'running' ? memory : 0
      home.usedDisk += template === 'rbd' ? 0 : disk
    }
    const mirror = rows[other ?? -1]
    if (mirror !== undefined) mirror.usedDisk += disk
    const tags = random() < 0.2 ? `service:${Math.floor(random() * 8)}` : ''
    const vcpus = pick([1, 2, 4]) ?? 1
    const where = `${home?.name}|${mirror?.name ?? ''}`
    return `inst${at}.example.com|${memory}|${disk}|${vcpus}|${status}|Y|${where}|${template}|${tags}|1|-|N`
  })
  const nodeLines = rows.map((row) => {
    const memory = [row.memory, 1024, Math.max(0, row.memory - 1024 - row.usedMemory)].join('|')
    const disk = `${row.disk}|${Math.max(0, row.disk - row.usedDisk)}`
    return `${row.name}|${memory}|${disk}|${row.cpus}|${row.offline ? 'Y' : 'N'}|uuid-1|4||N|0|1|1.0`
  })
  return [['group|uuid-1|preferred||'], nodeLines, lines, ['htools:iextags:service'], []]
    .map((section) => section.map((line) => `${line}\n`).join(''))
    .join('\n')
}

/** The text of a cluster of equal nodes with equal instances, all of them on the first half of the nodes. */
export function alikeClusterOf(
  seed: number,
  nodes: number,
  instances: number,
  template: 'drbd' | 'sharedfile',
): string {
  const chance = seededRandom(seed)
  const half = Math.floor(nodes / 2)
  const [primaries, all] = [Array<number>(nodes).fill(0), Array<number>(nodes).fill(0)]
  const count = (list: number[], node: number) => (list[node] = (list[node] ?? 0) + 1)
  const lines = Array.from({ length: instances }, (_, at) => {
    const primary = chance.below(half)
    const secondary = (primary + 1 + chance.below(half - 1)) % half
    count(primaries, primary)
    const mirrored = template === 'drbd'
    if (mirrored) [primary, secondary].forEach((node) => count(all, node))
    return `inst${at}|1024|10240|1|running|Y|node${primary}|${mirrored ? `node${secondary}` : ''}|${template}||1|-|N`
  })
  const nodeLines = primaries.map((count, at) => {
    const memory = [131072, 1024, 130048 - 1024 * count].join('|')
    return `node${at}|${memory}|4194304|${4194304 - 10240 * (all[at] ?? 0)}|32|N|uuid-1|4||N|0|1|1.0`
  })
  return [['group|uuid-1|preferred||'], nodeLines, lines, [], []]
    .map((section) => section.map((line) => `${line}\n`).join(''))
    .join('\n')
}

/** An instance that is to be placed. */
export const newInstanceOf = (
  template: InstanceData['template'],
  size: Pick<InstanceData, 'memory' | 'disk' | 'vcpus'>,
): InstanceData => ({
  ...size,
  name: 'new',
  disks: [{ size: size.disk, spindles: 1 }],
  status: 'running',
  autoBalance: true,
  primary: -1,
  secondary: -1,
  template,
  tags: [],
  spindleUse: 1,
  spindles: 1,
  forthcoming: false,
})

/** The options of hbal without arguments. */
export const BALANCE_OPTIONS: BalanceOptions = {
  diskMoves: true,
  instanceMoves: true,
  restrictedMigration: false,
  ignoreSoftErrors: false,
  evacuate: false,
  minGain: 0.01,
  minGainLimit: 0.1,
  maxRounds: -1,
  minScore: 1e-9,
}
