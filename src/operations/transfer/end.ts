// One end of a transfer, followed by the master: started on a node, polled until it ends, and cleaned up.
import {
  TRANSFER_POLL_MAX_S,
  TRANSFER_POLL_MIN_S,
  TRANSFER_PROGRESS_S,
  TRANSFER_READY_S,
} from '../../model/limits/transfers'
import type { Node } from '../../model/config'
import type { ImpExpStatus } from '../../rpc/node/dicts'
import type { NodeResult } from '../../rpc/node/client'
import type { UnitContext } from '../unit-context'

export interface EndPlan {
  readonly node: Node
  readonly mode: 'import' | 'export'
  readonly connectTimeout_s: number
  start(): Promise<NodeResult<string>>
  /** Called when an import listens, with its port. */
  listening?(port: number): void
  connected?(): void
  progress?(status: ImpExpStatus): void
}

export interface EndOutcome {
  readonly ok: boolean
  readonly message: string
  readonly recentOutput: string
}

export class TransferEnd {
  private name: string | undefined
  private over = false

  constructor(
    private readonly ctx: UnitContext,
    private readonly plan: EndPlan,
  ) {}

  /** Never rejects because the transfer fails. */
  async run(): Promise<EndOutcome> {
    try {
      const outcome = await this.follow()
      if (!outcome.ok) this.ctx.log.warning(`${this.title} failed: ${outcome.message}`)
      return outcome
    } finally {
      this.over = true
      await this.cleanUp()
    }
  }

  /** The other end has failed, so this one need not wait. */
  async abort(): Promise<void> {
    if (this.name === undefined || this.over) return
    this.ctx.log.warning(`Aborting ${this.title}`)
    const result = await this.ctx.nodes.attempt(this.plan.node, 'impexp_abort', [this.name])
    if (!result.ok) this.ctx.log.warning(`Failed to abort ${this.title}: ${result.error}`)
  }

  private get title(): string {
    const name = this.name === undefined ? '' : ` '${this.name}'`
    return `${this.plan.mode}${name} on ${this.plan.node.name}`
  }

  private async follow(): Promise<EndOutcome> {
    const { plan } = this
    const started = await plan.start()
    if (!started.ok) return failure(`Failed to start ${plan.mode} on ${plan.node.name}: ${started.error}`)
    this.name = started.payload
    const observed = new Progress(this.ctx, plan)
    // Nodes can only be polled. The pauses grow, so that small disks are quick.
    for (let pause_s = TRANSFER_POLL_MIN_S; ; pause_s = Math.min(2 * pause_s, TRANSFER_POLL_MAX_S)) {
      const result = await this.ctx.nodes.attempt(plan.node, 'impexp_status', [[this.name]])
      if (!result.ok) this.ctx.env.processLog.warn(`Failed to get daemon status on ${plan.node.name}: ${result.error}`)
      const status = result.ok ? (result.payload[0] ?? undefined) : undefined
      const wrong = observed.look(result.ok, status)
      if (wrong !== undefined) return failure(wrong, status)
      if (status?.exit_status === 0) return { ok: true, message: '', recentOutput: '' }
      if (status?.exit_status !== undefined) return failure(status.error_message ?? 'it gave no reason', status)
      await this.ctx.env.clock.sleep(pause_s * 1000)
    }
  }

  private async cleanUp(): Promise<void> {
    if (this.name === undefined) return
    const result = await this.ctx.nodes.attempt(this.plan.node, 'impexp_cleanup', [this.name])
    if (!result.ok) this.ctx.log.warning(`Failed to finalize ${this.title}: ${result.error}`)
  }
}

const failure = (message: string, status?: ImpExpStatus): EndOutcome => ({
  ok: false,
  message,
  recentOutput: (status?.recent_output ?? []).join('\n') || 'None',
})

/** The reported steps of a transfer, and since when we wait for the next one. */
class Progress {
  private readonly begin_ms: number
  private error_ms: number | undefined
  private listening_ms: number | undefined
  private connected = false
  private told_ms: number | undefined

  constructor(
    private readonly ctx: UnitContext,
    private readonly plan: EndPlan,
  ) {
    this.begin_ms = ctx.env.clock.monotonic_ms()
  }

  /** Returns what has taken too long. */
  look(answered: boolean, status: ImpExpStatus | undefined): string | undefined {
    const { plan } = this
    if (!answered) {
      this.error_ms ??= this.ctx.env.clock.monotonic_ms()
      return this.late(this.error_ms, TRANSFER_READY_S) ? 'Too many errors while updating data' : undefined
    }
    this.error_ms = undefined
    if (status === undefined)
      return this.late(this.begin_ms, TRANSFER_READY_S)
        ? `Didn't become ready after ${TRANSFER_READY_S} seconds`
        : undefined
    if (plan.mode === 'import' && this.listening_ms === undefined && status.listen_port !== undefined) {
      this.listening_ms = this.ctx.env.clock.monotonic_ms()
      plan.listening?.(status.listen_port)
    }
    if (!this.connected && status.connected === true) {
      this.connected = true
      plan.connected?.()
    }
    if (status.exit_status !== undefined) return undefined
    if (this.connected) return this.tell(status)
    if (plan.mode === 'import' && this.listening_ms === undefined)
      return this.late(this.begin_ms, TRANSFER_READY_S) ? `Not listening after ${TRANSFER_READY_S} seconds` : undefined
    const since = this.listening_ms ?? this.begin_ms
    return this.late(since, plan.connectTimeout_s) ? `Not connected after ${plan.connectTimeout_s} seconds` : undefined
  }

  private tell(status: ImpExpStatus): undefined {
    if (status.progress_mbytes === undefined || status.progress_throughput === undefined) return
    if (this.told_ms !== undefined && !this.late(this.told_ms, TRANSFER_PROGRESS_S)) return
    this.told_ms = this.ctx.env.clock.monotonic_ms()
    this.plan.progress?.(status)
  }

  private late(since_ms: number, limit_s: number): boolean {
    return this.ctx.env.clock.monotonic_ms() - since_ms > limit_s * 1000
  }
}
