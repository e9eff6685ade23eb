// Submissions through /3: checks rights, runs each Idempotency-Key once, and checks that the objects are as the caller
// saw them.
import { nanoseconds } from '../../lib/clock'
import { type Mark, MARK, type Rights, withoutMarks } from '../../model/marks'
import { definitionOf } from '../../opcodes/index'
import type { JobId, WireOpCode } from '../../rpc/luxi/calls'
import type { Precondition, Submitted, SubmitRequest } from '../../rpc/luxi/gantry'
import type { Access } from '../access/access'
import { authorizeSubmit } from './authorize-submit'
import { IdempotencyKeys } from './idempotency'
import type { JobService } from './jobs'
import type { MasterContext } from '../master-context'
import type { Plans } from './plans'
import { checkAskedFor, checkPreconditions, seesWanted } from './authorize-start'

export class Submissions {
  private readonly keys: IdempotencyKeys

  constructor(
    private readonly context: MasterContext,
    private readonly jobs: JobService,
    private readonly plans: Plans,
  ) {
    this.keys = new IdempotencyKeys(context)
  }

  async submit(access: Access, request: SubmitRequest): Promise<Submitted> {
    const { ops, key, digest } = request
    await authorizeSubmit(access, ops, this.context)
    const submit = async (note: string | null): Promise<JobId> => {
      const planned = request.plan === null ? [] : await this.plans.preconditions(access.identity, request.plan, ops)
      const match = ops.map((_, index) => [...(index === 0 ? request.match : []), ...(planned[index] ?? [])])
      const config = this.context.config()
      checkAskedFor(access, config, request.match)
      checkPreconditions(config, planned.flat(), (desired) => seesWanted(access, config, desired))
      return this.jobs.submit(this.marked(access, request, note, match), false)
    }
    if (key === null) return { job: await submit(null), replayed: false }
    return this.keys.once(access.identity.user, key, digest, submit)
  }

  /** Submits a question as a job. The caller's right to ask has been checked. */
  ask(access: Access, op: WireOpCode): Promise<JobId> {
    return this.jobs.submit(this.marked(access, { ops: [op], reason: null }, null, []), false)
  }

  private marked(
    access: Access,
    { ops, reason }: Pick<SubmitRequest, 'ops' | 'reason'>,
    note: string | null,
    match: readonly (readonly Precondition[])[],
  ): WireOpCode[] {
    const now_ns = nanoseconds(this.context.clock)
    const mark = (source: string, text: string): Mark => [source, text, now_ns]
    const { user, token, permissions } = access.identity
    const rights: Rights = { user: permissions, token: access.scope?.permissions ?? null }
    const everyOp = [
      ...(reason === null ? [] : [mark('gnt:user', reason)]),
      mark(MARK.user, user),
      ...(token === null ? [] : [mark(MARK.token, token)]),
      ...(access.scope === null || !access.limited ? [] : [mark(MARK.scope, scopeText(access.scope))]),
    ]
    const firstOp = note === null ? [] : [mark(MARK.key, note)]
    return ops.map((op, index) => {
      const desired = match[index] ?? []
      const checks = desired.length === 0 ? [] : [mark(MARK.match, JSON.stringify(desired))]
      const forOthers = definitionOf(op.OP_ID).forOthers ? [mark(MARK.rights, JSON.stringify(rights))] : []
      // Marks from the caller, for example in the opcodes of a multi-allocation, would pass for ours.
      return { ...withoutMarks(op), reason: [...everyOp, ...(index === 0 ? firstOp : []), ...checks, ...forOthers] }
    })
  }
}

const scopeText = ({ tags, groups }: { tags: readonly string[]; groups: readonly string[] }): string =>
  JSON.stringify({ tags, groups })
