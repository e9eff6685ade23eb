// Collects the figures of the cluster's daemons about themselves, from wconfd and the nodes.
import { recordValues } from '../../config/records'
import { within } from '../../lib/clock'
import { mapInSlices } from '../../lib/work/slices'
import type { NodeUuid } from '../../model/ids'
import { METRICS_WAIT_S } from '../../model/limits/live-data'
import { NODES_ASKED_AT_ONCE } from '../../model/limits/node-calls'
import type { Node } from '../../model/node'
import { isCallName } from '../../rpc/node/calls'
import { NO_ANSWER } from '../../rpc/node/client'
import { CALL_DURATION, type Figure, type Figures } from '../../rpc/node/figures'
import type { MasterContext } from '../master-context'
import { metric } from '../metric'

interface Parts extends Pick<MasterContext, 'config' | 'clock' | 'log'> {
  readonly questions: Pick<MasterContext['questions'], 'ask'>
  readonly wconfd: Pick<MasterContext['wconfd'], 'gantryMetrics'>
}

/**
 * Reading the figures waits for no node: it shows their last answers, and asks them again for the next time. Nodes with
 * Ganeti's noded have no figures. A node whose answer cannot be used has none either, and the answer is counted.
 */
export class Measures {
  private readonly kept = new Map<NodeUuid, { readonly node: string; readonly figures: readonly Figure[] }>()
  private readonly refused = new Map<NodeUuid, { readonly node: string; readonly times: number }>()
  private readonly asking = new Set<NodeUuid>()

  constructor(private readonly parts: Parts) {}

  async told(): Promise<unknown[][]> {
    const online = recordValues(this.parts.config().nodes).filter(({ offline }) => !offline)
    const there = new Set(online.map(({ uuid }) => uuid))
    for (const known of [this.kept, this.refused])
      for (const node of known.keys()) if (!there.has(node)) known.delete(node)
    void mapInSlices(online, NODES_ASKED_AT_ONCE, (node) => void this.ask(node))
    return [...(await this.ofWconfd()), this.ofNodes()]
  }

  private async ask(node: Node): Promise<void> {
    if (this.asking.has(node.uuid)) return
    this.asking.add(node.uuid)
    // A newer node may know more calls.
    const hear = (reported: readonly Figures[]) => {
      const figures = reported
        .flatMap(({ values }) => values)
        .filter(({ labels }) => isCallName(String(labels['call'])))
      this.kept.set(node.uuid, { node: node.name, figures })
    }
    const { questions, log } = this.parts
    try {
      const result = await questions.ask(node, 'gantry_metrics', [], hear)
      if (!result.ok && result.lost !== true && result !== NO_ANSWER) this.refuse(node, result.error)
    } catch (error) {
      log.warn({ err: error, node: node.name }, 'a node cannot be asked for its figures')
    } finally {
      this.asking.delete(node.uuid)
    }
  }

  private refuse({ uuid, name: node }: Node, reason: string): void {
    this.kept.delete(uuid)
    this.refused.set(uuid, { node, times: (this.refused.get(uuid)?.times ?? 0) + 1 })
    this.parts.log.warn({ node, reason }, 'the figures of a node cannot be used, so /metrics is without them')
  }

  private ofNodes(): unknown[] {
    const durations = [...this.kept.values()].flatMap(({ node, figures }) =>
      figures.map(({ labels, ...one }) => ({ ...one, labels: { node, ...labels } })),
    )
    const refused = [...this.refused.values()].map(({ node, times }) => ({ value: times, labels: { node } }))
    return [
      metric(CALL_DURATION.name, CALL_DURATION.help, 'histogram', durations),
      metric(
        'gantry_node_figures_refused_total',
        'Answers of a node to the question for its figures that could not be used',
        'counter',
        refused,
      ),
    ]
  }

  private async ofWconfd(): Promise<unknown[][]> {
    const { clock, wconfd, log } = this.parts
    try {
      const reported = await within(clock, METRICS_WAIT_S, wconfd.gantryMetrics())
      return reported === undefined ? [] : [reported]
    } catch (error) {
      log.warn({ err: error }, 'wconfd did not report its figures')
      return []
    }
  }
}
