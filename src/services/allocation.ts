// Answers questions about placement: what a balance would move, how many instances fit, and what happens if. Reads the
// cluster, computes in a thread, and leaves out what the caller's token does not cover. A question that takes too long,
// or that a script answers, becomes a job.
import { type Asked, balanceQuestion, capacityQuestion, visibleIn, whatIfQuestion } from '../allocation/questions/asked'
import { preconditionsOf } from '../allocation/questions/preconditions'
import { toParts } from '../allocation/questions/question-parts'
import type { Answers, Question } from '../allocation/questions/questions'
import { recordValues } from '../config/records'
import { jobStatus } from '../jobs/job'
import { within } from '../lib/clock'
import { Quota } from '../lib/net/quota'
import type { BalanceRequest, Capacity, CapacityRequest, Visible, WhatIf, WhatIfRequest } from '../model/allocation'
import { ALLOCATORS_SECTION, defaultAllocators, ownAllocators } from '../model/allocators'
import type { ConfigData } from '../model/config'
import { BUILTIN_IALLOCATOR } from '../model/constants/words'
import { ECODE, errorFromWire, type GanetiError, GenericError, OpPrereqError } from '../model/errors'
import {
  ALLOCATION_ANSWER_S,
  ALLOCATION_PER_USER_MAX,
  ALLOCATION_THREADS,
  ALLOCATION_WAITING_MAX,
} from '../model/limits/allocation'
import { OpClusterBalance, OpClusterCapacity, OpClusterWhatIf } from '../opcodes/allocation'
import { type InputOf, op, type OpcodeDefinition } from '../opcodes/index'
import type { Answered, PlannedBalance } from '../rpc/luxi/allocation'
import type { WireOpCode } from '../rpc/luxi/calls'
import type { Access } from './access/access'
import { tellingFor } from './access/hidden-names'
import type { JobService } from './jobs/jobs'
import type { MasterContext } from './master-context'
import type { Plans } from './jobs/plans'
import type { Submissions } from './jobs/submissions'

/** How long the caller waits for an answer (null: as long as allowed), and whether it still waits. */
interface Patience {
  readonly wait_s: number | null
  readonly signal: AbortSignal | undefined
}

interface Parts {
  readonly plans: Plans
  readonly jobs: Pick<JobService, 'whenEnded'>
  readonly submissions: Pick<Submissions, 'ask'>
}

export class AllocationService {
  /** Running and waiting questions. */
  private readonly questions = new Quota({
    all: ALLOCATION_THREADS + ALLOCATION_WAITING_MAX,
    each: ALLOCATION_PER_USER_MAX,
  })

  constructor(
    private readonly context: MasterContext,
    private readonly parts: Parts,
  ) {}

  async balance(access: Access, request: BalanceRequest, patience: Patience): Promise<Answered<PlannedBalance>> {
    const config = this.context.config()
    const visible = visibleTo(access, config)
    const requested = balanceQuestion(config, request, visible)
    const job = asJob(OpClusterBalance, { ...request, visible })
    if (this.isForScripts('balance', request)) return this.byScript(access, job, patience)
    return this.within(access, job, patience, async (signal) => {
      const { steps, ops, ...found } = await this.think(config, requested, signal)
      const preconditions = preconditionsOf(config, { steps, ops })
      const { plans } = this.parts
      const plan = steps.length === 0 ? undefined : plans.storeSteps(access.identity, ops, preconditions)
      return { plan: plan?.id ?? null, expires: plan?.expires ?? null, ...found, steps, ops, preconditions }
    })
  }

  async capacity(access: Access, request: CapacityRequest, patience: Patience): Promise<Answered<Capacity>> {
    const config = this.context.config()
    const visible = visibleTo(access, config)
    const requested = capacityQuestion(config, request, visible)
    const job = asJob(OpClusterCapacity, { ...request, visible })
    if (this.isForScripts('capacity', request)) return this.byScript(access, job, patience)
    return this.within(access, job, patience, (signal) => this.think(config, requested, signal))
  }

  async whatIf(access: Access, request: WhatIfRequest, patience: Patience): Promise<Answered<WhatIf>> {
    const config = this.context.config()
    const visible = visibleTo(access, config)
    const requested = whatIfQuestion(config, request, visible)
    const job = asJob(OpClusterWhatIf, { ...request, visible })
    return this.within(access, job, patience, async (signal) =>
      visibleIn(await this.think(config, requested, signal), visible),
    )
  }

