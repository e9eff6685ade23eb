// Questions to nodes for users and monitoring, who must not wait for a node that hangs. A question has a short limit. A late node is then
// asked for its version, which is cheap. If it does not answer that either, it is silent: it gets one probe at a time until it answers, and
// all other questions to it fail at once. If it does answer, only this kind of question is slow, and the node gets no further question of
// this kind until it has answered.
import type { Clock } from '../../lib/clock'
import type { Log } from '../../lib/log'
import { mapInSlices } from '../../lib/work/slices'
import type { NodeUuid } from '../../model/ids'
import { LIVE_ANSWER_S, NODE_KNOCK_S, NODE_PROBE_PAUSE_S, NODE_PROBE_UNWANTED_S } from '../../model/limits/live-data'
import { NODES_ASKED_AT_ONCE } from '../../model/limits/node-calls'
import type { ArgsOf, CallName, ResultOf } from '../../rpc/node/calls'
import { NO_ANSWER, NodeCallError, type NodeClient, type NodeResult, type NodeTarget } from '../../rpc/node/client'

/** Called with each answer, even one that is too late for the caller. `asked_ms` is of the monotonic clock. */
export type Hear<C extends CallName> = (payload: ResultOf<C>, asked_ms: number) => void

interface Silence {
  /** From the last question, because the node's address may have changed. */
  target: NodeTarget
  /** When an answer from the node was last wanted. */
  wanted_ms: number
}

/** The answer to a question for the version. */
type Knock = Promise<unknown>

interface Question<C extends CallName> {
  readonly call: C
  readonly args: ArgsOf<C>
  readonly hear?: Hear<C> | undefined
}

export class NodeProber implements NodeClient {
  private readonly silent = new Map<NodeUuid, Silence>()
  /** Nodes with an unanswered question for their version. */
  private readonly knocks = new Map<NodeUuid, Knock>()
  /** Answers that are late, by node and call. */
  private readonly owed = new Set<string>()
  /** Functions that end the waiting for a node's answers when it falls silent. */
  private readonly waiting = new Map<NodeUuid, Set<() => void>>()
  private readonly returned = new Set<(node: NodeUuid) => void>()
  private closed = false

