// Follows the transfer of a migration to its end. After a switch to post-copy the guest runs on the target, and the rest
// of its memory is on the source: then neither side is given up, whatever happens.
import type { Clock } from '../../../lib/clock'
import { JobCancelled } from '../../environment'
import { OpExecError } from '../../../model/errors'
import {
  MIGRATION_FEEDBACK_S,
  MIGRATION_POLL_S,
  MIGRATION_STALL_S,
  MIGRATION_UNHEARD_S,
  POSTCOPY_RECOVERY_S,
  POSTCOPY_RETRY_S,
} from '../../../model/limits/operations'
import type { MigrationSideStatus } from '../../../rpc/node/dicts'
import type { UnitContext } from '../../unit-context'
import { hvParamsOf, runtimeOf, USER_DOWN } from '../checks'
import { dictOf } from '../view'
import type { Move } from './plan'
import { migrationStatus } from './status'

/** `switched`: the target has confirmed, or had the guest before. `lost`: the guest's memory is gone with the target. */
export type Arrival = { readonly kind: 'complete'; readonly switched: boolean } | { readonly kind: 'lost' }
export type TransferEnd = Arrival | { readonly kind: 'failed'; readonly reason: string; readonly cancelled?: boolean }

type Phase = 'before' | 'after' | 'complete' | 'failed'

/** The states of QEMU in which the source still has the guest; our nodes answer `active` for most of them. */
const BEFORE: readonly string[] = [
  'setup',
  'wait-unplug',
  'active',
  'pre-switchover',
  'device',
  'cancelling',
  'failing',
]

/** A word that nobody knows counts as a switch, so that nothing is ended for it. */
export function phaseOf({ status, switched }: MigrationSideStatus): Phase {
  if (status === 'completed') return 'complete'
  if (switched === true) return 'after'
  if (status === 'failed' || status === 'cancelled' || status === 'none') return 'failed'
  return BEFORE.includes(status) ? 'before' : 'after'
}

export const canSwitch = ({ view }: Move): boolean =>
  String(hvParamsOf(view)['migration_caps'] ?? '')
    .split(':')
    .includes('postcopy-ram')

/** Sent by a node after the switch, when the connection of the two sides is gone. */
const ENDED: readonly string[] = ['failed', 'cancelled']
const INTERRUPTED: readonly string[] = ['postcopy-paused', ...ENDED]

export class Transfer {
  private readonly clock: Clock
  private status: MigrationSideStatus = { status: 'active' }
  /** The switch was asked for, or seen. */
  private switches = false
  private refusedToStop = false
  private moved_ms: number
  private heard_ms: number
  private told_ms: number
  private tried_ms = -Infinity

  constructor(
    private readonly ctx: UnitContext,
    private readonly move: Move,
  ) {
    this.clock = ctx.env.clock
    this.moved_ms = this.heard_ms = this.told_ms = this.clock.monotonic_ms()
  }

  /** Throws if both sides must be kept as they are. */
  async follow(): Promise<TransferEnd> {
    this.ctx.log.say('* starting memory transfer')
    for (;;) {
      const end = await this.look()
      if (end?.kind === 'complete') this.ctx.log.say('* memory transfer complete')
      if (end !== undefined) return end
      await this.clock.sleep(MIGRATION_POLL_S * 1000)
    }
  }

  private async look(): Promise<TransferEnd | undefined> {
    const { ctx, move } = this
    const now_ms = this.clock.monotonic_ms()
    const result = await migrationStatus(ctx, move.view, move.view.primary)
    if (!result.ok) return this.unheard(result.error, now_ms)
    this.heard_ms = now_ms
    this.note(result.payload, now_ms)
    switch (phaseOf(result.payload)) {
      case 'complete':
        return { kind: 'complete', switched: this.switches || result.payload.switched === true }
      case 'failed':
        return this.switches ? this.interrupted(now_ms) : { kind: 'failed', reason: 'hypervisor returned failure' }
      case 'before':
        return this.before(now_ms)
      case 'after':
        this.switches = true
        return this.after(now_ms)
    }
  }

  private unheard(error: string, now_ms: number): TransferEnd | undefined {
    if (now_ms - this.heard_ms < MIGRATION_UNHEARD_S * 1000) return undefined
    if (this.switches || canSwitch(this.move)) throw keptBoth(this.move, error)
    return { kind: 'failed', reason: error }
  }

  private note(status: MigrationSideStatus, now_ms: number): void {
    if (status.transferred_ram !== this.status.transferred_ram) this.moved_ms = now_ms
    this.status = status
    if (status.postcopy_status !== undefined) this.switches = true
    const { transferred_ram: done, total_ram: total } = status
    if (now_ms - this.told_ms <= MIGRATION_FEEDBACK_S * 1000 || done === undefined || !total) return
    this.ctx.log.say(`* memory transfer progress: ${((100 * done) / total).toFixed(2)} %`)
    this.told_ms = now_ms
  }

