// The parts that several configuration objects share.

/** Hypervisor, OS or disk parameters: a free dictionary of scalars (root_path and the like may be null). */
export type ParamValue = string | number | boolean | null
export type Params = Readonly<Record<string, ParamValue>>

/** The values that an OS script gets as OSP_NAME. */
export type OsParams = Readonly<Record<string, string>>

/** When an object was made and last changed, in seconds since the epoch, and how often it changed. */
export interface Stamped {
  readonly ctime: number
  readonly mtime: number
  readonly serial_no: number
}

export interface Tagged {
  /** A set: sorted in the file. */
  readonly tags: readonly string[]
}

/** `{hypervisor: {...}}`; only Ganeti uses it. */
export type StaticState = Readonly<Record<string, unknown>>
