// How much a copy of the configuration has: candidates tell the master, which compares.
import { FORKS_KEPT_MAX } from '../model/limits/config'
import type { Documents, GantryData } from '../model/config'
import { withGantryValue } from './gantry'

/**
 * Where one history ends and another one begins: with a new master, with files that a person has taken, or with a master
 * that starts without knowing what a candidate has: it may have lost changes. `serial` is the last number of the ended
 * one, and `id` names the new one.
 */
export type Fork = readonly [id: string, serial: number]

export interface ConfigStatus {
  readonly config_serial: number
  readonly gantry_serial: number
  /** Oldest first. The last one begins the copy's own history. */
  readonly forks: readonly Fork[]
  /** The master's uuid. */
  readonly master: string
}

/** The place in gantry.data. */
export const FORKS = ['store', 'forks'] as const

export function forksOf(gantry: Pick<GantryData, 'sections'>): Fork[] {
  const value = gantry.sections[FORKS[0]]?.[FORKS[1]]
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isFork) : []
}

const isFork = (value: unknown): value is Fork =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && typeof value[1] === 'number'

/** The documents' gantry.data, with the beginning of a new history that follows them. */
export const forked = (documents: Documents, id: string): GantryData =>
  withGantryValue(documents.gantry, ...FORKS, forksWith(documents, id))

export const forksWith = ({ config, gantry }: Documents, id: string): Fork[] =>
  [...forksOf(gantry), [id, config.serial_no] as const].slice(-FORKS_KEPT_MAX)

export const statusOf = ({ config, gantry }: Documents): ConfigStatus => ({
  config_serial: config.serial_no,
  gantry_serial: gantry.serial_no,
  forks: forksOf(gantry),
  master: config.cluster.master_node,
})

/** What another copy has and the own one lacks. */
export interface Surplus {
  readonly text: string
  /** The own copy is of a later history, which goes on without this. */
  readonly isFormer: boolean
}

/** Serial numbers count changes within one history only. */
export function surplus(own: ConfigStatus, other: ConfigStatus): Surplus | undefined {
  const end = endOf(other.forks.at(-1)?.[0], own.forks)
  if (end !== undefined) {
    const text = `config.data with serial number ${other.config_serial} of a history that has ended at ${end}`
    return other.config_serial > end ? { text, isFormer: true } : undefined
  }
  const behind = [
    ['config.data', own.config_serial, other.config_serial] as const,
    ['gantry.data', own.gantry_serial, other.gantry_serial] as const,
  ].filter(([, here, there]) => here < there)
  if (behind.length === 0) return undefined
  const text = behind.map(([file, here, there]) => `${file} with serial number ${there} (here: ${here})`).join(' and ')
  // Earlier versions have noted no change of the master.
  return { text, isFormer: other.master !== own.master }
}

/** The last serial number of a history that another one follows; undefined if it goes on, or is not known. */
export function endOf(history: string | undefined, forks: readonly Fork[]): number | undefined {
  const begins = forks.findIndex(([id]) => id === history)
  return begins < 0 && history !== undefined ? undefined : forks[begins + 1]?.[1]
}