  constructor(
    private readonly client: NodeClient,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Never rejects because a node fails, and takes no longer than the limit. */
  ask<C extends CallName>(
    target: NodeTarget,
    call: C,
    args: ArgsOf<C>,
    hear?: Hear<C>,
  ): Promise<NodeResult<ResultOf<C>>> {
    const silence = this.silent.get(target.uuid)
    if (silence !== undefined) Object.assign(silence, { target, wanted_ms: this.clock.monotonic_ms() })
    const isLate = silence !== undefined || this.owed.has(owedKey(target, call))
    return isLate && !target.offline ? Promise.resolve(NO_ANSWER) : this.askNow(target, { call, args, hear })
  }

  async all<C extends CallName>(
    targets: readonly NodeTarget[],
    call: C,
    args: ArgsOf<C> | ((target: NodeTarget) => ArgsOf<C>),
  ): Promise<Map<NodeUuid, NodeResult<ResultOf<C>>>> {
    // All targets get the same arguments. The client recognizes a frozen object, and encodes it once.
    if (typeof args !== 'function') Object.freeze(args)
    const requested = await mapInSlices(targets, NODES_ASKED_AT_ONCE, (target) => {
      const answer = this.ask(target, call, typeof args === 'function' ? args(target) : args).then(
        (result) => [target.uuid, result] as const,
      )
      // Promise.all() reports the failure; this only avoids an unhandled rejection.
      answer.catch(() => undefined)
      return answer
    })
    return new Map(await Promise.all(requested))
  }

  async one<C extends CallName>(target: NodeTarget, call: C, args: ArgsOf<C>): Promise<ResultOf<C>> {
    const result = await this.ask(target, call, args)
    if (result.ok) return result.payload
    throw new NodeCallError(target.name, call, result.error, result.offline)
  }

  /** The node answers, but owes the answer to one of these questions. */
  isSlow(node: NodeUuid, calls: readonly CallName[]): boolean {
    return !this.silent.has(node) && calls.some((call) => this.owed.has(owedKey({ uuid: node }, call)))
  }

  /** Calls back when a silent node answers again. */
  onReturn(listener: (node: NodeUuid) => void): void {
    this.returned.add(listener)
  }

  /** Ends the probes; the owner of the client closes it. */
  close(): void {
    this.closed = true
    this.silent.clear()
  }

  private askNow<C extends CallName>(target: NodeTarget, question: Question<C>): Promise<NodeResult<ResultOf<C>>> {
    return new Promise((resolve, reject) => {
      const answer = this.send(target, question)
      const giveUp = () => end(() => resolve(NO_ANSWER))
      const waiting = this.waitersFor(target.uuid).add(giveUp)
      const knock = this.clock.after((LIVE_ANSWER_S - NODE_KNOCK_S) * 1000, () => this.knock(target))
      const limit = this.clock.after(LIVE_ANSWER_S * 1000, () => {
        this.isOwed(target, question.call, answer)
        giveUp()
      })
      const end = (tell: () => void) => {
        for (const timer of [knock, limit]) timer.cancel()
        waiting.delete(giveUp)
        if (waiting.size === 0) this.waiting.delete(target.uuid)
        tell()
      }
      answer.then(
        (result) => end(() => resolve(result)),
        (error: unknown) => end(() => reject(error)),
      )
    })
  }

  private waitersFor(node: NodeUuid): Set<() => void> {
    const known = this.waiting.get(node) ?? new Set()
    this.waiting.set(node, known)
    return known
  }

  private async send<C extends CallName>(target: NodeTarget, question: Question<C>): Promise<NodeResult<ResultOf<C>>> {
    const { call, args, hear } = question
    const asked_ms = this.clock.monotonic_ms()
    const result = (await this.client.all([target], call, args)).get(target.uuid) ?? NO_ANSWER
    // A quick refusal costs nobody time, so it ends the silence too.
    if (result.ok || this.clock.monotonic_ms() - asked_ms < LIVE_ANSWER_S * 1000) this.answered(target)
    if (result.ok) hear?.(result.payload, asked_ms)
    return result
  }

  private answered({ uuid, name }: NodeTarget): void {
    this.knocks.delete(uuid)
    if (!this.silent.delete(uuid)) return
    this.log.info({ node: name }, 'the node answers questions again')
    for (const listener of this.returned) listener(uuid)
  }

  /** The node answers other questions, but not this one yet. */
  private isOwed(target: NodeTarget, call: CallName, answer: Promise<unknown>): void {
    const key = owedKey(target, call)
    this.owed.add(key)
    this.log.warn({ node: target.name, call }, `no answer within ${LIVE_ANSWER_S} s; it is not asked again before`)
    const isHere = () => void this.owed.delete(key)
    answer.then(isHere, isHere)
  }

  private knock(target: NodeTarget): void {
    const { uuid } = target
    if (this.knocks.has(uuid) || this.silent.has(uuid) || this.closed) return
    const knock = this.sendKnock(target)
    this.knocks.set(uuid, knock)
    this.clock.after(NODE_KNOCK_S * 1000, () => {
      if (this.knocks.get(uuid) === knock) this.fallSilent(target, knock)
    })
  }

  /** Never rejects: after a failure the next question must still be sent. */
  private sendKnock(target: NodeTarget): Knock {
    return this.send(target, { call: 'version', args: [] }).catch((error: unknown) =>
      this.log.error({ err: error, node: target.name }, 'a question whether a node answers failed'),
    )
  }

  private fallSilent(target: NodeTarget, knock: Knock): void {
    const { uuid, name } = target
    this.knocks.delete(uuid)
    if (this.closed) return
    const silence = { target, wanted_ms: this.clock.monotonic_ms() }
    this.silent.set(uuid, silence)
    this.log.warn({ node: name }, 'the node answers nothing, so no question waits for it now')
    for (const giveUp of [...(this.waiting.get(uuid) ?? [])]) giveUp()
    void this.probe(silence, knock)
  }

  /** The late answer serves as the first probe: a node that was only paused sends it at once. */
  private async probe(silence: Silence, knock: Knock): Promise<void> {
    const { uuid } = silence.target
    await knock
    while (this.silent.get(uuid) === silence) {
      const unwanted_ms = this.clock.monotonic_ms() - silence.wanted_ms
      if (unwanted_ms > NODE_PROBE_UNWANTED_S * 1000) return void this.silent.delete(uuid)
      await new Promise<void>((go) => this.clock.after(NODE_PROBE_PAUSE_S * 1000, go, { background: true }))
      if (this.silent.get(uuid) === silence) await this.sendKnock(silence.target)
    }
  }
}

const owedKey = ({ uuid }: Pick<NodeTarget, 'uuid'>, call: CallName): string => `${uuid} ${call}`