  /**
   * If the time is over, the question becomes a job. The job starts from the beginning: another process answers, with the cluster of that
   * time.
   */
  private async within<T>(
    access: Access,
    job: WireOpCode,
    { wait_s, signal }: Patience,
    think: (signal: AbortSignal) => Promise<T>,
  ): Promise<Answered<T>> {
    const { clock, log } = this.context
    const enough = new AbortController()
    const give = () => enough.abort(signal?.reason)
    signal?.addEventListener('abort', give, { once: true })
    const limit_s = boundOf(wait_s)
    try {
      const thinking = limit_s > 0 ? this.share(access.identity.user, () => think(enough.signal)) : undefined
      const answer = thinking && (await within(clock, limit_s, thinking))
      if (answer !== undefined) return { answer: this.told(access, answer, job) }
      thinking?.catch((error: unknown) => log.debug({ err: error }, 'a question takes too long and becomes a job'))
      enough.abort()
    } finally {
      signal?.removeEventListener('abort', give)
    }
    signal?.throwIfAborted()
    return { job: await this.parts.submissions.ask(access, job) }
  }

  /** Undefined if all users together, or this one, have too many questions. */
  private share<T>(user: string, think: () => Promise<T>): Promise<T> | undefined {
    if (this.questions.full(user) !== undefined) return undefined
    return think().finally(this.questions.take(user))
  }

  /** Reasons name nodes. */
  private told<T>(access: Access, answer: T, { visible: _, ...said }: WireOpCode): T {
    return tellingFor(access, this.context.config())(answer, said)
  }

  private isForScripts(kind: 'balance' | 'capacity', { iallocator }: { iallocator?: string }): boolean {
    const lists = defaultAllocators(this.context.gantry().sections[ALLOCATORS_SECTION] ?? {})
    return ownAllocators(lists, kind, iallocator)[0] !== BUILTIN_IALLOCATOR
  }

  /** Only jobs ask scripts. If the script is quick, the request still gets the answer. */
  private async byScript<T>(access: Access, op: WireOpCode, { wait_s }: Patience): Promise<Answered<T>> {
    const job = await this.parts.submissions.ask(access, op)
    const ended = await this.parts.jobs.whenEnded(job, boundOf(wait_s))
    const status = ended === undefined ? 'running' : jobStatus(ended)
    const result: unknown = ended?.ops[0]?.result
    if (status === 'error') throw refusalOf(errorFromWire(result))
    // The opcode's unit gives the right type of answer for each question.
    return status === 'success' ? { answer: this.told(access, result as T, op) } : { job }
  }

  private async think<Q extends Question>(
    config: ConfigData,
    { template, question }: Asked<Q>,
    signal: AbortSignal,
  ): Promise<Answers[Q['kind']]> {
    const { allocation } = this.context
    if (allocation === undefined) throw new GenericError('Questions to the allocation are not answered here')
    const { data, options } = await allocation.picture(this.context.questions, config, template)
    // The thread is ours, and gives the right type of answer for each question.
    return (await allocation.run(toParts({ data, question, options }), signal)) as Answers[Q['kind']]
  }
}

/** A failing script is no defect of this program. */
const refusalOf = (error: GanetiError): OpPrereqError =>
  error instanceof OpPrereqError ? error : new OpPrereqError(error.message, ECODE.ENVIRON)

const boundOf = (wait_s: number | null): number => Math.min(wait_s ?? ALLOCATION_ANSWER_S, ALLOCATION_ANSWER_S)

const asJob = <D extends OpcodeDefinition>(definition: D, params: InputOf<D>): WireOpCode => op(definition, params)

/** Null for all. */
function visibleTo(access: Access, config: ConfigData): Visible | null {
  if (!access.limited) return null
  const observed = (kind: 'group' | 'node' | 'instance', objects: readonly { readonly name: string }[]): string[] =>
    objects.flatMap(({ name }) => (access.sees(config, `${kind}/${name}`) ? [name] : []))
  return {
    groups: observed('group', recordValues(config.nodegroups)),
    nodes: observed('node', recordValues(config.nodes)),
    instances: observed('instance', recordValues(config.instances)),
  }
}
