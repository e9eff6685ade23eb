// The two sides of a mirrored disk, as two nodes have them, with real files and sockets in a folder of their own.
import * as fs from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import * as os from 'node:os'
import * as path from 'node:path'
import { type Clock, systemClock } from '../../src/lib/clock'
import { type Files, systemFiles } from '../../src/lib/files'
import { silentLog as log } from '../../src/lib/log'
import { systemRandom as random } from '../../src/lib/random'
import type { CommandResult } from '../../src/lib/programs/run-command'
import type { MirrorParts } from '../../src/node/mirror/handshake'
import { MirroredDisk } from '../../src/node/mirror/mirror'
import { writeFreshNotes } from '../../src/node/mirror/notes'
import { eventually } from './hypervisor'
import { NbdClient } from './nbd-client'

export const SIZE = 4 << 20

/** The pauses before a side dials again are most of the time that these tests take. */
export const sooner: Clock = {
  ...systemClock,
  sleep: (delay_ms, signal) => systemClock.sleep(delay_ms / 20, signal),
}

export const ended = (code: number): CommandResult => ({
  ...{ code, signal: null, stdout: '', stderr: '', output: '', timedOut: false },
})

/** As fallocate does it: test/processes has the real one. */
export const fallocate = async ([
  program,
  what,
  ,
  offset,
  ,
  length,
  file = '',
]: readonly string[]): Promise<CommandResult> => {
  expect([program, what]).toEqual(['fallocate', '--punch-hole'])
  const open = fs.openSync(file, 'r+')
  fs.writeSync(open, Buffer.alloc(Number(length)), 0, Number(length), Number(offset))
  fs.closeSync(open)
  return ended(0)
}

/** The file that fallocate is to change, which is named by the descriptor of the process that has it open. */
export const fileOf = (argv: readonly string[]): string => fs.readlinkSync(argv.at(-1) ?? '')

/** What the sides of one test use. */
export class Pair {
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gm-'))
  readonly a: Side
  readonly b: Side
  readonly clients: NbdClient[] = []
  readonly made: MirroredDisk[] = []

  constructor(
    readonly parts: Partial<MirrorParts> = {},
    /** By the name of the side, where it is not the product's. */
    readonly kinds: Readonly<Record<string, typeof MirroredDisk>> = {},
  ) {
    this.a = new Side(this, 'a', 'b')
    this.b = new Side(this, 'b', 'a')
  }

  get sides(): readonly [Side, Side] {
    return [this.a, this.b]
  }

  /** A new disk, whose first side is written to. */
  async begin(rate_kib = 0): Promise<[Side, Side]> {
    const { a, b } = this
    for (const side of this.sides) await side.attach()
    await a.disk.promote(true)
    for (const side of this.sides) await side.connect(false, rate_kib)
    await this.areWhole()
    return [a, b]
  }

  async areWhole(): Promise<void> {
    await Promise.all(this.sides.map((side) => side.is('Connected UpToDate/UpToDate')))
  }

  /** What both have, byte by byte. */
  get areAlike(): boolean {
    const [one, other] = this.sides.map(({ data }) => fs.readFileSync(data)) as [Buffer, Buffer]
    return one.equals(other)
  }

  async end(): Promise<void> {
    for (const client of this.clients.splice(0)) client.close()
    for (const disk of this.made.splice(0)) {
      await disk.giveBack().catch(() => undefined)
      await eventually(() => done(disk.down()))
    }
    fs.rmSync(this.folder, { recursive: true })
  }
}

/** One node's. */
export class Side {
  disk: MirroredDisk
  /** What becomes of calls to the open files of this node. By itself the file does what it is asked. */
  readonly faults: { data: Faults; meta: Faults } = { data: {}, meta: {} }

  constructor(
    private readonly pair: Pair,
    readonly name: string,
    readonly peer: string,
  ) {
    for (const [file, size] of [
      [this.data, SIZE],
      [this.meta, 1 << 20],
    ] as const) {
      fs.writeFileSync(file, '')
      fs.truncateSync(file, size)
    }
    this.disk = this.made()
  }

