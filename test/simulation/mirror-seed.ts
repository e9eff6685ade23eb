// One run with one mirrored disk: a guest that writes, an administrator and jobs that do all that the product does with such a disk, often
// only half of it, and faults of processes, power, lines and files. Whatever happens, the guest reads what it was told to be written.
import { silentLog } from '../../src/lib/log'
import { OlderDisk } from '../support/older-mirror'
import { MirrorFaults } from './mirror-faults'
import { Guest, GuestMemory, SIZE, SLOTS, bytesOf, placeOf } from './mirror-guest'
import { Hangs, MirrorNode } from './mirror-node'
import type { Run } from './run-seed'
import { SimFiles } from './sim-files'
import { breakStreams, newStreams } from './sim-streams'
import { type SimProcess, Simulator } from './simulator'

const TROUBLE_S = 120
const HEAL_S = 600
const BEAT_MS = 300
const WHOLE = 'Connected UpToDate/UpToDate'

export async function runMirrorSeed(seed: number, tracing = false): Promise<Run> {
  const simulator = new Simulator(seed, tracing)
  const run = new MirrorRun(simulator)
  await run.all()
  return { complaints: run.complaints, trace: simulator.trace, ops: {} }
}

class MirrorRun {
  readonly complaints: string[] = []
  private readonly files: SimFiles
  private readonly a: MirrorNode
  private readonly b: MirrorNode
  private readonly memory = new GuestMemory()
  private readonly job: SimProcess
  private guest: Guest | undefined
  /** Where the last guest wrote, until all of that is safe. */
  private last: MirrorNode | undefined
  /** Where the guest is to run. */
  private home: MirrorNode
  private rate_kib = 0
  private readonly faults: MirrorFaults

  constructor(private readonly simulator: Simulator) {
    newStreams((one, other) => one === other || !this.faults.isCut)
    this.files = new SimFiles(simulator)
    this.job = simulator.process('job', 'outside')
    this.a = new MirrorNode(simulator, this.files, 'a', 'b', this.logOf('a'))
    this.b = new MirrorNode(simulator, this.files, 'b', 'a', this.logOf('b'))
    this.home = this.a
    this.faults = new MirrorFaults(simulator, this.files, this.nodes, (nodes) => this.powerOff(nodes))
  }

  async all(): Promise<void> {
    const { simulator } = this
    let [isOver, isDone] = [false, false]
    const end = (error?: unknown) => {
      isDone = true
      if (error !== undefined) this.complain(`the run ends with ${String(error)}`)
    }
    this.beat()
    this.job.run(() => void this.work(() => isOver).then(() => end(), end))
    const end_ms = simulator.time_ms + TROUBLE_S * 1000
    const calm_s = simulator.pick([2, 6, 20])
    while (simulator.time_ms < end_ms && !isDone) {
      await simulator.run(simulator.between(0.1, calm_s), () => isDone)
      this.faults.strike()
    }
    simulator.note('PEACE', 'no more faults')
    this.faults.heal()
    isOver = true
    if (!(await simulator.run(HEAL_S, () => isDone))) this.complain(`it does not come to an end: ${this.states}`)
  }

  private powerOff(nodes: readonly MirrorNode[]): void {
    const { guest } = this
    for (const node of nodes) {
      const isGuests = guest?.process.machine === node.name || this.last === node
      // Nobody but it had what was written since the last flush.
      const hadAll = this.keepsAll(node)
      node.process?.end('its power is off')
      this.files.crash(`/${node.name}/`)
      if (guest?.process.machine === node.name) guest.process.end('its power is off')
      const hadAlone = hadAll && !this.keepsAll(this.other(node))
      if (hadAlone) this.memory.losePending()
      const nobodyHas = hadAlone && !this.keepsAll(node)
      if (isGuests || nobodyHas || nodes.length > 1) this.memory.relax()
      // It does not know that the other node has confirmed a flush without it.
      if (hadAlone && !this.keepsAll(node)) node.isUnaware = true
    }
  }

