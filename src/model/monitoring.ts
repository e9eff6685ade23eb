// Reports of the cluster's nodes about themselves, as `/3` shows them.

/** A report of a collector, as the node's monitoring daemon returns it. */
export interface MonitoringReport {
  name: string
  /** `B` for a built-in collector, `P` for a plugin. */
  version: string
  /** @isInt */
  format_version: number
  /** When it was collected, in nanoseconds since the epoch by the node's clock. @isDouble */
  timestamp: number
  /** null for the category `default`. */
  category: string | null
  /** 0 for figures, 1 for a status. @isInt */
  kind: number
  /** Its shape depends on the collector. A failed collection has an `error`. */
  data: unknown
}

/** A problem of a node. */
export interface MonitoringProblem {
  /** The collector that reports it; null if the node's answer or its clock is the problem. */
  collector: string | null
  category: string | null
  /** 1: bad but healing, 2: unknown, 4: bad. @isInt */
  code: number
  message: string
}

/** The storage of a node with the smallest share of free room. */
export interface FullestStorage {
  name: string
  /** @isDouble */
  size_bytes: number
  /** @isDouble */
  free_bytes: number
}

/** The last figures of a node; null if it reports none. */
export interface MonitoringFigures {
  /** The load average of the last minute. @isDouble */
  load: number | null
  /** Average number of busy processors over ten minutes. @isDouble */
  cpu_load: number | null
  /** @isInt */
  cpus: number | null
  /** @isDouble */
  memory_total_bytes: number | null
  /** Memory that is free or can be freed on demand. @isDouble */
  memory_free_bytes: number | null
  storage: FullestStorage | null
}

/** The requested fields of a node's monitoring. */
export interface NodeMonitoring {
  node?: string
  /**
   * `reports`: it returned its reports. `offline`: it is marked so, and was not asked. `silent`: it did not answer in
   * time. `refused`: no monitoring daemon listens there, or it refuses. `bad`: its answer is not a list of reports.
   */
  answer?: 'reports' | 'offline' | 'silent' | 'refused' | 'bad'
  /** The worst code of `problems`, 0 without any; null for a node that is marked offline. @isInt */
  status?: number | null
  problems?: MonitoringProblem[]
  figures?: MonitoringFigures
  /** Age of the oldest figure in seconds; null before the first figures. @isDouble */
  age_s?: number | null
  /**
   * Seconds by which the node's clock is ahead of the master's, below 0 if it is behind; null if the node did not
   * answer. @isDouble
   */
  clock_ahead_s?: number | null
  /** null if the node returned none. */
  reports?: MonitoringReport[] | null
}

export const MONITORING_FIELDS = [
  ...['node', 'answer', 'status', 'problems', 'figures', 'age_s', 'clock_ahead_s', 'reports'],
] as const satisfies readonly (keyof NodeMonitoring)[]
