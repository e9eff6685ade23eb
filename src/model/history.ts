// Usage of a node and its instances in the last hours, as monitoring daemons keep it and `/3` shows it: columns of
// equal length.

/** A measured number. @isDouble */
type Measured = number

/** A value for each of the times; null if it was not measured. */
type MeasuredColumn = (Measured | null)[]

/** The last hours of a node. */
export interface NodeHistory {
  /** Seconds from one measurement to the next. @isInt */
  interval_s: number
  /** Times of the measurements, ascending, in seconds since the epoch by the node's clock. */
  times: Measured[]
  /** The load average of a minute. */
  load: MeasuredColumn
  /** Average number of busy processors since the previous time. */
  cpus_busy: MeasuredColumn
  /** All memory that is not available. */
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
  /** Times of the measurements, ascending, in seconds since the epoch by the node's clock. */
  times: Measured[]
  /** Average number of processors that the instance kept busy since the previous time. */
  cpus_busy: MeasuredColumn
  /** The node's memory that the instance uses. */
  memory_bytes: MeasuredColumn
  /**
   * Bytes that its process read and wrote on the node's storage; null if it reaches its disks over the network by
   * itself.
   */
  disk_read_bytes_per_s: MeasuredColumn
  disk_write_bytes_per_s: MeasuredColumn
  /** Bytes that the guest received and sent, over interfaces that the node knows. */
  net_in_bytes_per_s: MeasuredColumn
  net_out_bytes_per_s: MeasuredColumn
}

const TRAFFIC = [
  ...(['disk_read_bytes_per_s', 'disk_write_bytes_per_s'] as const),
  ...(['net_in_bytes_per_s', 'net_out_bytes_per_s'] as const),
] as const

export const NODE_COLUMNS = ['load', 'cpus_busy', 'memory_used_bytes', 'memory_total_bytes', ...TRAFFIC] as const
export const INSTANCE_COLUMNS = ['cpus_busy', 'memory_bytes', ...TRAFFIC] as const

/** A figure as it is, or a rate per second. */
type Figures<N extends string> = Readonly<Partial<Record<N, number>>>
export type NodeFigures = Figures<(typeof NODE_COLUMNS)[number]>
export type InstanceFigures = Figures<(typeof INSTANCE_COLUMNS)[number]>