  private get states(): string {
    return `a is ${this.a.state}, b is ${this.b.state}`
  }

  private get nodes(): readonly [MirrorNode, MirrorNode] {
    return [this.a, this.b]
  }

  private other = (node: MirrorNode): MirrorNode => (node === this.a ? this.b : this.a)

  private complain(text: string): void {
    this.simulator.note('COMPLAINT', text)
    this.complaints.push(text)
  }

  private logOf = (name: string) => {
    const note = (fields: object, text: string) => this.simulator.note(name, `${text} ${JSON.stringify(fields)}`)
    return { ...silentLog, warn: note, error: note } as typeof silentLog
  }

  private beat(): void {
    this.simulator.after(BEAT_MS, undefined, () => {
      breakStreams()
      this.beat()
    })
  }

  private async work(isOver: () => boolean): Promise<void> {
    const { simulator, job } = this
    for (const node of this.nodes) await node.renew()
    await this.a.activate(0)
    await this.a.call('promote', (disk) => disk.promote(true))
    await this.b.activate(0)
    while (!isOver()) {
      await this.attempt('mend', () => this.mend())
      await job.clock.sleep(simulator.between(50, 3000))
      const [name, action] = simulator.pick(this.actions)
      await this.attempt(name, action)
      await job.clock.sleep(simulator.between(0, 1500))
    }
    await this.heal()
  }

  private get actions(): (readonly [string, () => Promise<void>])[] {
    return [
      ['mend', () => this.mend()],
      ['let a copy go', () => this.letGo(this.some())],
      ['replace a copy', () => this.replace(this.some())],
      ['switch off', () => this.switchOff()],
      ['move', () => this.move()],
      ['migrate', () => this.migrate()],
      ['reconnect', () => this.reconnect(this.some())],
      ['lend', () => this.lend()],
      ['pause', () => this.some().call('pause', (disk) => disk.pause(true))],
      ['go on', () => this.goOn()],
      ['restart', () => this.restart(this.some())],
      ['change the rate', async () => void (this.rate_kib = this.simulator.pick([0, 1000, 4000, 30_000]))],
    ]
  }

  private some = (): MirrorNode => this.simulator.pick(this.nodes)

  /** What a job cannot do it leaves half done. */
  private async attempt(what: string, work: () => Promise<void>): Promise<void> {
    this.simulator.note('job', `${what}: ${this.states}, the guest ${this.guest?.isRunning ? 'runs' : 'does not run'}`)
    try {
      await work()
    } catch (error) {
      if (error instanceof Hangs) this.complain(error.message)
      this.simulator.note('job', `${what} fails: ${String(error)}`)
    }
  }

  /** As the watcher does: what is missing is activated, and the guest runs. After a death, on the node that has all. */
  private async mend(): Promise<void> {
    await this.choose()
    const { home } = this
    for (const node of [home, this.other(home)])
      await node.activate(this.rate_kib).catch((error: unknown) => this.simulator.note('job', String(error)))
    await this.startGuest()
  }

  /** Both were written to alone, or one cannot be used: an administrator takes the one with all data. */
  private async choose(): Promise<void> {
    const isApart = this.nodes.some(({ disk, isUp }) => isUp && disk?.status.why)
    if (!isApart) return
    const kept = [this.home, this.other(this.home)].find((node) => this.hasAll(node))
    this.simulator.note('job', `they stay apart; ${kept?.name ?? 'nobody'} is kept`)
    if (kept === undefined) return
    const lost = this.other(kept)
    await this.stopGuest()
    if (lost.isUp) await lost.call('down', (disk) => disk.down())
    lost.process?.end('its copy is made anew')
    await lost.renew()
    this.home = kept
    if (kept.disk?.status.connection === 'StandAlone') await kept.connect(false, this.rate_kib)
    await lost.activate(this.rate_kib)
  }

