// Operations: the work of each opcode. A logical unit names its locks, checks its prerequisites, and acts only through
// wconfd and noded. It never touches the master's disk, and knows nothing of the queue, the doors or its processor.
import type { CommonParams, OpcodeDefinition, ParamsOf } from '../opcodes/opcode'
import { badNewName } from '../opcodes/new-names'
import { BadParameter, fillOpcode } from '../opcodes/parse'
import type { Node } from '../model/config'
import { ECODE, OpPrereqError } from '../model/errors'
import type { WireOpCode } from '../rpc/luxi/calls'
import type { NodeResult } from '../rpc/node/client'
import type { HookResult } from '../rpc/node/dicts'
import type { UnitLevel, Want } from './lock-session'
import type { Change, UnitContext } from './unit-context'

export type LockPlan = Partial<Record<UnitLevel, Want>>

export const shared = (names: readonly string[] | 'all'): Want => ({ mode: 'shared', names })
export const exclusive = (names: readonly string[] | 'all'): Want => ({ mode: 'exclusive', names })
export const all = 'all' as const

/** The kind of object that a hook is about. */
export type HookObject = 'CLUSTER' | 'NODE' | 'GROUP' | 'NETWORK' | 'INSTANCE'

interface HookPlan<P, C> {
  /** Name of the hook directory, without phase. */
  readonly path: string
  readonly type: HookObject
  /** With `phase` post, it is read again after the run. */
  env(ctx: UnitContext, op: P, checked: C, phase: 'pre' | 'post'): Promise<HookEnv> | HookEnv
  /** Node uuids, by phase. */
  nodes(ctx: UnitContext, op: P, checked: C): { pre: readonly string[]; post: readonly string[] }
  /** Makes the opcode's result from the scripts' output after the run. Without it, their failures are only warnings. */
  judge?(ctx: UnitContext, op: P, result: unknown, answers: readonly HookAnswer[]): unknown
}
/** The answer of one node's hook scripts. */
export interface HookAnswer {
  readonly node: Node
  readonly result: NodeResult<readonly HookResult[]>
}
/** Values are converted to Python's texts (True, None) for the scripts. */
export type HookEnv = Record<string, unknown>

/** An opcode for units: with defaults; unset parameters are missing. */
export type Op<D> = { readonly OP_ID: string } & CommonParams & ParamsOf<D>

export interface UnitPlan<P, C, R> {
  /** No other opcode may run at the same time. */
  readonly bigLock?: true
  /** A caller waits for the answer, so the opcode does not wait for a node that hangs. It changes nothing. */
  readonly question?: true
  /** The opcode changes nothing, so it may run twice. The same holds for a question. */
  readonly repeatable?: true
  /** Called before any lock is held, so it may only decide which locks to request. */
  locks?(op: P, ctx: UnitContext): Promise<LockPlan> | LockPlan
  /** Locks of a level that depend on data read under earlier levels' locks; replaces `locks` for that level. */
  declare?(level: UnitLevel, op: P, ctx: UnitContext): Promise<Want | undefined> | Want | undefined
  readonly hooks?: HookPlan<P, C>
  /** Checks prerequisites under the locks, without changing anything. A dry run stops after it. */
  check(ctx: UnitContext, op: P): Promise<C>
  /** The configuration changes: either all that the unit does, or the part that a plan can show beforehand. */
  changes?(ctx: UnitContext, op: P, checked: C): readonly Change[]
  /** The result of a dry run. */
  dryRun?(op: P, checked: C): unknown
  /** Without it, the unit applies `changes` and returns null. */
  run?(ctx: UnitContext, op: P, checked: C): Promise<R>
}

/** A unit without its types: one bound opcode, step by step. */
export interface LogicalUnit {
  readonly id: string
  readonly bigLock: boolean
  readonly question: boolean
  readonly repeatable: boolean
  bind(op: WireOpCode): BoundUnit
}

export interface BoundUnit {
  locks(ctx: UnitContext): Promise<LockPlan>
  declare(level: UnitLevel, ctx: UnitContext): Promise<Want | undefined>
  check(ctx: UnitContext): Promise<void>
  readonly hooks: BoundHooks | undefined
  dryRun(): unknown
  run(ctx: UnitContext): Promise<unknown>
}

export interface BoundHooks {
  readonly path: string
  readonly type: HookObject
  env(ctx: UnitContext, phase: 'pre' | 'post'): Promise<HookEnv>
  nodes(ctx: UnitContext): { pre: readonly string[]; post: readonly string[] }
  readonly judge: ((ctx: UnitContext, result: unknown, answers: readonly HookAnswer[]) => unknown) | undefined
}

/** A unit's result that also submits jobs: `{jobs: [[true, id], ...], ...rest}`. */
export class ResultWithJobs {
  constructor(
    readonly jobs: readonly (readonly WireOpCode[])[],
    readonly rest: Readonly<Record<string, unknown>> = {},
  ) {}
}

export function logicalUnit<D extends OpcodeDefinition, C, R>(definition: D, plan: UnitPlan<Op<D>, C, R>): LogicalUnit {
  return {
    ...{ id: definition.id, bigLock: plan.bigLock === true, question: plan.question === true },
    repeatable: plan.hooks === undefined && (plan.question ?? plan.repeatable ?? false),
    bind: (wire) => bind(fill(definition, wire), plan),
  }
}

/**
 * An opcode's parameters with their defaults. Refuses a new name that is not allowed, whatever door it came through.
 */
export function fill<D extends OpcodeDefinition>(definition: D, wire: WireOpCode): Op<D> {
  const { OP_ID: _, ...params } = wire
  const complaint = badNewName(wire)
  if (complaint !== undefined) throw new OpPrereqError(complaint, ECODE.INVAL)
  try {
    // Safe: fillOpcode has parsed the parameters by the same table that gives the type Op<D>.
    return fillOpcode(definition, params) as unknown as Op<D>
  } catch (error) {
    if (error instanceof BadParameter) throw new OpPrereqError(error.message, ECODE.INVAL)
    throw error
  }
}

function bind<P, C, R>(op: P, plan: UnitPlan<P, C, R>): BoundUnit {
  let state: { checked: C } | undefined
  const checked = () => {
    if (state === undefined) throw new Error('an operation may not run before its check')
    return state.checked
  }
  const hooks = plan.hooks
  return {
    locks: async (ctx) => (await plan.locks?.(op, ctx)) ?? {},
    declare: async (level, ctx) => plan.declare?.(level, op, ctx),
    check: async (ctx) => {
      state = { checked: await plan.check(ctx, op) }
    },
    hooks: hooks && {
      path: hooks.path,
      type: hooks.type,
      env: async (ctx, phase) => hooks.env(ctx, op, checked(), phase),
      nodes: (ctx) => hooks.nodes(ctx, op, checked()),
      judge: hooks.judge && ((ctx, result, answers) => hooks.judge?.(ctx, op, result, answers)),
    },
    dryRun: () => plan.dryRun?.(op, checked()) ?? null,
    run: async (ctx) => {
      if (plan.run !== undefined) return plan.run(ctx, op, checked())
      await ctx.config.change(plan.changes?.(ctx, op, checked()) ?? [])
      return null
    },
  }
}