  private async before(now_ms: number): Promise<TransferEnd | undefined> {
    if (this.ctx.env.cancelled.aborted && !this.switches && !this.refusedToStop) return this.stop()
    if (now_ms - this.moved_ms < MIGRATION_STALL_S * 1000) return undefined
    if (this.switches) return this.interrupted(now_ms)
    return { kind: 'failed', reason: `no memory was transferred for ${MIGRATION_STALL_S} seconds` }
  }

  /** The source refuses if it has switched meanwhile. */
  private async stop(): Promise<TransferEnd | undefined> {
    const { view, live } = this.move
    const answer = await this.ctx.nodes.attempt(view.primary, 'instance_finalize_migration_src', [
      dictOf(view),
      false,
      live,
    ])
    if (answer.ok) return { kind: 'failed', reason: new JobCancelled().message, cancelled: true }
    this.refusedToStop = true
    this.ctx.log.warning(`The migration goes on, since it cannot be cancelled any more: ${answer.error}`)
    return undefined
  }

  private async after(now_ms: number): Promise<TransferEnd | undefined> {
    const stalled = now_ms - this.moved_ms >= MIGRATION_STALL_S * 1000
    return stalled || INTERRUPTED.includes(this.status.status) ? this.interrupted(now_ms) : undefined
  }

  /** Connects the two sides again as soon as that works, unless the target's machine is gone. */
  private async interrupted(now_ms: number): Promise<TransferEnd | undefined> {
    const { ctx, move } = this
    if (now_ms - this.tried_ms < POSTCOPY_RETRY_S * 1000) return undefined
    const isFirst = this.tried_ms === -Infinity
    if (isFirst)
      ctx.log.warning('The two nodes have lost each other after the switch to post-copy; they are connected again')
    this.tried_ms = now_ms
    if (await isGone(ctx, move)) return { kind: 'lost' }
    if (this.status.switched === true && ENDED.includes(this.status.status)) return this.withoutSource(now_ms)
    const failure = await this.reconnect()
    if (now_ms - this.moved_ms >= POSTCOPY_RECOVERY_S * 1000) throw keptBoth(move, failure ?? 'no memory arrives')
    return undefined
  }

  /** The source has ended the migration, against all rules, and sends nothing any more. */
  private async withoutSource(now_ms: number): Promise<TransferEnd | undefined> {
    const { ctx, move } = this
    const answer = await migrationStatus(ctx, move.view, move.target)
    if (answer.ok && phaseOf(answer.payload) === 'complete') return { kind: 'complete', switched: true }
    if (answer.ok && answer.payload.status === 'postcopy-paused') return { kind: 'lost' }
    if (now_ms - this.moved_ms < POSTCOPY_RECOVERY_S * 1000) return undefined
    throw keptBoth(move, `its source says ${this.status.status}`)
  }

  private async reconnect(): Promise<string | undefined> {
    const { nodes } = this.ctx
    const { view, target } = this.move
    const sides = [{ node: target, side: 'target' } as const, { node: view.primary, side: 'source' } as const]
    for (const { node, side } of sides) {
      const answer = await nodes.attempt(node, 'gantry_migration_recover', [dictOf(view), target.secondary_ip, side])
      if (!answer.ok) return `node ${node.name}: ${answer.error}`
    }
    return undefined
  }
}

/** Whether the target has confirmed that the instance does not run there. */
async function isGone(ctx: UnitContext, { view, target }: Move): Promise<boolean> {
  const { name, hypervisor } = view.instance
  const answer = await ctx.nodes.attempt(target, 'instance_info', [name, hypervisor, hvParamsOf(view)])
  if (!answer.ok) return answer.offline
  const runtime = runtimeOf(answer.payload)
  return runtime === undefined || runtime.state === USER_DOWN
}

/** Only a person, or time, can help. */
export function keptBoth({ view, target }: Move, reason: string): OpExecError {
  const { name } = view.instance
  return new OpExecError(
    `The migration of instance ${name} stands still (${reason}). After its switch to post-copy, the guest is on node ${target.name}, ` +
      `and the rest of its memory on node ${view.primary.name}: both are kept, and must not be stopped. Once the two nodes reach each ` +
      `other again, "gnt-instance migrate --cleanup ${name}" goes on with it (QMP: migrate-recover there, migrate with resume here). ` +
      `If the machine on node ${target.name} is gone, the same command says so, and the instance can start from its disks`,
  )
}