  private async startGuest(): Promise<void> {
    const { home, simulator } = this
    if (this.guest?.isRunning) return
    this.checkBeforeGuest(home)
    await home.call('promote', (disk) => disk.promote(false))
    if (!home.isUp) return
    const guest = new Guest(simulator, simulator.process('guest', home.name), this.memory, (text) =>
      this.complain(text),
    )
    this.guest = guest
    this.last = home
    if (home.missing) home.isUnaware = true
    const died = new Promise<void>((resolve) => guest.process.onEnd(resolve))
    await Promise.race([died, guest.process.run(() => guest.begin(home.socket))])
  }

  /**
   * Notes are kept beside the data. So a node without its volumes takes the other node's data for the newest, and one whose notes could not be
   * written, or were not there, when it went on without its copy, does not know that this is older. An administrator does.
   */
  private checkBeforeGuest(home: MirrorNode): void {
    const { disk, peerDisk } = home.disk?.status ?? {}
    const areWhole = disk === 'UpToDate' && peerDisk === 'UpToDate'
    for (const node of this.nodes) node.isUnaware = node.failing > 0 || (node.isUnaware && !areWhole)
    const used = disk === 'Diskless' ? this.other(home) : home
    if ((disk === 'Diskless' || home.isUnaware) && !this.hasAll(used)) throw new Error('not all data is there')
  }

  private async stopGuest(): Promise<void> {
    const { guest } = this
    guest?.end()
    // Its machine ends it later than it says so.
    await this.job.clock.sleep(this.simulator.between(1, 20))
    guest?.process.end('is stopped')
    this.guest = undefined
  }

  private async demote(node: MirrorNode): Promise<void> {
    const safe = this.memory.confirmed()
    await node.call('demote', (disk) => this.again(() => disk.demote()))
    if (this.faults.haveFailed) return this.memory.doubt()
    for (const one of safe) one()
    this.last = undefined
  }

  /** A guest that has left may not be noticed yet. */
  private async again(work: () => Promise<void>): Promise<void> {
    for (let times = 0; ; times++)
      try {
        return await work()
      } catch (error) {
        if (times > 20 || !String(error).includes('in use')) throw error
        await this.job.clock.sleep(50)
      }
  }

  /** As replace-disks does first; the job dies then. The watcher attaches what is there. */
  private async letGo(node: MirrorNode): Promise<void> {
    const other = this.other(node)
    if (other.disk?.status.disk !== 'UpToDate' || !this.hasAll(other))
      throw new Error('the other node does not have all data')
    await node.call('detach', (disk) => disk.detach())
  }

  private async replace(node: MirrorNode): Promise<void> {
    await this.letGo(node)
    await this.job.clock.sleep(this.simulator.between(0, 500))
    await node.renew()
  }

  private async switchOff(): Promise<void> {
    await this.stopGuest()
    await this.demote(this.home)
    for (const node of this.nodes) await node.call('down', (disk) => this.again(() => disk.down()))
    for (const node of this.nodes) node.process?.end('has no disks')
    // Its data may be away for a while when it is used again.
    if (this.simulator.chance(0.4)) {
      const away = this.some()
      away.missing = true
      this.simulator.after(this.simulator.between(500, 20_000), undefined, () => (away.missing = false))
    }
  }

  /** A failover, to a node that has all data. */
  private async move(): Promise<void> {
    const { home } = this
    const target = this.other(home)
    if (this.guest?.isRunning) await this.stopGuest()
    if (home.isUp) await this.demote(home)
    if (!this.hasAll(target) && target.state !== WHOLE) return
    this.simulator.note('job', `the guest moves to ${target.name}`)
    this.home = target
  }

  private hasAll(node: MirrorNode): boolean {
    return !(node.isUp && node.disk?.status.disk === 'Diskless') && this.keepsAll(node)
  }

  /** Its files have all, whether they are used now or not. */
  private keepsAll(node: MirrorNode): boolean {
    return node.isTrusted && this.memory.lacking(node.peek).length === 0
  }

