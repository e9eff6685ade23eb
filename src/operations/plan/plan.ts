// Plans: what a job would do, without doing it. Its opcodes run their real steps one after the other on a copy of the
// configuration. Locks are only noted, nodes are asked but get no orders, and hooks are only named.
import { diff as deltaOf } from '../../config/delta'
import { EMPTY_GANTRY } from '../../config/upgrade'
import type { ConfigData } from '../../model/config'
import { GanetiError, OpPrereqError } from '../../model/errors'
import { opcodeSummary } from '../../opcodes/index'
import type { WireOpCode } from '../../rpc/luxi/calls'
import type { Planned, PlannedHooks, PlannedOpcode, Prerequisite } from '../../rpc/luxi/plan'
import { unitFor } from '../index'
import { LockSession } from '../lock-session'
import { type BoundUnit, ResultWithJobs } from '../logical-unit'
import { unitLevels } from '../lock-session'
import { UnitContext } from '../unit-context'
import { PlanEnd } from './end'
import { planEnvironment } from './environment'
import { type PlanFacts, PlanState } from './state'
import { plannedChanges } from './changes'

/** One result for each opcode, up to the first impossible one. */
export async function planJob(ops: readonly WireOpCode[], facts: PlanFacts): Promise<Planned[]> {
  const state = new PlanState(facts)
  const planned: Planned[] = []
  for (const op of ops) {
    const result = await planOpcode(op, state)
    planned.push(result)
    if (result.opcode.possible === false) break
  }
  return planned
}

async function planOpcode(op: WireOpCode, state: PlanState): Promise<Planned> {
  const before = state.config
  const { incomplete, ordered } = state
  state.begin()
  const env = planEnvironment(state, op)
  const ctx = new UnitContext(env, new LockSession(env), op)
  const unit = await unitFor(op.OP_ID)
  const bound = unit.bind(op)
  const refusal = await failureOf(state, () => check(bound, ctx, unit.bigLock))
  const { read, prerequisites } = state.checked()
  const hooks = refusal === undefined ? await hooksOf(bound, ctx, state.config) : null
  const goesOn = refusal === undefined && op['dry_run'] !== true
  const stopped = goesOn ? await failureOf(state, () => run(bound, ctx, state)) : undefined
  if (stopped !== undefined) state.thaw()
  // An opcode that fails before it changes any node would fail in a real run, too.
  const failure = refusal ?? (state.orders.length === 0 && !(stopped instanceof PlanEnd) ? stopped : undefined)
  // The plan cannot know what an earlier opcode would do to the nodes, so a refusal may be wrong.
  const doubtful = failure !== undefined && (ordered || incomplete || failure instanceof PlanEnd)
  const opcode: PlannedOpcode = {
    OP_ID: op.OP_ID,
    summary: opcodeSummary(op),
    possible: failure === undefined ? true : doubtful ? null : false,
    locks: state.locks,
    prerequisites: [...prerequisites, conclusion(failure, doubtful)],
    messages: state.messages,
    hooks,
    changes: plannedChanges(before, deltaOf(documents(before), documents(state.config))),
    changes_complete: failure === undefined && stopped === undefined,
    changes_note: stopped === undefined ? null : `What comes after this needs the real nodes: ${stopped.message}`,
    node_calls: state.orders,
    jobs: state.jobs.map((jobOps) => jobOps.map(opcodeSummary)),
  }
  state.ordered ||= state.orders.length > 0
  state.incomplete ||= stopped !== undefined
  return { opcode, read: incomplete ? [] : read, submits: state.jobs }
}

async function check(bound: BoundUnit, ctx: UnitContext, bigLock: boolean): Promise<void> {
  await ctx.locks.acquireBigLock(bigLock ? 'exclusive' : 'shared')
  const plan = await bound.locks(ctx)
  for (const level of unitLevels) {
    const want = (await bound.declare(level, ctx)) ?? plan[level]
    if (want !== undefined) await ctx.locks.acquire(level, want)
  }
  await bound.check(ctx)
}

async function run(bound: BoundUnit, ctx: UnitContext, state: PlanState): Promise<void> {
  state.running = true
  const result = await bound.run(ctx)
  if (result instanceof ResultWithJobs) state.submitted(result.jobs)
}

/**
 * Rethrows an error that is not a refusal of the opcode but a defect of ours or of the machine, because it says nothing about the opcode.
 */
async function failureOf(state: PlanState, step: () => Promise<void>): Promise<GanetiError | PlanEnd | undefined> {
  try {
    await step()
  } catch (error) {
    if (state.end === undefined && !(error instanceof GanetiError)) throw error
    return state.end ?? (error as GanetiError)
  }
  return state.end
}

function conclusion(failure: GanetiError | PlanEnd | undefined, doubtful: boolean): Prerequisite {
  const what = 'What the operation itself checks under its locks'
  if (failure === undefined) return { what, passed: true, reason: null, code: null, node: null }
  const code = failure instanceof OpPrereqError ? failure.code : null
  return { what, passed: doubtful ? null : false, reason: failure.message, code, node: null }
}

async function hooksOf(bound: BoundUnit, ctx: UnitContext, config: ConfigData): Promise<PlannedHooks | null> {
  if (bound.hooks === undefined) return null
  const names = (uuids: readonly string[]) => uuids.map((uuid) => config.nodes[uuid]?.name ?? uuid)
  const { pre, post } = bound.hooks.nodes(ctx)
  return { path: bound.hooks.path, pre: names(pre), post: names(post) }
}

const documents = (config: ConfigData) => ({ config, gantry: EMPTY_GANTRY })
