// Operations on a mirrored disk in user space, during which a process of an embedded cluster is killed. A guest writes to the disk meanwhile,
// where it runs.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { drbdId, logicalVolumes } from '../../src/config/lookup'
import type { ConfigData, Disk } from '../../src/model/config'
import { systemClock } from '../../src/lib/clock'
import { pathsOf } from '../../src/lib/paths'
import { type Random, seededRandom } from '../../src/lib/random'
import { mirrorCall, mirrorList } from '../../src/node/mirror/client'
import { GuestMemory, SLOTS, bytesOf, placeOf as slotAt } from '../simulation/mirror-guest'
import type { EmbeddedCluster } from './embedded-cluster'
import { NODES, eventually, fakeGuests, killHard, list, pause, processesOf, wholeAgain, withWconfd } from './faults'
import { NbdClient } from './nbd-client'

const NAME = 'm1.gantry.local'
const [PRIMARY = '', SECONDARY = '', NEW = ''] = NODES
/** Before it is the image of the operating system. */
const WRITTEN_AT = 2 << 20
const JOB_S = 120
const WHOLE_S = 60
/** Verify is followed so many times: what it names may hide something else. */
const ROUNDS = 5

const VICTIMS = [
  'the mirrors of the primary node',
  'the mirrors of the secondary node',
  'the daemon of the primary node',
  'the daemon of the secondary node',
  'the job',
  'luxid',
] as const
type Victim = (typeof VICTIMS)[number]

interface Operation {
  /** The template of the instance before, and whether it runs. */
  readonly from: 'drbd' | 'plain' | 'nothing'
  readonly running: boolean
  readonly words: readonly string[]
}

const placeOf = (slot: number): number => WRITTEN_AT + slotAt(slot)

const on = (words: string, running = true, from: Operation['from'] = 'drbd'): Operation => ({
  ...{ from, running, words: ['instance', ...words.split(' '), NAME] },
})
const CREATE = `add -t drbd --disk 0:size=4m -o gantry-tiny --no-nics -B memory=16 -n ${PRIMARY}:${SECONDARY}`
const OPERATIONS: Readonly<Record<string, Operation>> = {
  create: on(CREATE, false, 'nothing'),
  'replace on the primary': on('replace-disks -p'),
  'replace on the secondary': on('replace-disks -s'),
  'replace the secondary': on(`replace-disks -n ${NEW}`),
  grow: { from: 'drbd', running: true, words: ['instance', 'grow-disk', NAME, '0', '2m'] },
  migrate: on('migrate -f'),
  failover: on('failover -f'),
  'convert to drbd': on(`modify -t drbd -n ${SECONDARY}`, false, 'plain'),
  'convert to plain': on('modify -t plain', false),
}

interface Leftover {
  readonly node: string
  readonly name: string
  /** If it is a mirror. */
  readonly minor?: number
}

export interface Moment {
  readonly operation: string
  readonly victim: Victim
  /** The part of the operation's usual time after which it happens. */
  readonly at: number
}

export function randomMoments(count: number, seed: number): Moment[] {
  const random = seededRandom(seed)
  const one = <T>(all: readonly T[]): T => {
    const chosen = all[random.below(all.length)]
    if (chosen === undefined) throw new Error('nothing to choose from')
    return chosen
  }
  return Array.from({ length: count }, () => ({
    ...{ operation: one(Object.keys(OPERATIONS)), victim: one(VICTIMS), at: random.below(1000) / 1000 },
  }))
}

export class MirrorKills {
  private memory = new GuestMemory()
  /** How long each operation takes here and now, in seconds. */
  private readonly takes = new Map<string, number>()
  private readonly complaints: string[] = []

  constructor(
    private readonly cluster: EmbeddedCluster,
    private readonly random: Random,
  ) {}

