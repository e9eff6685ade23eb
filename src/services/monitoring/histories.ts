// Usage in the last hours of nodes and instances, from the nodes' monitoring daemons. A moved instance has left a part
// of its history at its former nodes.
import { findInstance, findNode } from '../../config/lookup'
import type { Clock } from '../../lib/clock'
import { errorText } from '../../lib/system-failure'
import type { ConfigData, Instance, Node } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { INSTANCE_COLUMNS, type InstanceHistory, type NodeHistory } from '../../model/history'
import { HISTORY_ANSWER_BYTES_MAX, HISTORY_NODES_MAX } from '../../model/limits/history'
import { MOND_ANSWER_S } from '../../model/limits/monitoring'
import type { InstanceHistories } from '../../rpc/luxi/history'
import type { AskMond } from '../../rpc/mond/endpoints'
import { historyPath, instanceHistory, nodeHistory, readHistory } from '../../rpc/mond/history'
import type { Access } from '../access/access'

interface Parts {
  readonly clock: Clock
  readonly ask: AskMond
  config(): ConfigData
  /** Names of the instance's former nodes, the last one first. */
  formerNodes(instance: Instance): readonly string[]
}

export class HistoryService {
  constructor(private readonly parts: Parts) {}

  /** Not for a token with a scope: the history covers everything on the node. */
  async node(name: string, since_s: number): Promise<NodeHistory> {
    const node = findNode(this.parts.config(), name)
    if (node === undefined) throw new OpPrereqError(`Node '${name}' not known`, ECODE.NOENT)
    return this.needed(node, async () => readHistory(nodeHistory, await this.ask(node, historyPath.node(since_s))))
  }

  async instance(caller: Access, name: string, since_s: number): Promise<InstanceHistories> {
    const config = this.parts.config()
    const instance = findInstance(caller.known(config), name)
    if (instance === undefined) throw new OpPrereqError(`Instance '${name}' not known`, ECODE.NOENT)
    const primary = config.nodes[instance.primary_node]
    if (primary === undefined) throw new OpPrereqError(`Instance '${name}' has no primary node`, ECODE.STATE)
    const partOf = async (node: Node): Promise<Part> => {
      const text = await this.ask(node, historyPath.instance(instance.name, since_s))
      return { node: node.name, history: readHistory(instanceHistory, text) }
    }
    const [now, ...before] = await Promise.all([
      this.needed(primary, () => partOf(primary)),
      ...this.formerNodes(config, instance).map((node) =>
        partOf(node).catch((error: unknown) => ({ node: node.name, why: whyNot(node, error) })),
      ),
    ])
    return joined([now, ...before])
  }

  /** Includes its secondary nodes, since events are not kept for ever. */
  private formerNodes(config: ConfigData, instance: Instance): Node[] {
    const secondaries = instance.disks.flatMap((disk) => config.disks[disk]?.nodes ?? [])
    const nodes = [
      ...this.parts.formerNodes(instance).flatMap((name) => findNode(config, name) ?? []),
      ...secondaries.flatMap((uuid) => config.nodes[uuid] ?? []),
    ]
    const others = nodes.filter(({ uuid, offline }) => uuid !== instance.primary_node && !offline)
    return [...new Set(others)].slice(0, HISTORY_NODES_MAX - 1)
  }

  private async needed<T>(node: Node, ask: () => Promise<T>): Promise<T> {
    if (node.offline)
      throw new OpPrereqError(`Node ${node.name} is marked offline, so it is not asked for its last hours`, AWAY)
    try {
      return await ask()
    } catch (error) {
      throw new OpPrereqError(`Node ${node.name} does not tell its last hours: ${whyNot(node, error)}`, AWAY)
    }
  }

  private async ask(node: Node, path: string): Promise<string> {
    const { clock, ask } = this.parts
    const { text } = await ask(node, path, { clock, limit_s: MOND_ANSWER_S, bytes_max: HISTORY_ANSWER_BYTES_MAX })
    return text
  }
}

const AWAY = ECODE.TEMP_NORES

interface Part {
  readonly node: string
  readonly history: InstanceHistory
}

interface Missing {
  readonly node: string
  readonly why: string
}

/** A daemon of another version answers 404. */
const whyNot = (node: Node, error: unknown): string =>
  errorText(error).replace('it answered with HTTP status 404', `the monitoring daemon of ${node.name} keeps none`)

function joined(all: readonly (Part | Missing)[]): InstanceHistories {
  const parts = all.filter((one): one is Part => 'history' in one)
  const rows = parts
    .flatMap(({ node, history }) => history.times.map((time, at) => ({ node, history, time, at })))
    .sort((a, b) => a.time - b.time)
  const columns = INSTANCE_COLUMNS.map((name) => [name, rows.map(({ history, at }) => history[name][at] ?? null)])
  return {
    interval_s: parts[0]?.history.interval_s ?? 0,
    times: rows.map(({ time }) => time),
    ...(Object.fromEntries(columns) as Pick<InstanceHistory, (typeof INSTANCE_COLUMNS)[number]>),
    nodes: rows.map(({ node }) => node),
    missing: all.filter((one): one is Missing => 'why' in one),
  }
}
