// Jobs that come through /3: who may submit what, once per Idempotency-Key, and only while the world is as the caller saw it.
import { nanoseconds } from '../lib/clock'
import { type Mark, MARK } from '../jobs/marks'
import type { JobId, WireOpCode } from '../rpc/luxi/calls'
import type { Submitted, SubmitRequest } from '../rpc/luxi/gantry'
import type { Access } from './access'
import { IdempotencyKeys } from './idempotency'
import type { JobService } from './jobs'
import type { MasterContext } from './master-context'
import { checkPreconditions } from './recheck'

export class Submissions {
  private readonly keys: IdempotencyKeys

  constructor(
    private readonly context: MasterContext,
    private readonly jobs: JobService,
  ) {
    this.keys = new IdempotencyKeys(context.queue, context.clock)
  }

  async submit(access: Access, request: SubmitRequest): Promise<Submitted> {
    const { ops, key, digest } = request
    for (const op of ops) access.check(this.context.config(), op)
    const submit = (note: string | null): Promise<JobId> => {
      checkPreconditions(this.context.config(), request.match)
      return this.jobs.submit(this.marked(access, request, note), false)
    }
    if (key === null) return { job: await submit(null), replayed: false }
    return this.keys.once(access.identity.user, key, digest, submit)
  }

  private marked(access: Access, { ops, reason, match }: SubmitRequest, note: string | null): WireOpCode[] {
    const now_ns = nanoseconds(this.context.clock)
    const mark = (source: string, text: string): Mark => [source, text, now_ns]
    const { user, token } = access.identity
    const everyOp = [
      ...(reason === null ? [] : [mark('gnt:user', reason)]),
      mark(MARK.user, user),
      ...(token === null ? [] : [mark(MARK.token, token)]),
      ...(access.scope === null || !access.limited ? [] : [mark(MARK.scope, scopeText(access.scope))]),
    ]
    const firstOp = [
      ...(note === null ? [] : [mark(MARK.key, note)]),
      ...match.map((wanted) => mark(MARK.match, JSON.stringify(wanted))),
    ]
    return ops.map((op, index) => ({ ...op, reason: index === 0 ? [...everyOp, ...firstOp] : everyOp }))
  }
}

const scopeText = ({ tags, groups }: { tags: readonly string[]; groups: readonly string[] }): string =>
  JSON.stringify({ tags, groups })
