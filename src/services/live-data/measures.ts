// Collects the figures of the cluster's daemons about themselves, from wconfd and the nodes.
import { recordValues } from '../../config/records'
import { within } from '../../lib/clock'
import { mapInSlices } from '../../lib/work/slices'
import type { NodeUuid } from '../../model/ids'
import { METRICS_WAIT_S } from '../../model/limits/live-data'
import { NODES_ASKED_AT_ONCE } from '../../model/limits/node-calls'
import type { Node } from '../../model/node'
import type { MasterContext } from '../master-context'

interface Parts extends Pick<MasterContext, 'config' | 'clock' | 'log'> {
  readonly questions: Pick<MasterContext['questions'], 'ask'>
  readonly wconfd: Pick<MasterContext['wconfd'], 'gantryMetrics'>
}

/**
 * Reading the figures waits for no node: it shows their last answers, and asks them again for the next time. Nodes with
 * Ganeti's noded have no figures.
 */
export class Measures {
  private readonly kept = new Map<NodeUuid, unknown[]>()
  private readonly asking = new Set<NodeUuid>()

  constructor(private readonly parts: Parts) {}

  async told(): Promise<unknown[][]> {
    const online = recordValues(this.parts.config().nodes).filter(({ offline }) => !offline)
    const there = new Set(online.map(({ uuid }) => uuid))
    for (const node of this.kept.keys()) if (!there.has(node)) this.kept.delete(node)
    void mapInSlices(online, NODES_ASKED_AT_ONCE, (node) => void this.ask(node))
    return [...(await this.ofWconfd()), ...this.kept.values()]
  }

  private async ask(node: Node): Promise<void> {
    if (this.asking.has(node.uuid)) return
    this.asking.add(node.uuid)
    const hear = (told: readonly unknown[]) => void this.kept.set(node.uuid, [...told])
    const { questions, log } = this.parts
    try {
      await questions.ask(node, 'gantry_metrics', [], hear)
    } catch (error) {
      log.warn({ err: error, node: node.name }, 'a node cannot be asked for its figures')
    } finally {
      this.asking.delete(node.uuid)
    }
  }

  private async ofWconfd(): Promise<unknown[][]> {
    const { clock, wconfd, log } = this.parts
    try {
      const told = await within(clock, METRICS_WAIT_S, wconfd.gantryMetrics())
      return told === undefined ? [] : [told]
    } catch (error) {
      log.warn({ err: error }, 'wconfd did not report its figures')
      return []
    }
  }
}
