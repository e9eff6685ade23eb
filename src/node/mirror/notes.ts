// What one side of a mirrored disk remembers besides the data: its generations, whether its data is complete, and which blocks the other
// side lacks. The notes are in a file of their own. Two slots in it are written in turn, so that one is intact whenever the process dies.
import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { readAll, writeAll } from '../../lib/file/ranges'
import type { Files } from '../../lib/files'
import { isObject } from '../../lib/shapes/shape'
import type { Generations } from './resync-decision'

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
/** Where the marks of `marks.ts` begin. */
export const MARKS_AT = 2 * SLOT

/** Why a node may not write. The reason may pass when the other node connects. */
export const NOT_ALL_DATA = 'this node does not have all data'
/** Why a copy cannot be used: nobody knows what it lacks. */
export const NO_NOTES = 'holds no notes of a mirrored disk'
const HISTORY_MAX = 8

const freshNotes = (size_bytes: number): Notes => ({
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
