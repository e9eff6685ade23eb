// What one side of a mirrored disk remembers besides the data: its generations, whether its data is complete, and which blocks the other
// side lacks. The notes are in a file of their own. Two slots in it are written in turn, so that one is intact whenever the process dies.
import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { readAll, writeAll } from '../../lib/file-ranges'
import type { Files } from '../../lib/files'
import { isObject } from '../../lib/shapes/shape'
import type { Generations } from './verdict'

export interface Notes extends Generations {
  /** The number of changes so far. The slot with the higher number counts. */
  readonly sequence: number
  readonly size_bytes: number
  readonly consistent: boolean
  /** This node may be writing to the disk now. */
  readonly primary: boolean
  readonly crashed: boolean
}

const SLOT = 4096
const MARKS_AT = 2 * SLOT
/** The size of a block in bytes. Notes are kept for whole blocks. */
export const BLOCK = 64 << 10

/** Why a node may not write. The reason may pass when the other node connects. */
export const NOT_ALL_DATA = 'this node does not have all data'
const HISTORY_MAX = 8

export const freshNotes = (size_bytes: number): Notes => ({
  ...{ sequence: 0, size_bytes, current: '', base: '', history: [] },
  ...{ consistent: false, primary: false, crashed: false },
})

/** Changes the notes before the first write that the other side does not get. */
export function withNewGeneration(notes: Notes, generation: string): Notes {
  const { current, base, history } = notes
  if (base === '') return { ...notes, base: current, current: generation }
  return { ...notes, current: generation, history: [current, ...history].slice(0, HISTORY_MAX) }
}

/** Changes the notes when the other side has all data that this one has. */
export function withoutBase(notes: Notes): Notes {
  const { base, history } = notes
  return {
    ...notes,
    base: '',
    history: base === '' ? history : [base, ...history].slice(0, HISTORY_MAX),
    crashed: false,
  }
}

/** Changes the notes when nothing that the copy holds is to be trusted: it gets all data of the other side. */
export const withoutGeneration = (notes: Notes): Notes => ({
  ...notes,
  ...{ consistent: false, current: '', base: '', history: [] },
})

/** Discards everything that was in the file. */
export async function writeFreshNotes(files: Files, file: string): Promise<void> {
  const { size } = await files.stat(file)
  const handle = await files.open(file, 'r+')
  try {
    await handle.truncate(0)
    await handle.truncate(size)
    await writeNotes(handle, freshNotes(0))
  } finally {
    await handle.close()
  }
}

export async function writeNotes(handle: FileHandle, notes: Notes): Promise<void> {
  const body = JSON.stringify(notes)
  const slot = Buffer.alloc(SLOT)
  slot.write(`${digest(body)} ${body}\n`)
  await writeAll(handle, slot, (notes.sequence % 2) * SLOT)
  await handle.datasync()
}

/** Undefined if no slot of the notes is intact. */
export async function readNotes(handle: FileHandle): Promise<Notes | undefined> {
  const slots = await Promise.all([0, 1].map((at) => readSlot(handle, at)))
  return slots.flatMap((notes) => notes ?? []).toSorted((a, b) => b.sequence - a.sequence)[0]
}

async function readSlot(handle: FileHandle, at: number): Promise<Notes | undefined> {
  const slot = await readAll(handle, SLOT, at * SLOT)
  const [, sum, body] = /^([0-9a-f]{40}) (.*)\n/.exec(slot.toString('utf8')) ?? []
  if (body === undefined || sum !== digest(body)) return undefined
  const notes: unknown = JSON.parse(body)
  return isObject(notes) ? (notes as unknown as Notes) : undefined
}

const digest = (text: string): string => createHash('sha1').update(text).digest('hex')

/**
 * The blocks that the other side lacks. A mark is on the disk before the data is written. Marks are cleared on the disk only after the
 * whole copy.
 */
export class Marks {
  private constructor(
    private readonly handle: FileHandle,
    private bits: Buffer,
    /** The number of marks. */
    private set: number,
  ) {}

  static async read(handle: FileHandle, size_bytes: number): Promise<Marks> {
    const length = Math.ceil(Math.ceil(size_bytes / BLOCK) / 8)
    // A file that is shorter has no marks there.
    const bits = Buffer.concat([await readAll(handle, length, MARKS_AT)], length)
    return new Marks(handle, bits, countBits(bits))
  }

  get count(): number {
    return this.set
  }

  has = (block: number): boolean => ((this.bits[block >> 3] ?? 0) & (1 << (block & 7))) !== 0

  /** The marks are on the disk when this resolves. */
  async add(start: number, end: number): Promise<void> {
    const [first, last] = [Math.floor(start / BLOCK), Math.floor((end - 1) / BLOCK)]
    let changed = false
    for (let block = first; block <= last; block++) {
      if (this.has(block)) continue
      this.bits.writeUInt8((this.bits[block >> 3] ?? 0) | (1 << (block & 7)), block >> 3)
      this.set++
      changed = true
    }
    if (changed) await this.write(first >> 3, (last >> 3) + 1)
  }

  /** Clears the mark in memory only. An interrupted copy starts again from the marks on the disk. */
  drop(block: number): void {
    if (!this.has(block)) return
    this.bits.writeUInt8((this.bits[block >> 3] ?? 0) & ~(1 << (block & 7)), block >> 3)
    this.set--
  }

  async clear(): Promise<void> {
    this.bits.fill(0)
    this.set = 0
    await this.write(0, this.bits.length)
  }

  /** The new blocks need no marks: nobody has written to them, so they are equal on both sides. */
  grow(size_bytes: number): void {
    const length = Math.ceil(Math.ceil(size_bytes / BLOCK) / 8)
    if (length > this.bits.length) this.bits = Buffer.concat([this.bits, Buffer.alloc(length - this.bits.length)])
  }

  private async write(from: number, to: number): Promise<void> {
    await writeAll(this.handle, this.bits.subarray(from, to), MARKS_AT + from)
    await this.handle.datasync()
  }
}

function countBits(bits: Buffer): number {
  let count = 0
  for (const byte of bits) for (let rest = byte; rest > 0; rest >>= 1) count += rest & 1
  return count
}
