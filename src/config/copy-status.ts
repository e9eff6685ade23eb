// How much a copy of the configuration has: candidates tell the master, which compares.
import { isObject } from '../lib/shapes/shape'
import type { Documents } from '../model/config'

export interface ConfigStatus {
  readonly config_serial: number
  readonly gantry_serial: number
  /** When a person last said that the files of the master are right; 0 if never. */
  readonly taken_ms: number
  /** The master's uuid. */
  readonly master: string
}

/** When a person said that the files of the configuration are right as they are, in milliseconds. */
export const TAKEN = { section: 'store', key: 'taken' } as const

/** 0 if nobody ever did. */
export function takenAt(sections: Readonly<Record<string, unknown>>): number {
  const section = sections[TAKEN.section]
  return isObject(section) ? Number(section[TAKEN.key] ?? 0) : 0
}

export const statusOf = ({ config, gantry }: Documents): ConfigStatus => ({
  config_serial: config.serial_no,
  gantry_serial: gantry.serial_no,
  taken_ms: takenAt(gantry.sections),
  master: config.cluster.master_node,
})
