// The life of an opcode, from top to bottom: bind, lock, start, check, hooks, run, hooks, free.
import { LOG_TYPE } from '../model/constants/jobs'
import { ECODE, OpPrereqError } from '../model/errors'
import type { WireOpCode } from '../rpc/luxi/calls'
import { answeringNodes } from '../rpc/node/answering'
import type { JobEnvironment } from './environment'
import { HookRunner } from './hooks'
import { unitFor } from './index'
import { interrupted } from './interrupted'
import { LockSession } from './lock-session'
import { inherit } from './inherit'
import { ResultWithJobs, type BoundUnit, type LogicalUnit } from './logical-unit'
import { unitLevels } from './lock-session'
import { UnitContext } from './unit-context'

/**
 * Runs an opcode to its end and returns its result. Whatever happens, all locks are freed. If it did not fit on the
 * nodes that happened to be free, it is tried again with the locks of all nodes.
 */
export async function runOpcode(wire: WireOpCode, env: JobEnvironment): Promise<unknown> {
  const op = { ...wire, ...env.secrets }
  try {
    return await runWithLocks(op, env)
  } catch (error) {
    if (!(error instanceof OpPrereqError) || error.code !== ECODE.TEMP_NORES || op['opportunistic_locking'] !== true)
      throw error
    env.log(LOG_TYPE.message, '* falling back to full lock allocation')
    env.note({ opportunistic_locking: false })
    await env.retrying()
    return runWithLocks({ ...op, opportunistic_locking: false }, env)
  }
}

async function runWithLocks(op: WireOpCode, env: JobEnvironment): Promise<unknown> {
  const unit = await unitFor(op.OP_ID)
  const bound = unit.bind(op)
  const locks = new LockSession(env)
  const own = unit.question ? { ...env, nodes: answeringNodes(env.nodes, env.clock) } : env
  const ctx = new UnitContext(own, locks, op)
  try {
    return await underLocks(bound, ctx, unit)
  } catch (error) {
    throw interrupted(error, op, ctx.config)
  }
}

async function underLocks(bound: BoundUnit, ctx: UnitContext, { bigLock, repeatable }: LogicalUnit): Promise<unknown> {
  const { locks, env } = ctx
  try {
    await locks.acquireBigLock(bigLock ? 'exclusive' : 'shared')
    await acquireLevels(bound, ctx, locks)
    await env.started(repeatable ? 'repeatable' : 'once')
    return await execute(bound, ctx)
  } finally {
    await locks.free()
  }
}

async function acquireLevels(bound: BoundUnit, ctx: UnitContext, locks: LockSession): Promise<void> {
  const plan = await bound.locks(ctx)
  for (const level of unitLevels) {
    const want = (await bound.declare(level, ctx)) ?? plan[level]
    if (want !== undefined) await locks.acquire(level, want)
  }
}

async function execute(bound: BoundUnit, ctx: UnitContext): Promise<unknown> {
  const hooks = new HookRunner(ctx, ctx.op.OP_ID, bound.hooks)
  ctx.postHooksOn = (node) => hooks.postOn(node)
  try {
    await bound.check(ctx)
    await hooks.pre()
    if (ctx.op['dry_run'] === true) {
      ctx.log.info('dry-run mode requested, not actually executing the operation')
      return bound.dryRun()
    }
    return await hooks.post(await finish(await bound.run(ctx), ctx))
  } finally {
    if (ctx.config.writes > 0) await reported(ctx, () => hooks.configUpdate())
  }
}

/** A failing config-update hook must not hide the opcode's own result. */
async function reported(ctx: UnitContext, step: () => Promise<void>): Promise<void> {
  try {
    await step()
  } catch (error) {
    ctx.env.processLog.warn({ err: error }, 'the config-update hook could not be run')
  }
}

async function finish(result: unknown, ctx: UnitContext): Promise<unknown> {
  if (!(result instanceof ResultWithJobs)) return result
  const jobs = result.jobs.map((ops) => ops.map((op) => inherit(op, ctx.op)))
  return { ...result.rest, jobs: jobs.length === 0 ? [] : await ctx.env.submitJobs(jobs) }
}
