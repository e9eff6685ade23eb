// Questions about the nodes' monitoring to the master, and its answers.
import { listOf, orNull } from '../../lib/shapes/containers'
import { bool, int, text } from '../../lib/shapes/leaves'
import { objectOf } from '../../lib/shapes/objects'
import type { Shape } from '../../lib/shapes/shape'
import type { MonitoringFigures, NodeMonitoring } from '../../model/monitoring'

export interface MonitoringRequest {
  /** Names; empty for all nodes. */
  readonly nodes: readonly string[]
  /** Only reports of these categories and collectors; empty for all. */
  readonly categories: readonly string[]
  readonly collectors: readonly string[]
  /** Whether to include the reports themselves. */
  readonly reports: boolean
  /** The name of the previous page's last node. */
  readonly after: string | null
  readonly limit: number
}

export interface MonitoringPage {
  readonly items: readonly MonitoredNode[]
  readonly next: string | null
}

/** The reports are a JSON text, which is passed on unread. */
export type MonitoredNode = Required<Omit<NodeMonitoring, 'reports'>> & { readonly reports: string | null }

/** A node's figures. */
export interface MeasuredNode {
  readonly node: string
  /** Whether it returned its reports the last time; null before the first time. */
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
