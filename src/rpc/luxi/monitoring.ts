// Questions about the monitoring of nodes as they are asked of the master, and what it answers.
import { listOf, orNull } from '../../lib/shapes/containers'
import { bool, int, text } from '../../lib/shapes/leaves'
import { objectOf } from '../../lib/shapes/objects'
import type { Shape } from '../../lib/shapes/shape'
import type { MonitoringFigures, NodeMonitoring } from '../../model/monitoring'

export interface MonitoringRequest {
  /** Names; empty for all nodes. */
  readonly nodes: readonly string[]
  /** Only reports of these categories, and of these collectors; empty for all. */
  readonly categories: readonly string[]
  readonly collectors: readonly string[]
  /** Whether the reports themselves are wanted. */
  readonly reports: boolean
  /** The name of the last node of the page before. */
  readonly after: string | null
  readonly limit: number
}

export interface MonitoringPage {
  readonly items: readonly MonitoredNode[]
  readonly next: string | null
}

/** The reports are a JSON text, which nobody on the way has to read. */
export type MonitoredNode = Required<Omit<NodeMonitoring, 'reports'>> & { readonly reports: string | null }

/** A node in numbers. */
export interface MeasuredNode {
  readonly node: string
  /** Whether it told its reports when it was asked last; null before that. */
  readonly up: boolean | null
  readonly status: number
  readonly age_s: number | null
  readonly clock_ahead_s: number | null
  readonly figures: MonitoringFigures
  /** The codes of the collectors that every node can have. */
  readonly codes: readonly (readonly [category: string, collector: string, code: number])[]
}

const texts = listOf(text)

export const monitoringRequest: Shape<MonitoringRequest> = objectOf(
  { nodes: texts, categories: texts, collectors: texts, reports: bool, after: orNull(text), limit: int },
  { others: 'refused' },
)
