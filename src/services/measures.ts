// What the cluster's daemons measure of themselves, gathered from wconfd and the nodes.
import { within } from '../lib/clock'
import { METRICS_WAIT_S } from '../model/limits'
import type { MasterContext } from './master-context'

type Measures = Pick<MasterContext, 'config' | 'nodes' | 'wconfd' | 'clock' | 'log'>

/** Nodes that run Ganeti's noded, or do not answer soon, are left out: a look at the figures must not hang on them. */
export async function measuresOf({ config, nodes, wconfd, clock, log }: Measures): Promise<unknown[][]> {
  const online = Object.values(config().nodes).filter(({ offline }) => !offline)
  const ask = async (who: string, question: Promise<unknown[][]>): Promise<unknown[][]> => {
    try {
      return (await within(clock, METRICS_WAIT_S, question)) ?? []
    } catch (error) {
      log.warn({ err: error }, `${who} did not tell what it measures`)
      return []
    }
  }
  const ofNode = async (node: (typeof online)[number]): Promise<unknown[][]> => {
    const answer = (await nodes.all([node], 'gantry_metrics', [])).get(node.uuid)
    return answer?.ok === true ? [answer.payload] : []
  }
  const questions = online.map((node) => ask(`node ${node.name}`, ofNode(node)))
  const own = ask(
    'wconfd',
    wconfd.gantryMetrics().then((told) => [told]),
  )
  return (await Promise.all([own, ...questions])).flat()
}
