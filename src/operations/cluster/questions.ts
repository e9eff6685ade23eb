// OP_CLUSTER_BALANCE, OP_CLUSTER_CAPACITY and OP_CLUSTER_WHAT_IF: questions to the allocation that take too long for a
// request, or that scripts answer. They hold no locks. Their answers describe the cluster of the moment when they
// began.
import {
  type Asked,
  balanceQuestion,
  capacityQuestion,
  visibleIn,
  whatIfQuestion,
} from '../../allocation/questions/asked'
import type { BalanceAnswer } from '../../allocation/questions/balance-plan'
import { preconditionsOf } from '../../allocation/questions/preconditions'
import { toParts } from '../../allocation/questions/question-parts'
import type { Answers, Question } from '../../allocation/questions/questions'
import { seconds } from '../../lib/clock'
import { timeText } from '../../lib/text/rfc3339'
import { TaskTooLong } from '../../lib/work/worker-pool'
import type { Capacity } from '../../model/allocation'
import { ownAllocators } from '../../model/allocators'
import type { ConfigData } from '../../model/config'
import { BUILTIN_IALLOCATOR } from '../../model/constants/words'
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { PLAN_S } from '../../model/limits/plans'
import { OpClusterBalance, OpClusterCapacity, OpClusterWhatIf } from '../../opcodes/allocation'
import type { PlannedBalance } from '../../rpc/luxi/allocation'
import { balanceByScript, capacityByScript } from '../iallocator/questions'
import { firstThatFinds } from '../instance/placement/allocator'
import { logicalUnit } from '../logical-unit'
import { clusterPicture } from '../plan/picture'
import type { UnitContext } from '../unit-context'

export const clusterBalance = logicalUnit(OpClusterBalance, {
  question: true,
  async check(ctx, op) {
    const config = await wholeConfig(ctx)
    return { config, asked: balanceQuestion(config, op, op.visible ?? null) }
  },
  async run(ctx, op, { config, asked: requested }): Promise<PlannedBalance | null> {
    if (isOnlyPlanned(ctx)) return null
    const answer = await byAllocators<BalanceAnswer>(ctx, 'balance', op, {
      builtIn: () => think(ctx, config, requested),
      script: (name) => balanceByScript(ctx, name, config, requested, op.groups !== undefined),
    })
    const found = answer.steps.length > 0
    const { jobId, opIndex, clock } = ctx.env
    return {
      plan: found ? `job-${jobId}-${opIndex}` : null,
      expires: found ? timeText(seconds(clock) + PLAN_S) : null,
      ...answer,
      preconditions: preconditionsOf(config, answer),
    }
  },
})

export const clusterCapacity = logicalUnit(OpClusterCapacity, {
  question: true,
  async check(ctx, op) {
    const config = await wholeConfig(ctx)
    return { config, asked: capacityQuestion(config, op, op.visible ?? null) }
  },
  async run(ctx, op, { config, asked: requested }) {
    if (isOnlyPlanned(ctx)) return null
    return byAllocators<Capacity>(ctx, 'capacity', op, {
      builtIn: () => think(ctx, config, requested),
      script: (name) => capacityByScript(ctx, name, config, requested, op.spec),
    })
  },
})

export const clusterWhatIf = logicalUnit(OpClusterWhatIf, {
  question: true,
  async check(ctx, op) {
    const config = await wholeConfig(ctx)
    return { config, asked: whatIfQuestion(config, op, op.visible ?? null) }
  },
  async run(ctx, op, { config, asked: requested }) {
    if (isOnlyPlanned(ctx)) return null
    return visibleIn(await think(ctx, config, requested), op.visible ?? null)
  },
})

/** A question changes nothing, so its plan need not wait for the answer. */
const isOnlyPlanned = (ctx: UnitContext): boolean => ctx.env.think === undefined

const wholeConfig = (ctx: UnitContext): Promise<ConfigData> =>
  ctx.config.read({ nodes: 'all', instances: 'all', groups: 'all', networks: 'all' })

async function byAllocators<T>(
  ctx: UnitContext,
  kind: 'balance' | 'capacity',
  { iallocator, visible }: { readonly iallocator?: string | undefined; readonly visible?: unknown },
  ask: { readonly builtIn: () => Promise<T>; readonly script: (name: string) => Promise<T> },
): Promise<T> {
  const allocators = ownAllocators(await ctx.config.defaultAllocators(), kind, iallocator)
  ctx.note({ iallocator: allocators[0] })
  return firstThatFinds(ctx, allocators, async (name) => {
    if (name === BUILTIN_IALLOCATOR) return ask.builtIn()
    // The script sees the whole cluster, and its answer may mention all of it.
    if (visible !== undefined)
      throw new OpPrereqError(`A token with a scope cannot ask the script '${name}'`, ECODE.INVAL)
    return ask.script(name)
  })
}

async function think<Q extends Question>(
  ctx: UnitContext,
  config: ConfigData,
  { template, question }: Asked<Q>,
): Promise<Answers[Q['kind']]> {
  if (ctx.env.think === undefined) throw new OpExecError('thinking about a question, which only its job does')
  const { data, options } = await clusterPicture(ctx.env.nodes, config, template)
  try {
    // The thread is ours, and gives the right type of answer for each question.
    return (await ctx.env.think(toParts({ data, question, options }))) as Answers[Q['kind']]
  } catch (error) {
    if (!(error instanceof TaskTooLong)) throw error
    throw new OpPrereqError(`The answer ${error.message}; ask for less: fewer groups, moves or instances`, ECODE.NORES)
  }
}
