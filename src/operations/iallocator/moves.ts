// What an allocator answers when instances have to move: where each goes, which cannot, and the jobs that do it.
import { dictOf, listOf, any, nonEmpty, oneOf, orNull, tuple } from '../../opcodes/check'
import { OpExecError } from '../../model/errors'
import type { WireOpCode } from '../../rpc/luxi/calls'
import type { UnitContext } from '../unit-context'

const moved = listOf(tuple(nonEmpty, nonEmpty, listOf(nonEmpty)))
const failed = listOf(tuple(nonEmpty, orNull(nonEmpty)))
const jobs = listOf(listOf(dictOf(any)))
const movesAnswer = tuple(moved, failed, jobs)
/** Opcodes that an allocator may ask for. */
const stepId = oneOf('MoveStep', ['OP_INSTANCE_FAILOVER', 'OP_INSTANCE_MIGRATE', 'OP_INSTANCE_REPLACE_DISKS'])

/** The jobs; all or nothing, as nobody wants to find out afterwards that something stayed behind. */
export function jobsOfMoves(ctx: UnitContext, result: unknown, earlyRelease: boolean): WireOpCode[][] {
  const [went, stuck, steps] = parsed(result)
  if (stuck.length > 0) {
    const text = `Unable to evacuate instances ${stuck.map(([name, why]) => `${name} (${why ?? 'no reason'})`).join(', ')}`
    ctx.log.warning(text)
    throw new OpExecError(text)
  }
  if (went.length > 0)
    ctx.log.info(`Instances to be moved: ${went.map(([name, group]) => `${name} (to ${group})`).join(', ')}`)
  return steps.map((ops) => ops.map((op) => withRelease(op, earlyRelease)))
}

function parsed(result: unknown) {
  try {
    const [went, stuck, steps] = movesAnswer.parse(result)
    return [went, stuck, steps.map((ops) => ops.map((op) => ({ ...op, OP_ID: stepId.parse(op['OP_ID']) })))] as const
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new OpExecError(`iallocator returned invalid result: ${why}, got ${JSON.stringify(result)}`)
  }
}

const withRelease = (op: WireOpCode, early_release: boolean): WireOpCode =>
  op.OP_ID === 'OP_INSTANCE_REPLACE_DISKS' ? { ...op, early_release } : op