  async carryOut({ operation, victim, at }: Moment): Promise<void> {
    const chosen = OPERATIONS[operation]
    if (chosen === undefined) throw new Error(`no operation ${operation}`)
    await this.prepare(chosen)
    this.complaints.splice(0)
    const guest = new Writer(this.cluster, this.memory, this.random, (text) => this.complaints.push(text))
    const writing = guest.work()
    try {
      if (chosen.running) await eventually('the guest writes', () => guest.writes > 0)
      const begun_ms = performance.now()
      const job = await this.submit(chosen.words)
      await pause(at * (this.takes.get(operation) ?? 3))
      const isHit = await this.kill(victim)
      await wholeAgain(this.cluster)
      const status = await this.ended(job)
      if (!isHit || status === 'success') this.takes.set(operation, (performance.now() - begun_ms) / 1000)
      await this.mend(operation === 'migrate')
    } finally {
      guest.stop()
      await writing
    }
    await this.expectKept()
  }

  /** Removes the instance, after which nothing of it is left. */
  async end(): Promise<void> {
    await this.remove()
    for (const node of NODES) expect(list(this.volumesOf(node))).toEqual([])
  }

  private async prepare({ from, running }: Operation): Promise<void> {
    const { disk, instance, template, nodes } = await this.state()
    const fits = template === from && (from === 'plain' ? nodes[0] === PRIMARY : !nodes.includes(NEW))
    if (instance !== undefined && !fits) await this.remove()
    if (from === 'nothing') return void (this.memory = new GuestMemory())
    if (!fits) {
      this.memory = new GuestMemory()
      if (from === 'drbd') await this.ok('instance', ...CREATE.split(' '), NAME)
      else await this.addPlain()
    }
    if (from === 'plain') return
    const isUp = fakeGuests(this.cluster).some(([, name]) => name === NAME)
    if (isUp !== running || disk === undefined) await this.ok('instance', running ? 'startup' : 'shutdown', NAME)
    if (running) await this.untilWhole()
  }

  private async addPlain(): Promise<void> {
    const words = 'add -t plain --disk 0:size=4m -o gantry-tiny --no-nics --no-start -B memory=16'
    await this.ok('instance', ...words.split(' '), '-n', PRIMARY, NAME)
    const [file = ''] = await this.files()
    const open = fs.openSync(file, 'r+')
    for (let slot = 0; slot < SLOTS; slot++) {
      fs.writeSync(open, bytesOf(this.memory.begin(slot, false)), 0, 8, placeOf(slot))
      this.memory.confirm(slot)
    }
    fs.closeSync(open)
  }

  private async submit([kind = '', verb = '', ...more]: readonly string[]): Promise<number> {
    const reported = await this.ok(kind, verb, '--submit', ...more)
    const [, job] = /JobID: (\d+)/.exec(reported) ?? []
    if (job === undefined) throw new Error(`${verb} --submit names no job: ${reported}`)
    return Number(job)
  }

  private async ended(job: number): Promise<string> {
    const look = async () => {
      const [row] = await this.cluster.master.queryJobs([job], ['status'])
      const status = String(row?.[0])
      return ['success', 'error', 'canceled'].includes(status) ? status : undefined
    }
    return eventually(`job ${job} ends`, look, JOB_S)
  }

  /** Answers whether there was such a process. */
  private async kill(victim: Victim): Promise<boolean> {
    const { nodes } = await this.state().catch(() => ({ nodes: [PRIMARY, SECONDARY] }))
    const [primary = PRIMARY, secondary = SECONDARY] = nodes
    const node = victim.includes('secondary') ? secondary : primary
    const hit = processesOf(this.cluster.root).filter(({ role, pid, node: its }) => {
      if (victim === 'the job' || victim === 'luxid') return role === (victim === 'luxid' ? 'luxid' : 'job')
      return its === node && (victim.includes('mirrors') ? isMirrors(pid) : role === 'noded')
    })
    for (const { pid } of hit) await killHard(pid)
    return hit.length > 0
  }

  /** All that is not well is named by verify, and what it says is done, until all is well. */
  private async mend(migrated: boolean): Promise<void> {
    const { instance } = await this.state()
    if (migrated && instance !== undefined) await this.ok('instance', 'migrate', '--cleanup', '-f', NAME)
    for (let round = 1; ; round++) {
      // As the watcher does.
      await this.gnt('cluster', 'verify-disks')
      const [left, why] = [await this.leftovers(), await this.problem()]
      if (left.length === 0 && why === undefined) return
      const reported = await this.gnt('cluster', 'verify')
      if (round > ROUNDS)
        throw new Error(`not well after ${ROUNDS} rounds: ${why}, left: ${JSON.stringify(left)}\n${reported}`)
      for (const { name } of left)
        if (!reported.includes(name)) throw new Error(`verify does not name ${name}: ${reported}`)
      if (why !== undefined && !reported.includes(NAME))
        throw new Error(`verify does not name ${NAME}, ${why}: ${reported}`)
      await this.follow(reported)
    }
  }

