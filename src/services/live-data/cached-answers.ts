// Keeps the last answer of each node to one question, and whether the node still answers it. The last answer of a node
// that answers no more is not shown: nobody knows whether it is still true.
import type { Clock } from '../../lib/clock'
import type { NodeUuid } from '../../model/ids'
import type { Node } from '../../model/node'
import type { LiveResults } from '../../query/live-data'
import type { NodeResult } from '../../rpc/node/client'

interface Kept<T> {
  readonly value: T
  /** When the question was asked (monotonic clock). The answer to a later question is newer. */
  readonly asked_ms: number
  /** When the answer came (wall clock). */
  readonly seen_ms: number
}

/** Questions without an answer since the last one that had one. */
interface Missed {
  /** When the first of them failed (monotonic clock). */
  readonly since_ms: number
  readonly isSilent: boolean
}

export class CachedAnswers<T> {
  private readonly kept = new Map<NodeUuid, Kept<T>>()
  private readonly missed = new Map<NodeUuid, Missed>()

  constructor(private readonly clock: Clock) {}

  get(node: NodeUuid): Kept<T> | undefined {
    return this.kept.get(node)
  }

  /** Ignores an answer to an older question than the known one. */
  hear(node: NodeUuid, value: T, asked_ms: number): boolean {
    this.missed.delete(node)
    if ((this.kept.get(node)?.asked_ms ?? -Infinity) > asked_ms) return false
    this.kept.set(node, { value, asked_ms, seen_ms: this.clock.now_ms() })
    return true
  }

  /** Changes the known answer. Only answers to later questions override this. */
  correct(node: NodeUuid, change: (value: T) => T): void {
    const kept = this.kept.get(node)
    if (kept !== undefined)
      this.kept.set(node, { ...kept, value: change(kept.value), asked_ms: this.clock.monotonic_ms() })
  }

  /** The node did not answer. It counts as silent if it has not answered for this long. */
  miss(node: NodeUuid, patience_s: number): void {
    const now_ms = this.clock.monotonic_ms()
    const { since_ms, isSilent } = this.missed.get(node) ?? { since_ms: now_ms, isSilent: false }
    this.missed.set(node, { since_ms, isSilent: isSilent || now_ms - since_ms >= patience_s * 1000 })
  }

  isSilent(node: NodeUuid): boolean {
    return this.missed.get(node)?.isSilent === true
  }

  keepOnly(there: (node: NodeUuid) => boolean): void {
    for (const map of [this.kept, this.missed]) for (const node of map.keys()) if (!there(node)) map.delete(node)
  }

  async of(nodes: readonly Node[]): Promise<LiveResults<T>> {
    return new Map(nodes.map(({ uuid }) => [uuid, this.resultOf(uuid)]))
  }

  private resultOf(node: NodeUuid): NodeResult<T> {
    if (this.isSilent(node)) return SILENT
    const known = this.kept.get(node)
    return known === undefined ? NOT_HEARD : { ok: true, payload: known.value }
  }
}

const SILENT = { ok: false, error: 'the node does not answer', offline: false } as const
const NOT_HEARD = { ok: false, error: 'the node has not told yet', offline: false, early: true } as const
