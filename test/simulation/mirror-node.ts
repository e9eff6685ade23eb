// A node with one side of a mirrored disk, as the product's process of mirrors has it, on simulated files and sockets.
import type { Log } from '../../src/lib/log'
import { MirroredDisk } from '../../src/node/mirror/mirror'
import { type Notes, writeFreshNotes } from '../../src/node/mirror/notes'
import { OlderDisk } from '../support/older-mirror'
import { SIZE } from './mirror-guest'
import type { SimFiles } from './sim-files'
import type { SimProcess, Simulator } from './simulator'

const META_SIZE = 64 << 10
/** Seconds after which a call hangs. It may wait for copies, and for a node that does not answer. */
const HANGS_S = 300

export class MirrorNode {
  process: SimProcess | undefined
  disk: MirroredDisk | undefined
  /** Its volumes are not found. */
  missing = false
  /** It may have gone on without its copy, and could not note that. */
  isUnaware = false
  /** How many faults of the file with the notes last. */
  failing = 0
  readonly socket: string
  readonly data: string
  readonly meta: string
  private replaced = 0

  constructor(
    private readonly simulator: Simulator,
    readonly files: SimFiles,
    readonly name: string,
    private readonly peer: string,
    private readonly log: Log,
  ) {
    this.socket = `/${name}/sock`
    this.data = `/${name}/data`
    this.meta = `/${name}/meta`
  }

  get isUp(): boolean {
    return this.process?.alive === true
  }

  get state(): string {
    if (!this.isUp || this.disk === undefined) return 'not there'
    const { connection, disk, peerDisk } = this.disk.status
    return `${connection} ${disk}/${peerDisk}`
  }

  /** Lets the disk do something. Rejects when its process dies meanwhile. */
  call<T>(what: string, work: (disk: MirroredDisk) => Promise<T>): Promise<T> {
    const { process, disk } = this
    if (process?.alive !== true || disk === undefined) return Promise.reject(new Error(`${this.name} is not there`))
    return this.within(process, what, () => work(disk))
  }

  /** The volumes are new, and so are their notes. */
  async renew(): Promise<void> {
    for (const [file, size] of [
      [this.data, SIZE],
      [this.meta, META_SIZE],
    ] as const) {
      if (this.files.has(file)) this.files.rename(file, `${file}.${++this.replaced}`)
      this.files.make(file, size)
    }
    const process = this.simulator.process(`noded@${this.name}`, this.name)
    await this.within(process, 'fresh notes', () => writeFreshNotes(this.files.of(process), this.meta))
    process.end('is done')
  }

  start(): void {
    if (this.isUp) return
    const process = this.simulator.process(`mirrors@${this.name}`, this.name)
    const { clock } = process
    const { simulator, files, log } = this
    this.process = process
    const parts = { files: files.of(process), run: files.run, clock, random: simulator.random, log }
    // Nodes get new versions one after the other.
    const Kind = simulator.chance(0.15) ? OlderDisk : MirroredDisk
    this.disk = process.run(() => new Kind(parts, this.socket))
  }

  /** As `assemble` of the product's driver. */
  async activate(rate_kib: number): Promise<void> {
    this.start()
    const { data, connection } = this.disk?.status ?? {}
    if (data === undefined && !this.missing)
      await this.call('attach', (disk) => disk.attach({ data: this.data, meta: this.meta }, SIZE))
    if (connection === 'StandAlone') await this.connect(false, rate_kib)
  }

  connect(dual: boolean, rate_kib: number): Promise<void> {
    const [local, remote] = [`/links/${this.name}`, `/links/${this.peer}`]
    return this.call('connect', (disk) => disk.connect({ local, remote, secret: 's', dual, rate_kib }))
  }

  /** Its notes trust the data. */
  get isTrusted(): boolean {
    const slots = [0, 4096].flatMap((at) => {
      const [, notes] = /^[0-9a-f]{40} (.*)\n/.exec(this.files.peek(this.meta, at, 4096).toString('utf8')) ?? []
      return notes === undefined ? [] : (JSON.parse(notes) as Notes)
    })
    return slots.toSorted((a, b) => b.sequence - a.sequence)[0]?.consistent === true
  }

  /** What the file has now, whatever anybody says. */
  peek = (offset: number, length: number): Buffer => this.files.peek(this.data, offset, length)

  private within<T>(process: SimProcess, what: string, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const forget = process.onEnd(() => reject(new Error(`${this.name} died: ${what}`)))
      const late = () => reject(new Hangs(`${what} on ${this.name} hangs, which is ${this.state}`))
      const timer = this.simulator.after(HANGS_S * 1000, undefined, late)
      const end = () => {
        forget()
        timer.cancel()
      }
      process.run(() => void work().finally(end).then(resolve, reject))
    })
  }
}

export class Hangs extends Error {}