  /** Carries out what verify names. */
  private async follow(reported: string): Promise<void> {
    for (const line of reported.split('\n')) {
      const [, verb = '', rest = ''] = /'gnt-instance ([\w-]+) ([^']+)'/.exec(line) ?? []
      if (verb !== '') await this.gnt('instance', verb, ...(verb === 'remove' ? ['-f'] : []), ...rest.split(' '))
      const [, node = ''] = / missing on node (\S+);/.exec(line) ?? []
      for (const [, from = '', to = ''] of line.matchAll(/\bmv ([^' ]+) ([^' ]+)/g)) {
        const { local } = this.placesOf(node).paths
        fs.renameSync(local(from), local(to))
      }
    }
    for (const { node, name, minor } of await this.leftovers())
      if (!reported.includes(name)) continue
      else if (minor !== undefined)
        await mirrorCall(this.placesOf(node), 'down', { minor }, `Cannot end minor ${minor}`)
      else if (reported.includes(`node ${node}: volume xenvg/${name} is unknown; if nobody needs it, remove it`))
        for (const place of ['volumes', 'tags'])
          fs.rmSync(path.join(this.volumesOf(node), '..', place, name), { force: true })
  }

  /** Volumes and mirrors of nodes that the configuration does not know. */
  private async leftovers(): Promise<Leftover[]> {
    const config = await this.config()
    const nameOf = (uuid: string | undefined) => config.nodes[uuid ?? '']?.name
    const known = new Set(
      Object.values(config.disks).flatMap((disk) => {
        const { nodeA, nodeB, minorA, minorB } = drbdId(disk) ?? {}
        const volumes = logicalVolumes(disk).map(([, name]) => name)
        return [
          ...disk.nodes.flatMap((uuid) => volumes.map((name) => `${nameOf(uuid)} ${name}`)),
          ...[`${nameOf(nodeA)} drbd minor ${minorA}`, `${nameOf(nodeB)} drbd minor ${minorB}`],
        ]
      }),
    )
    const each = NODES.map(async (node): Promise<Leftover[]> => {
      const minors = [...(await mirrorList(this.placesOf(node))).keys()]
      return [
        ...list(this.volumesOf(node)).map((name) => ({ node, name })),
        ...minors.map((minor) => ({ node, name: `drbd minor ${minor}`, minor })),
      ]
    })
    return (await Promise.all(each)).flat().filter(({ node, name }) => !known.has(`${node} ${name}`))
  }

  private placesOf = (node: string) => ({
    ...{ paths: pathsOf(path.join(this.cluster.root, node), node), clock: systemClock, hostname: node },
  })

  private async problem(): Promise<string | undefined> {
    const { instance, template } = await this.state()
    if (instance === undefined) return undefined
    if (instance.forthcoming === true) return 'it is only half made'
    const isUp = fakeGuests(this.cluster).some(([, name]) => name === NAME)
    if (isUp !== (instance.admin_state === 'up')) return `it ${isUp ? 'runs' : 'does not run'}`
    if (template !== 'drbd' || !instance.disks_active) return undefined
    return this.untilWhole().then(() => undefined, String)
  }

  private async untilWhole(): Promise<void> {
    const isWhole = /on primary: .*in sync, status ok\n.*on secondary: .*in sync, status ok/
    await eventually(
      'both nodes have all data',
      async () => isWhole.test(await this.ok('instance', 'info', NAME)),
      WHOLE_S,
    )
  }

  /** All that was confirmed is on each node, and both have the same. */
  private async expectKept(): Promise<void> {
    expect(this.complaints).toEqual([])
    const { instance, template } = await this.state()
    if (instance === undefined) return
    if (template === 'drbd' && instance.disks_active) await this.untilWhole()
    const contents = (await this.files()).map((file) => fs.readFileSync(file))
    for (const content of contents) {
      const written = content.subarray(WRITTEN_AT)
      expect(this.memory.lacking((offset, length) => written.subarray(offset, offset + length))).toEqual([])
    }
    const [one, other] = contents
    if (other !== undefined && one?.equals(other) !== true) throw new Error('the two copies differ')
  }

  private async state() {
    const config = await this.config()
    const instance = Object.values(config.instances).find(({ name }) => name === NAME)
    const disk = instance?.disks.flatMap((uuid) => config.disks[uuid] ?? [])[0]
    const nodes = instance === undefined ? [] : nodesOf(config, instance.primary_node, disk)
    return { config, instance, disk, nodes, template: disk?.dev_type ?? 'nothing' }
  }

  private config = (): Promise<ConfigData> => withWconfd(this.cluster, (wconfd) => wconfd.readConfig())

  /** The files with its data, on each of its nodes. */
  private async files(): Promise<string[]> {
    const { disk, nodes } = await this.state()
    const name = disk && logicalVolumes(disk)[0]?.[1]
    return name === undefined ? [] : nodes.map((node) => path.join(this.volumesOf(node), name))
  }

  private volumesOf = (node: string): string =>
    path.join(this.cluster.root, node, 'srv/ganeti/user-volumes/xenvg/volumes')

  private async remove(): Promise<void> {
    if ((await this.state()).instance !== undefined) await this.ok('instance', 'remove', '-f', NAME)
  }

  private async ok(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.cluster.gnt(...words)
    if (code !== 0) throw new Error(`gnt ${words.join(' ')} ended with ${code}:\n${stdout}${stderr}`)
    return stdout + stderr
  }

  private async gnt(...words: string[]): Promise<string> {
    const { stdout, stderr } = await this.cluster.gnt(...words)
    return stdout + stderr
  }
}

