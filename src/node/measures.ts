// Durations of node calls on this node, as prom-client's JSON, which /metrics puts together for all nodes.
import { Histogram, Registry } from '../lib/prometheus'

export class NodeMeasures {
  private readonly registry = new Registry()
  private readonly calls = new Histogram({
    name: 'gantry_node_call_duration_seconds',
    help: 'Time that a node took to carry out a call',
    labelNames: ['node', 'call'],
    buckets: [0.005, 0.05, 0.5, 5, 60],
    registers: [this.registry],
  })

  constructor(private readonly node: string) {}

  carriedOut(call: string, duration_s: number): void {
    this.calls.observe({ node: this.node, call }, duration_s)
  }

  told(): Promise<unknown[]> {
    return this.registry.getMetricsAsJSON()
  }
}
