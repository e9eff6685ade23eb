// Requests of /3 for the last hours of instances and nodes.
import { badRequest } from '../../../../http/errors'
import { Get, Path, Query, Route, Security, Tags } from '../../../../http/decorators'
import { timeOf } from '../../../../lib/text/rfc3339'
import type { InstanceHistory, NodeHistory } from '../../../../model/history'
import { instanceMetricsShape, nodeMetricsShape } from '../../../../query/object-shapes'
import { V3Resource } from './resource'

/** The last hours of a node: a column for each figure, with one value for each time. */
export interface NodeMetrics extends Omit<NodeHistory, 'times'> {
  /** When the values were measured, in ascending order. */
  times: string[]
}

/** A node that has a part of an instance's last hours, but did not send it. */
interface MissingMetrics {
  node: string
  why: string
}

/**
 * The last hours of an instance: a column for each figure, with one value for each time. While the instance was stopped, nothing was
 * measured.
 */
export interface InstanceMetrics extends Omit<InstanceHistory, 'times'> {
  /** When the values were measured, in ascending order. */
  times: string[]
  /** For each time, the node that measured. */
  nodes: string[]
  /** Former nodes of the instance that did not send their part. */
  missing: MissingMetrics[]
}

@Route('3/nodes')
@Tags('nodes')
@Security('basic')
@Security('bearer')
export class NodeMetricsV3Controller extends V3Resource {
  /**
   * The last six hours of a node, which its monitoring daemon measures once a minute. If the node is offline or does not answer within 4
   * seconds, the answer is an error (503).
   * @param since Only values that were measured after this time.
   */
  @Get('{name}/metrics')
  async read(@Path() name: string, @Query() since?: string): Promise<NodeMetrics> {
    return nodeMetricsShape(await this.v3.gantry.nodeHistory(this.v3.identity, name, readTime(since)))
  }
}

@Route('3/instances')
@Tags('instances')
@Security('basic')
@Security('bearer')
export class InstanceMetricsV3Controller extends V3Resource {
  /**
   * The last six hours of an instance of KVM, which the monitoring daemon of its node measures once a minute. Its former nodes are asked
   * for their part. If the primary node is offline or does not answer within 4 seconds, the answer is an error (503).
   * @param since Only values that were measured after this time.
   */
  @Get('{name}/metrics')
  async read(@Path() name: string, @Query() since?: string): Promise<InstanceMetrics> {
    return instanceMetricsShape(await this.v3.gantry.instanceHistory(this.v3.identity, name, readTime(since)))
  }
}

function readTime(text: string | undefined): number {
  const time_s = text === undefined ? 0 : timeOf(text)
  if (time_s === undefined) throw badRequest(`since: not a time with its offset from UTC, such as 2026-11-26T02:30:00Z`)
  return time_s
}
