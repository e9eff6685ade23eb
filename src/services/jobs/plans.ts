// Plans of jobs: each is made for one user and one list of opcodes, and expires. A submission that names its plan is
// refused if anything that the plan has read has changed. Plans are only in memory: making one again is cheap, and
// changes nothing.
import { createHash } from 'node:crypto'
import { canonicalJson } from '../../lib/text/canonical-json'
import { seconds, within } from '../../lib/clock'
import { Quota } from '../../lib/net/quota'
import type { ConfigData } from '../../model/config'
import { timeOf, timeText } from '../../lib/text/rfc3339'
import { marksOf } from '../../jobs/marks'
import { ECODE, OpPrereqError, REFUSED } from '../../model/errors'
import {
  PLAN_MAKING_S,
  PLAN_OBJECTS_MAX,
  PLAN_S,
  PLANS_MAX,
  PLANS_PER_USER_MAX,
  PLANS_RUNNING_MAX,
  PLANS_RUNNING_PER_USER_MAX,
} from '../../model/limits/plans'
import { MARK } from '../../model/marks'
import { OpClusterBalance } from '../../opcodes/allocation'
import { definitionOf, fillOpcode, parseOpcode } from '../../opcodes/index'
import type { PlannedBalance } from '../../rpc/luxi/allocation'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { answeringNodes } from '../../rpc/node/answering'
import { NO_ANSWER, type NodeClient } from '../../rpc/node/client'
import type { Identity, Precondition } from '../../rpc/luxi/gantry'
import type { Plan, Planned, PlanRequest, ReadObject } from '../../rpc/luxi/plan'
import type { Access } from '../access/access'
import type { MasterContext } from '../master-context'
import { authorizeSubmit } from './authorize-submit'
import { plannedFor } from './plan-visibility'

interface StoredPlan {
  readonly user: string
  readonly expires_s: number
  /** Usually one; if the opcodes are planned apart, one for each. */
  readonly jobs: readonly PlannedJob[]
}

interface PlannedJob {
  readonly digest: string
  readonly match: Match
}

/** The preconditions of each opcode of a job. */
type Match = readonly (readonly Precondition[])[]

export class Plans {
  /** Oldest first. */
  private readonly stored = new Map<string, StoredPlan>()
  private readonly running = new Quota({ all: PLANS_RUNNING_MAX, each: PLANS_RUNNING_PER_USER_MAX })

  constructor(private readonly context: MasterContext) {}

  async make(access: Access, { ops, apart = false }: PlanRequest): Promise<Plan> {
    const config = this.context.config()
    await authorizeSubmit(access, ops, this.context)
    const planned = await this.limited(access.identity.user, () =>
      this.planJobs(apart ? ops.map((op) => [op]) : [ops], config),
    )
    for (const op of planned.flatMap(({ submits }) => submits.flat())) access.checkSubmitted(config, op)
    const reads = planned.flatMap(({ read }) => read)
    if (reads.length > PLAN_OBJECTS_MAX)
      throw new OpPrereqError(`The plan hangs on ${reads.length} objects, more than ${PLAN_OBJECTS_MAX}`, ECODE.NORES)
    const { id, expires } = this.keep(access.identity, apart ? jobsApart(ops, planned) : [jobOf(ops, planned)])
    const observed = ({ kind, name }: ReadObject) => access.sees(config, `${kind}/${name}`)
    return {
      ...{ id, expires, possible: possible(planned, ops.length) },
      ops: planned.map(plannedFor(access, config, ops)),
      preconditions: distinct(reads.filter(observed)).map(({ kind, name, serial_no }) => ({
        object: `${kind}/${name}`,
        serial_no,
      })),
    }
  }

  private async planJobs(jobs: readonly (readonly WireOpCode[])[], config: ConfigData): Promise<Planned[]> {
    const nodes = this.askedNodes()
    const planned: Planned[] = []
    for (const ops of jobs)
      planned.push(...(await this.context.planJob(ops, { config, gantry: this.context.gantry() }, nodes)))
    return planned
  }

  /** A client for plans. It does not wait for a node that hangs, but gives a busy node as much time as a job would. */
  private askedNodes(): NodeClient {
    const { nodes, questions, clock } = this.context
    return answeringNodes(nodes, clock, async (target) => (await questions.ask(target, 'version', [])) !== NO_ANSWER)
  }

  /** Returns the preconditions of each opcode. Throws if the plan was not made for this submission. */
  async preconditions(identity: Identity, id: string, ops: readonly WireOpCode[]): Promise<Match> {
    const plan = this.stored.get(id) ?? (await this.plannedByJob(id))
    const known = plan !== undefined && plan.user === identity.user && plan.expires_s > seconds(this.context.clock)
    if (!known)
      throw new OpPrereqError(
        `There is no plan ${id}: it has expired after ${PLAN_S / 60} minutes, the master's daemons were started again since, or` +
          ' it is of another user. Make a new one with POST /3/plans',
        REFUSED.changed,
      )
    const digest = digestOf(ops)
    const job = plan.jobs.find((one) => one.digest === digest)
    if (job === undefined) throw new OpPrereqError(`Plan ${id} was made for other opcodes`, REFUSED.otherBody)
    return job.match
  }

