// Durations of node calls on this node, as prom-client's JSON, which /metrics puts together for all nodes.
import { Histogram, Registry } from 'prom-client'
import { CALL_DURATION, type Figures } from '../rpc/node/figures'

export class NodeMeasures {
  private readonly registry = new Registry()
  private readonly calls = new Histogram({
    ...CALL_DURATION,
    labelNames: [...CALL_DURATION.labelNames],
    buckets: [...CALL_DURATION.buckets],
    registers: [this.registry],
  })

  constructor(private readonly node: string) {}

  carriedOut(call: string, duration_s: number): void {
    this.calls.observe({ node: this.node, call }, duration_s)
  }

  told(): Promise<readonly Figures[]> {
    return this.registry.getMetricsAsJSON()
  }
}
