// Everything that queries read, passed in by the engine's caller.
import type { ConfigData } from '../model/config'
import type { NodeUuid } from '../model/ids'
import type { WireOpCode } from '../rpc/luxi/calls'
import type { LiveData } from './live-data'

/** The data that a query reads. Only the parts for the requested resource must exist. */
export interface QuerySource {
  readonly config: ConfigData
  readonly live: LiveData
  readonly jobs?: JobReader
  readonly locks?: LockReader
  readonly cluster?: ClusterFacts
  readonly heard?: Heard
  /** Present if the caller sees only some objects. */
  readonly unseen?: Unseen
}

/** Whether there are instances that the caller does not see. */
export interface Unseen {
  /** With this primary node. */
  primary(node: string): boolean
  secondary(node: string): boolean
  /** On any node of the group. */
  group(group: string): boolean
}

/** When nodes last answered, in milliseconds since the epoch; undefined if one never did. */
export interface Heard {
  /** The last list of its running instances. */
  runningSeen_ms(node: NodeUuid): number | undefined
  /** The older of that and the node's last answer about itself. */
  seen_ms(node: NodeUuid): number | undefined
}

type Timestamp = readonly [seconds: number, microseconds: number]

/** Facts about a job that are known without its file. */
export interface JobOutline {
  readonly id: number
  readonly ops: readonly OpOutline[]
  readonly received_timestamp?: Timestamp | null
  readonly start_timestamp?: Timestamp | null
  readonly end_timestamp?: Timestamp | null
  readonly status: string
  readonly priority: number
  readonly archived: boolean
  /** The first objects that its opcodes name, as `instance/vm1`. */
  readonly objects: readonly string[]
  /** Ids of the tokens of its submitters. */
  readonly tokens: readonly string[]
}

/** A job as its file has it (config-schema.json, queued_job), plus what the queue derives from it. */
export interface JobView extends Omit<JobOutline, 'ops'> {
  readonly ops: readonly OpView[]
}

interface OpState {
  readonly status: string
  readonly priority: number
  readonly start_timestamp?: Timestamp | null
  readonly exec_timestamp?: Timestamp | null
  readonly end_timestamp?: Timestamp | null
}

export interface OpOutline extends OpState {
  readonly OP_ID: string
  readonly summary: string
}

export interface OpView extends OpState {
  readonly input: WireOpCode
  readonly result: unknown
  readonly log?: readonly unknown[]
}

export interface JobReader {
  /** Every job of the queue, and on request the newest ones of the archive. */
  all(options: { archived: boolean }): Promise<readonly JobOutline[]>
  /** A job of the queue, as far as it is known without its file. */
  known(id: number): JobOutline | undefined
  /** One job of the queue or the archive. */
  one(id: number): Promise<JobView | undefined>
}

export interface LockView {
  readonly name: string
  readonly mode: 'shared' | 'exclusive' | null
  /** JSON text of each holder: job 5 is `5`, another client its name in quotes. */
  readonly owner: readonly string[]
  readonly pending: readonly (readonly [mode: string, owners: readonly string[]])[]
}

export interface LockReader {
  locks(): Promise<readonly LockView[]>
}

export interface ClusterFacts {
  readonly drained: boolean
  /** Seconds since the epoch, null when the watcher is not paused. */
  readonly watcherPause: number | null
  /** [word size, machine], as `["64bit", "x86_64"]`. */
  readonly architecture: readonly [string, string]
}