  /** The guest goes to the other node while it runs. */
  private async migrate(): Promise<void> {
    const { home } = this
    const target = this.other(home)
    const reconnect = async (dual: boolean) => {
      await Promise.all(this.nodes.map((node) => node.call('disconnect', (disk) => disk.disconnect())))
      await Promise.all(this.nodes.map((node) => node.connect(dual, this.rate_kib)))
      await this.untilWhole(20)
    }
    await reconnect(true)
    await target.call('promote', (disk) => disk.promote(false))
    await this.stopGuest()
    // Nobody can tell which of the two has the newest data if the line breaks while both may write. Then the guest does not move.
    if (home.state !== WHOLE || target.state !== WHOLE) throw new Error(`they have parted: ${this.states}`)
    this.home = target
    await this.startGuest()
    await this.demote(home)
    await reconnect(false)
  }

  private async untilWhole(limit_s: number): Promise<void> {
    const { clock } = this.job
    const end_ms = clock.monotonic_ms() + limit_s * 1000
    while (!this.nodes.every(({ state }) => state === WHOLE)) {
      if (clock.monotonic_ms() > end_ms) throw new Error(`they are not whole: ${this.states}`)
      await clock.sleep(100)
    }
  }

  private async reconnect(node: MirrorNode): Promise<void> {
    await node.call('disconnect', (disk) => disk.disconnect())
    await this.job.clock.sleep(this.simulator.between(0, 2000))
    await node.connect(false, this.rate_kib)
  }

  /** A program writes to the file. */
  private async lend(): Promise<void> {
    const { home, memory, simulator } = this
    await this.stopGuest()
    await home.call('lend', (disk) => this.lent(disk.lend()))
    const slots = Array.from({ length: 5 }, () => simulator.random.below(SLOTS))
    const program = simulator.process('program', home.name)
    const write = async () => {
      const file = await home.files.of(program).open(home.data, 'r+')
      for (const slot of new Set(slots)) {
        const bytes = bytesOf(memory.begin(slot, false))
        await file.write(bytes, 0, bytes.length, placeOf(slot)).then(({ bytesWritten }) => {
          if (bytesWritten === bytes.length) memory.confirm(slot)
        })
      }
    }
    await home.call('program', write).finally(() => home.call('give back', (disk) => disk.giveBack()))
  }

  private async lent(file: Promise<string>): Promise<void> {
    await file
  }

  private async goOn(): Promise<void> {
    for (const node of this.nodes) if (node.isUp) await node.call('go on', (disk) => disk.pause(false))
  }

  /** The daemon of one node is switched off and on, and its guest with it. */
  private async restart(node: MirrorNode): Promise<void> {
    if (node === this.home) await this.stopGuest()
    await node.call('down', (disk) => this.again(() => disk.down()))
    // Only the log tells of a flush that fails then, and the kernel may have dropped what it was to write.
    if (node === this.home && this.faults.haveFailed) this.memory.doubt()
    node.process?.end('has no disks')
  }

  /** All is well in the end: the two are alike, and have all that the guest was told to be written. */
  private async heal(): Promise<void> {
    this.rate_kib = 0
    for (let round = 0; round < 20; round++) {
      this.faults.heal()
      await this.attempt('heal', async () => {
        await this.goOn().catch(() => undefined)
        await this.mend()
        // With such a version, copying to the node of a guest does not end while the guest writes.
        if (this.nodes.some(({ disk }) => disk instanceof OlderDisk)) await this.stopGuest()
        await this.untilWhole(30)
        await this.job.clock.sleep(2000)
        await this.stopGuest()
        await this.demote(this.home)
      })
      if (this.nodes.every(({ state }) => state === WHOLE) && this.guest === undefined) return this.checkAtRest()
      await this.job.clock.sleep(3000)
    }
    this.complain(`they do not become alike: ${this.states}`)
  }

  private checkAtRest(): void {
    for (const node of this.nodes)
      for (const text of this.memory.lacking(node.peek)) this.complain(`${node.name}: ${text}`)
    const [one, other] = this.nodes.map((node) => node.peek(0, SIZE))
    if (one === undefined || other?.equals(one) !== true) this.complain('the two copies differ')
  }
}
