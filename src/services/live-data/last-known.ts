// Keeps each node's last answers about itself and its instances. Every answer of a node updates it. Callers that do not
// wait for nodes read it.
import type { Clock } from '../../lib/clock'
import type { NodeUuid } from '../../model/ids'
import type { Node } from '../../model/node'
import type { LiveData, LiveResults } from '../../query/live-data'
import type { NodeResult } from '../../rpc/node/client'
import type { InstanceRuntime, NodeInfo } from '../../rpc/node/dicts'

type Runtimes = Readonly<Record<string, InstanceRuntime>>

interface Kept<T> {
  readonly value: T
  /** When the question was asked (monotonic clock). The answer to a later question is newer. */
  readonly asked_ms: number
  /** When the answer came (wall clock). */
  readonly seen_ms: number
}

export class LastKnown implements Pick<LiveData, 'nodeInfo' | 'instanceInfo'> {
  private readonly nodes = new Map<NodeUuid, Kept<NodeInfo>>()
  private readonly running = new Map<NodeUuid, Kept<Runtimes>>()
  private listener: (node: NodeUuid, asked_ms: number) => void = () => undefined

  constructor(private readonly clock: Clock) {}

  /** Calls the listener after a node has listed its running instances, with the time of the question. */
  onRunning(listener: (node: NodeUuid, asked_ms: number) => void): void {
    this.listener = listener
  }

  learnNode(node: NodeUuid, info: NodeInfo, asked_ms: number): void {
    this.keep(this.nodes, node, info, asked_ms)
  }

  learnRunning(node: NodeUuid, runtimes: Runtimes, asked_ms: number): void {
    if (this.keep(this.running, node, runtimes, asked_ms)) this.listener(node, asked_ms)
  }

  /** A job has started or ended an instance on the node. Only answers to later questions override this. */
  correct(node: NodeUuid, name: string, runtime: InstanceRuntime | undefined): void {
    const kept = this.running.get(node)
    if (kept === undefined) return
    const { [name]: _, ...others } = kept.value
    const value = runtime === undefined ? others : { ...others, [name]: runtime }
    this.running.set(node, { ...kept, value, asked_ms: this.clock.monotonic_ms() })
  }

  runningOn(node: NodeUuid): Runtimes | undefined {
    return this.running.get(node)?.value
  }

  /** When the node last listed its running instances; milliseconds since the epoch. */
  runningSeen_ms(node: NodeUuid): number | undefined {
    return this.running.get(node)?.seen_ms
  }

  /** The time of the oldest known data about the node and its running instances; milliseconds since the epoch. */
  seen_ms(node: NodeUuid): number | undefined {
    const [own, running] = [this.nodes.get(node), this.running.get(node)]
    return own && running && Math.min(own.seen_ms, running.seen_ms)
  }

  /** Forgets nodes that left the cluster. */
  keepOnly(there: (node: NodeUuid) => boolean): void {
    for (const kept of [this.nodes, this.running]) for (const node of kept.keys()) if (!there(node)) kept.delete(node)
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

  nodeInfo = (_config: unknown, nodes: readonly Node[]) => answersOf(nodes, this.nodes)
  instanceInfo = (_config: unknown, nodes: readonly Node[]) => answersOf(nodes, this.running)

  /** Ignores an answer to an older question than the known one. */
  private keep<T>(kept: Map<NodeUuid, Kept<T>>, node: NodeUuid, value: T, asked_ms: number): boolean {
    if ((kept.get(node)?.asked_ms ?? -Infinity) > asked_ms) return false
    kept.set(node, { value, asked_ms, seen_ms: this.clock.now_ms() })
    return true
  }
}

const NOT_HEARD = { ok: false, error: 'the node has not answered yet', offline: false } as const

async function answersOf<T>(nodes: readonly Node[], kept: ReadonlyMap<NodeUuid, Kept<T>>): Promise<LiveResults<T>> {
  const answerOf = ({ uuid }: Node): NodeResult<T> => {
    const known = kept.get(uuid)
    return known === undefined ? NOT_HEARD : { ok: true, payload: known.value }
  }
  return new Map(nodes.map((node) => [node.uuid, answerOf(node)]))
}
