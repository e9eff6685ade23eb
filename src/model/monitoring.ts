// What the cluster's nodes report of themselves, as /3 has it.

/** A report of a collector, as the node's monitoring daemon tells it. */
export interface MonitoringReport {
  name: string
  /** `B` for a collector that is built in, `P` for a plugin. */
  version: string
  /** @isInt */
  format_version: number
  /** When it was seen, in nanoseconds since the epoch by the node's clock. @isDouble */
  timestamp: number
  /** null for the category `default`. */
  category: string | null
  /** 0 for figures, 1 for a status. @isInt */
  kind: number
  /** Its shape depends on the collector; data that cannot be collected have an `error`. */
  data: unknown
}

/** Something that is not as it should be. */
export interface MonitoringProblem {
  /** The collector that reports it; null where the node's answer or its clock is the problem. */
  collector: string | null
  category: string | null
  /** 1: bad but healing, 2: unknown, 4: bad. @isInt */
  code: number
  message: string
}

/** The storage of a node that has the smallest share of free room. */
export interface FullestStorage {
  name: string
  /** @isDouble */
  size_bytes: number
  /** @isDouble */
  free_bytes: number
}

/** Figures of a node as it told them last; null where it tells none. */
export interface MonitoringFigures {
  /** The load average of the last minute. @isDouble */
  load: number | null
  /** Processors that were at work on average, over ten minutes. @isDouble */
  cpu_load: number | null
  /** @isInt */
  cpus: number | null
  /** @isDouble */
  memory_total_bytes: number | null
  /** Free, or free when somebody needs it. @isDouble */
  memory_free_bytes: number | null
  storage: FullestStorage | null
}

/** The fields of a node's monitoring that were asked for. */
export interface NodeMonitoring {
  node?: string
  /**
   * `reports`: it told its reports. `offline`: it is marked so, and was not asked. `silent`: it did not answer in time. `refused`: no
   * monitoring daemon listens there, or it refuses. `bad`: its answer is not a list of reports.
   */
  answer?: 'reports' | 'offline' | 'silent' | 'refused' | 'bad'
  /** The worst code of `problems`, 0 without any; null for a node that is marked offline. @isInt */
  status?: number | null
  problems?: MonitoringProblem[]
  figures?: MonitoringFigures
  /** Seconds since the figures were measured, the oldest of them; null before it told any. @isDouble */
  age_s?: number | null
  /** Seconds by which the node's clock is ahead of the master's, below 0 when it is behind; null where the node did not tell. @isDouble */
  clock_ahead_s?: number | null
  /** null where the node told none. */
  reports?: MonitoringReport[] | null
}

export const MONITORING_FIELDS = [
  ...['node', 'answer', 'status', 'problems', 'figures', 'age_s', 'clock_ahead_s', 'reports'],
] as const satisfies readonly (keyof NodeMonitoring)[]
