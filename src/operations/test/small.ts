// Test opcodes: OP_TEST_OS_PARAMS for secrets, OP_TEST_DUMMY for results and submitted jobs.
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { OpTestDummy, OpTestOsParams } from '../../opcodes/test'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { logicalUnit, ResultWithJobs } from '../logical-unit'

export const testOsParams = logicalUnit(OpTestOsParams, {
  check: () => Promise.resolve(null),
  run(ctx, { osparams_secret = {} }) {
    const secrets = Object.entries(osparams_secret)
    if (secrets.length === 0) throw new OpExecError('Opcode needs secret parameters')
    // Secrets must not appear in a job's log, so it only shows their sizes.
    const displayed = secrets.map(([name, value]) => `${name} (${String(value).length} characters)`)
    ctx.log.say(`Secret OS parameters: ${displayed.join(', ')}`)
    return Promise.resolve(null)
  },
})

export const testDummy = logicalUnit(OpTestDummy, {
  check: (_ctx, { submit_jobs }) => Promise.resolve(jobsOf(submit_jobs)),
  run(ctx, { messages, fail, result }, jobs) {
    for (const message of Array.isArray(messages) ? messages : [messages]) ctx.log.say(String(message))
    if (fail === true) throw new OpExecError('Dummy failure')
    return Promise.resolve(jobs === undefined ? result : new ResultWithJobs(jobs, { result }))
  },
})

function jobsOf(value: unknown): WireOpCode[][] | undefined {
  if (value === null || value === undefined || value === false) return undefined
  if (Array.isArray(value) && value.every((job) => Array.isArray(job) && job.every(isOpcode))) return value
  throw new OpPrereqError('submit_jobs is a list of jobs, each a list of opcodes', ECODE.INVAL)
}

const isOpcode = (value: unknown): value is WireOpCode =>
  typeof value === 'object' && value !== null && 'OP_ID' in value && typeof value.OP_ID === 'string'
