// gantry.data: our own data beside Ganeti's configuration, as named sections of keyed JSON values.
import type { GantryData } from '../model/config'
import { recordSet, recordSize } from './records'

/** The value of a key, or undefined. */
export const gantryValue = (gantry: GantryData, section: string, key: string): unknown =>
  gantry.sections[section]?.[key]

/** Sets a key; null or undefined removes it. A section disappears with its last key. */
export function withGantryValue(gantry: GantryData, section: string, key: string, value: unknown): GantryData {
  const before = gantry.sections[section] ?? {}
  const after = recordSet(before, key, value ?? undefined)
  if (after === before) return gantry
  if (recordSize(after) > 0) return { ...gantry, sections: { ...gantry.sections, [section]: after } }
  const { [section]: _empty, ...rest } = gantry.sections
  return { ...gantry, sections: rest }
}