function nodesOf({ nodes }: ConfigData, primary: string, disk: Disk | undefined): string[] {
  const { nodeA, nodeB } = (disk && drbdId(disk)) ?? {}
  const others = [nodeA, nodeB].filter((uuid) => uuid !== undefined && uuid !== primary)
  return [primary, ...others].flatMap((uuid) => nodes[uuid ?? '']?.name ?? [])
}

const isMirrors = (pid: number): boolean => {
  try {
    return /mirrors/.test(fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
  } catch {
    return false
  }
}

/** Writes to the disk all the time, where the guest runs. */
class Writer {
  /** How many were confirmed. */
  writes = 0
  private isOver = false
  private client: NbdClient | undefined
  private at = ''

  constructor(
    private readonly cluster: EmbeddedCluster,
    private readonly memory: GuestMemory,
    private readonly random: Random,
    private readonly complain: (text: string) => void,
  ) {}

  stop(): void {
    this.isOver = true
  }

  async work(): Promise<void> {
    while (!this.isOver) {
      const node = fakeGuests(this.cluster).find(([, name]) => name === NAME)?.[0]
      if (node !== this.at) this.leave()
      this.client ??= node === undefined ? undefined : await this.open(node)
      if (this.client === undefined) await pause(0.02)
      else await this.write(this.client).catch(() => this.leave())
      await pause(0.002)
    }
    this.leave()
  }

  private leave(): void {
    this.client?.close()
    this.client = undefined
    this.at = ''
  }

  private async open(node: string): Promise<NbdClient | undefined> {
    this.at = node
    const folder = path.join(this.cluster.root, node, 'var/run/ganeti/mirrors')
    const [socket] = list(folder).filter((name) => name.endsWith('.sock'))
    return socket === undefined ? undefined : NbdClient.open(path.join(folder, socket)).catch(() => undefined)
  }

  private async write(client: NbdClient): Promise<void> {
    const slot = this.random.below(SLOTS)
    if (this.random.below(4) === 0) {
      const value = Number((await client.read(placeOf(slot), 8)).readBigUInt64BE(0))
      if (!this.memory.allows(slot, value)) this.complain(`the guest reads: ${this.memory.explain(slot, value)}`)
      return
    }
    const value = this.memory.begin(slot, false)
    await client.write(placeOf(slot), bytesOf(value))
    this.memory.confirm(slot)
    this.writes++
  }
}
