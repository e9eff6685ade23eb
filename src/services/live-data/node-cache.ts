// Keeps each node's last answers about itself and its instances. Every answer of a node updates it. Callers that do not
// wait for nodes read it.
import type { Clock } from '../../lib/clock'
import type { NodeUuid } from '../../model/ids'
import type { Node } from '../../model/node'
import type { LiveData } from '../../query/live-data'
import type { InstanceRuntime, NodeInfo } from '../../rpc/node/dicts'
import { CachedAnswers } from './cached-answers'

type Runtimes = Readonly<Record<string, InstanceRuntime>>

/** What nodes are asked: about themselves, and for their running instances. */
export type Question = 'node' | 'running'

export class NodeCache implements Pick<LiveData, 'nodeInfo' | 'instanceInfo'> {
  private readonly answers: { readonly node: CachedAnswers<NodeInfo>; readonly running: CachedAnswers<Runtimes> }
  private listener: (node: NodeUuid, asked_ms: number) => void = () => undefined

  constructor(clock: Clock) {
    this.answers = { node: new CachedAnswers(clock), running: new CachedAnswers(clock) }
  }

  /** Calls the listener after a node has listed its running instances, with the time of the question. */
  onRunning(listener: (node: NodeUuid, asked_ms: number) => void): void {
    this.listener = listener
  }

  learnNode(node: NodeUuid, info: NodeInfo, asked_ms: number): void {
    this.answers.node.hear(node, info, asked_ms)
  }

  learnRunning(node: NodeUuid, runtimes: Runtimes, asked_ms: number): void {
    if (this.answers.running.hear(node, runtimes, asked_ms)) this.listener(node, asked_ms)
  }

  /** The node did not answer. If it has not answered for this long, its last answer is shown no more. */
  miss(node: NodeUuid, question: Question, patience_s: number): void {
    this.answers[question].miss(node, patience_s)
  }

  /** Whether nobody knows what runs on the node, because it does not answer. */
  isSilent(node: NodeUuid): boolean {
    return this.answers.running.isSilent(node)
  }

  /** A job has started or ended an instance on the node. Only answers to later questions override this. */
  correct(node: NodeUuid, name: string, runtime: InstanceRuntime | undefined): void {
    this.answers.running.correct(node, ({ [name]: _, ...others }) =>
      runtime === undefined ? others : { ...others, [name]: runtime },
    )
  }

  runningOn(node: NodeUuid): Runtimes | undefined {
    return this.answers.running.get(node)?.value
  }

  /** When the node last listed its running instances; milliseconds since the epoch. */
  runningSeen_ms(node: NodeUuid): number | undefined {
    return this.answers.running.get(node)?.seen_ms
  }

  /** The time of the oldest known data about the node and its running instances; milliseconds since the epoch. */
  seen_ms(node: NodeUuid): number | undefined {
    const [own, running] = [this.answers.node.get(node), this.answers.running.get(node)]
    return own && running && Math.min(own.seen_ms, running.seen_ms)
  }

  /** Forgets nodes that left the cluster. */
  keepOnly(there: (node: NodeUuid) => boolean): void {
    for (const answers of Object.values(this.answers)) answers.keepOnly(there)
  }

  /** Like `live`, but answers from memory where there is something. */
  insteadOf(live: LiveData): LiveData {
    const { nodeInfo, instanceInfo } = this
    return {
      ...{ nodeInfo, instanceInfo },
      consoles: (...question) => live.consoles(...question),
      exports: (...question) => live.exports(...question),
      operatingSystems: (...question) => live.operatingSystems(...question),
      extStorage: (...question) => live.extStorage(...question),
    }
  }

  nodeInfo = (_config: unknown, nodes: readonly Node[]) => this.answers.node.of(nodes)
  instanceInfo = (_config: unknown, nodes: readonly Node[]) => this.answers.running.of(nodes)
}
