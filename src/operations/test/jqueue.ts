// OP_TEST_JQUEUE: stops at each stage of a job until the tester confirms over a socket.
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { OpTestJqueue } from '../../opcodes/test'
import { exclusive, logicalUnit } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { meetingPoint } from './meeting-point'
import { TEST_CONFIRM_S, TEST_CONNECT_S } from '../../model/limits/operations'

const LOG_TYPE = 'jqueue-test'
/** The stages, under the tester's names. */
const STAGE = { locks: 'expandnames', run: 'exec', messages: 'startmsg', message: 'logmsg' } as const
const MESSAGE_PREFIX = 'TESTMSG='

export const testJqueue = logicalUnit(OpTestJqueue, {
  async locks(op, ctx) {
    if (op.notify_waitlock) await reach(ctx, STAGE.locks, null, (text) => new OpPrereqError(text, ECODE.INVAL))
    ctx.log.info('Expanding names')
    // Any lock would do for the test.
    const { cluster } = await ctx.config.read({})
    return { node: exclusive([cluster.master_node]) }
  },
  check: () => Promise.resolve(null),
  async run(ctx, op) {
    const failure = (text: string) => new OpExecError(text)
    if (op.notify_exec) await reach(ctx, STAGE.run, null, failure)
    ctx.log.info('Executing')
    if (op.log_messages.length > 0) await reach(ctx, STAGE.messages, op.log_messages.length, failure)
    for (const [index, message] of op.log_messages.entries()) {
      ctx.log.info(`Sending log message ${index + 1}`)
      ctx.log.say(MESSAGE_PREFIX + message)
      await reach(ctx, STAGE.message, index + 1, failure)
    }
    if (op.fail) throw new OpExecError('Opcode failure was requested')
    return true
  },
})

async function reach(
  ctx: UnitContext,
  stage: string,
  argument: number | null,
  failure: (text: string) => Error,
): Promise<void> {
  const rendezvous = await meetingPoint(ctx)
  try {
    ctx.env.log(LOG_TYPE, [rendezvous.path, stage, argument])
    const caller = await rendezvous.caller(TEST_CONNECT_S)
    if (caller === undefined) throw failure(`Client didn't connect in time (${TEST_CONNECT_S} s)`)
    if (!(await caller.heard(TEST_CONFIRM_S)))
      throw failure(`Client failed to confirm notification (in ${TEST_CONFIRM_S} s)`)
  } finally {
    await rendezvous.close()
  }
}
