// Instances whose move for a balance has failed. The next plan would choose the same move, so they rest for a while, unless they or their
// nodes have changed. A maintd that starts again does not know them, and tries once.
import { findInstance, findNode } from '../config/lookup'
import { type Clock, seconds } from '../lib/clock'
import type { ConfigData } from '../model/config'
import { BALANCE_AGAIN_S } from '../model/limits/maintenance'
import type { RoundJob } from '../model/maintenance'

interface Failed {
  readonly until_s: number
  readonly nodes: readonly string[]
  /** What the instance and the nodes were when the move had failed. */
  readonly version: string
}

export class FailedMoves {
  private readonly failed = new Map<string, Failed>()

  constructor(
    private readonly clock: Clock,
    private readonly config: () => ConfigData,
  ) {}

  note({ instances, nodes }: Pick<RoundJob, 'instances' | 'nodes'>): void {
    const until_s = seconds(this.clock) + BALANCE_AGAIN_S
    for (const name of instances) this.failed.set(name, { until_s, nodes, version: this.version(name, nodes) })
  }

  /** The names of the instances that a balance leaves alone. */
  resting(): string[] {
    const now_s = seconds(this.clock)
    for (const [name, { until_s, nodes, version }] of this.failed)
      if (now_s >= until_s || version !== this.version(name, nodes)) this.failed.delete(name)
    return [...this.failed.keys()]
  }

  private version(name: string, nodes: readonly string[]): string {
    const config = this.config()
    const known = [findInstance(config, name), ...nodes.map((node) => findNode(config, node))]
    return known.map((one) => `${one?.uuid} ${one?.serial_no}`).join()
  }
}
