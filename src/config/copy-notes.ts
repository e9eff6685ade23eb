// Notes in gantry.data of copies of the configuration that were not believed, or that have more than the master's. They
// become events, which people read.
import { COPY_NOTES_KEPT_MAX } from '../model/limits/config'
import type { GantryData } from '../model/config'
import { isObject } from '../lib/shapes/shape'

export interface CopyNote {
  /** Seconds since the epoch. */
  readonly time: number
  /** The name of the node that has the copy. */
  readonly node: string
  readonly text: string
}

/** The section of gantry.data. Its keys are numbers, which rise. */
export const COPY_NOTES = 'copies'

export const copyNotes = (section: Readonly<Record<string, unknown>> = {}): CopyNote[] =>
  Object.values(section).filter(isNote)

const isNote = (value: unknown): value is CopyNote =>
  isObject(value) && typeof value['time'] === 'number' && typeof value['node'] === 'string' && typeof value['text'] === 'string' // prettier-ignore

/** The values of the section that add the note. The oldest ones go. */
export function noting(gantry: GantryData, note: CopyNote): (readonly [key: string, note: CopyNote | null])[] {
  const keys = Object.keys(gantry.sections[COPY_NOTES] ?? {})
    .map(Number)
    .sort((a, b) => a - b)
  const gone = keys.slice(0, Math.max(0, keys.length + 1 - COPY_NOTES_KEPT_MAX))
  return [...gone.map((key) => [String(key), null] as const), [String((keys.at(-1) ?? 0) + 1), note]]
}