  private place = (what: string): string => path.join(this.pair.folder, what)
  get data(): string {
    return this.place(`${this.name}.data`)
  }
  get meta(): string {
    return this.place(`${this.name}.meta`)
  }

  private made(): MirroredDisk {
    const open = async (file: string, flags: string): Promise<FileHandle> =>
      faulty(await systemFiles.open(file, flags), () => (file === this.data ? this.faults.data : this.faults.meta))
    const files = { ...systemFiles, open: open as Files['open'] }
    const parts = { run: fallocate, clock: sooner, random, log, ...this.pair.parts, files }
    const disk = new (this.pair.kinds[this.name] ?? MirroredDisk)(parts, this.place(`${this.name}.sock`))
    this.pair.made.push(disk)
    return disk
  }

  forget = (): Promise<void> => writeFreshNotes(systemFiles, this.meta)
  attach = (size = SIZE): Promise<void> => this.disk.attach({ data: this.data, meta: this.meta }, size)
  connect = (dual = false, rate_kib = 0): Promise<void> =>
    this.disk.connect({
      ...{ local: this.place(`${this.name}.link`), remote: this.place(`${this.peer}.link`) },
      ...{ secret: 's', dual, rate_kib },
    })

  /** The process dies, and is started again: nothing is written down on the way. */
  async crash(): Promise<void> {
    await this.disk.disconnect()
    this.disk = this.made()
  }

  /** As a node that starts. */
  async begin(): Promise<void> {
    await this.attach()
    await this.connect()
  }

  /** As a node that is switched off. A guest that has left may not be noticed yet. */
  leave = async (): Promise<void> => void (await eventually(() => done(this.disk.down())))

  /** Changes the data without anybody's knowledge. */
  scribble = (offset: number, text: string): void => {
    const open = fs.openSync(this.data, 'r+')
    fs.writeSync(open, text, offset)
    fs.closeSync(open)
  }

  async open(): Promise<NbdClient> {
    const client = await NbdClient.open(this.place(`${this.name}.sock`))
    this.pair.clients.push(client)
    return client
  }

  holds = (offset: number, text: string): boolean => this.text(offset, text.length) === text
  text = (offset: number, length: number): string =>
    fs.readFileSync(this.data).toString('latin1', offset, offset + length)

  is = (state: string, what = this.disk): Promise<true> =>
    eventually(
      () => `${what.status.connection} ${what.status.disk}/${what.status.peerDisk}` === state || undefined,
      60,
      () => `${state} at ${this.name}, which is ${JSON.stringify(what.status)}`,
    )
}

/** In place of a call of the file. */
export type Faults = Partial<Record<'write' | 'read' | 'datasync', (handle: FileHandle, ...args: never[]) => unknown>>

const faulty = (handle: FileHandle, faults: () => Faults): FileHandle =>
  new Proxy(handle, {
    get(target, name: keyof Faults) {
      const own: unknown = target[name]
      if (typeof own !== 'function') return own
      const ownCall = own as (...args: unknown[]) => unknown
      return (...args: unknown[]) => {
        const fault = faults()[name] as ((...all: unknown[]) => unknown) | undefined
        return fault === undefined ? ownCall.apply(target, args) : fault(target, ...args)
      }
    },
  })

const ioError = (): Promise<never> => Promise.reject(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }))

/** As a disk that breaks. */
export const BROKEN: Faults = { write: ioError, datasync: ioError }
export const NO_WRITE: Faults = { write: ioError }
export const NO_FLUSH: Faults = { datasync: ioError }
/** As a file system that gets full, or a limit: each call does a part of what it is asked. */
export const inParts = (most: number): Faults => ({
  write: (handle, bytes: Buffer, offset: number, length: number, position: number) =>
    handle.write(bytes, offset, Math.min(length, most), position),
  read: (handle, bytes: Buffer, offset: number, length: number, position: number) =>
    handle.read(bytes, offset, Math.min(length, most), position),
})

/** A guest that has left may not be noticed yet. */
export const done = (work: Promise<void>): Promise<true | undefined> =>
  work.then(
    () => true as const,
    () => undefined,
  )
