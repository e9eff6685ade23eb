// What a node and its instances were busy with in the last hours, as monitoring daemons keep it and as /3 has it: columns of equal length.

/** What was measured. @isDouble */
type Measured = number

/** A figure at each of the times; null where it was not measured. */
type MeasuredColumn = (Measured | null)[]

/** The last hours of a node. */
export interface NodeHistory {
  /** Seconds from one measurement to the next. @isInt */
  interval_s: number
  /** When it was measured, in seconds since the epoch by the node's clock, in ascending order. */
  times: Measured[]
  /** The load average of a minute. */
  load: MeasuredColumn
  /** Processors that were at work on average since the time before. */
  cpus_busy: MeasuredColumn
  /** All but what is free when somebody needs it. */
  memory_used_bytes: MeasuredColumn
  memory_total_bytes: MeasuredColumn
  /** All disks together. */
  disk_read_bytes_per_s: MeasuredColumn
  disk_write_bytes_per_s: MeasuredColumn
  /** All network interfaces with a device together. */
  net_in_bytes_per_s: MeasuredColumn
  net_out_bytes_per_s: MeasuredColumn
}

/** The last hours of an instance on one node. Times at which it did not run there are missing. */
export interface InstanceHistory {
  /** Seconds from one measurement to the next. @isInt */
  interval_s: number
  /** When it was measured, in seconds since the epoch by the node's clock, in ascending order. */
  times: Measured[]
  /** Processors that it kept at work on average since the time before. */
  cpus_busy: MeasuredColumn
  /** What it takes of the node's memory. */
  memory_bytes: MeasuredColumn
  /** What its process had the node's storage read and write; null where that reaches its disks over the network by itself. */
  disk_read_bytes_per_s: MeasuredColumn
  disk_write_bytes_per_s: MeasuredColumn
  /** What came to the guest and what it sent, over interfaces that the node knows. */
  net_in_bytes_per_s: MeasuredColumn
  net_out_bytes_per_s: MeasuredColumn
}

const TRAFFIC = [
  ...(['disk_read_bytes_per_s', 'disk_write_bytes_per_s'] as const),
  ...(['net_in_bytes_per_s', 'net_out_bytes_per_s'] as const),
] as const

export const NODE_COLUMNS = ['load', 'cpus_busy', 'memory_used_bytes', 'memory_total_bytes', ...TRAFFIC] as const
export const INSTANCE_COLUMNS = ['cpus_busy', 'memory_bytes', ...TRAFFIC] as const

/** A figure that is told as it is, or what was done per second. */
export type Figures<N extends string> = Readonly<Partial<Record<N, number>>>
export type NodeFigures = Figures<(typeof NODE_COLUMNS)[number]>
export type InstanceFigures = Figures<(typeof INSTANCE_COLUMNS)[number]>