  /** A balance planned by a job: the plan is in the job's result, and its id names the job. */
  private async plannedByJob(id: string): Promise<StoredPlan | undefined> {
    const [, job, index] = JOB_PLAN.exec(id) ?? []
    const found = job === undefined ? undefined : await this.context.queue.find(Number(job))
    const op = found?.ops[Number(index)]
    if (op?.status !== 'success' || op.input.OP_ID !== OpClusterBalance.id) return undefined
    // The opcode's unit wrote this.
    const { expires, ops, preconditions } = op.result as PlannedBalance
    const [user = ''] = marksOf(op.input, Number(job), MARK.user)
    const steps = { digest: digestOf(ops.map(asSubmitted)), match: preconditions }
    return { user, expires_s: timeOf(expires ?? '') ?? 0, jobs: [steps] }
  }

  private async limited(user: string, make: () => Promise<Planned[]>): Promise<Planned[]> {
    const full = this.running.full(user)
    if (full !== undefined) throw new OpPrereqError(`${busyText(full, user)}; try again in a moment`, ECODE.TEMP_NORES)
    const leave = this.running.take(user)
    const making = make().finally(leave)
    const planned = await within(this.context.clock, PLAN_MAKING_S, making)
    if (planned !== undefined) return planned
    // The plan counts as running until its nodes have answered or are given up.
    making.catch((error: unknown) => this.context.log.warn({ err: error }, 'a plan that took too long has failed'))
    throw new OpPrereqError(`Nodes did not answer within ${PLAN_MAKING_S} s`, ECODE.TEMP_NORES)
  }

  /** Stores opcodes that were planned here. Later submissions are compared with them, so they get all parameters. */
  storeSteps(identity: Identity, ops: readonly WireOpCode[], match: Match) {
    return this.store(identity, ops.map(asSubmitted), match)
  }

  /** `match`: the preconditions of each opcode. */
  store(identity: Identity, ops: readonly WireOpCode[], match: Match): { id: string; expires: string } {
    return this.keep(identity, [{ digest: digestOf(ops), match }])
  }

  private keep(identity: Identity, jobs: readonly PlannedJob[]): { id: string; expires: string } {
    const id = this.context.random.uuid()
    const expires_s = seconds(this.context.clock) + PLAN_S
    this.stored.set(id, { user: identity.user, expires_s, jobs })
    const mine = [...this.stored].filter(([, { user }]) => user === identity.user)
    const [[oldest] = []] = mine.length > PLANS_PER_USER_MAX ? mine : this.stored.size > PLANS_MAX ? this.stored : []
    if (oldest !== undefined) this.stored.delete(oldest)
    return { id, expires: timeText(expires_s) }
  }
}

const busyText = (full: 'all' | 'each', user: string): string =>
  full === 'each'
    ? `${PLANS_RUNNING_PER_USER_MAX} plans of the user ${user} are being made already`
    : `${PLANS_RUNNING_MAX} plans are being made already`

const JOB_PLAN = /^job-(\d{1,15})-(\d{1,4})$/

function asSubmitted({ OP_ID: id, ...params }: WireOpCode): WireOpCode {
  return parseOpcode(fillOpcode(definitionOf(id), params))
}

const preconditionOf = ({ kind, uuid, serial_no }: ReadObject): Precondition => ({ kind, uuid, serial_no })

const jobOf = (ops: readonly WireOpCode[], planned: readonly Planned[]): PlannedJob => ({
  digest: digestOf(ops),
  match: planned.map(({ read }) => read.map(preconditionOf)),
})

/** The jobs may run in any order, so what another one changes need not be as it was. */
function jobsApart(ops: readonly WireOpCode[], planned: readonly Planned[]): PlannedJob[] {
  const changedBy = new Map<string, Set<Planned>>()
  for (const one of planned)
    for (const { uuid } of one.opcode.changes) changedBy.set(uuid, (changedBy.get(uuid) ?? new Set()).add(one))
  const isOthers = (one: Planned, uuid: string): boolean => [...(changedBy.get(uuid) ?? [])].some((by) => by !== one)
  return planned.map((one, at) => {
    const read = one.read.filter(({ uuid }) => !isOthers(one, uuid))
    return jobOf(ops.slice(at, at + 1), [{ ...one, read }])
  })
}

const distinct = (reads: readonly ReadObject[]): ReadObject[] => [
  ...new Map(reads.map((read) => [`${read.kind}/${read.uuid}`, read])).values(),
]

function possible(planned: readonly Planned[], desired: number): boolean | null {
  const verdicts = planned.map(({ opcode }) => opcode.possible)
  if (verdicts.includes(false)) return false
  return verdicts.includes(null) || planned.length < desired ? null : true
}

/** Secrets are part of the digest, but are not kept. */
const digestOf = (ops: readonly WireOpCode[]): string => createHash('sha256').update(canonicalJson(ops)).digest('hex')
