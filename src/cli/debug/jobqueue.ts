// gnt-debug test-jobqueue: tests what the queue must refuse, in which order it runs jobs, and that their log arrives
// complete and in time.
import { fileTime } from '../../lib/clock'
import { meet } from '../../lib/net/rendezvous'
import { LOG_TYPE, PRIORITIES_AT_SUBMIT, PRIORITY } from '../../model/constants/jobs'
import { GanetiError, OpExecError } from '../../model/errors'
import { OpTestDelay, OpTestJqueue } from '../../opcodes/test'
import type { JobId, LogEntry, WireOpCode } from '../../rpc/luxi/calls'
import type { Master } from '../../rpc/luxi/master'
import type { Call } from '../command'
import { EXIT } from '../outcome'
import { opcodeOf } from '../submit/submit'

const PREFIX = 'TESTMSG='

export async function testJobQueue(call: Call): Promise<number> {
  await testSubmission(call)
  await testDependencies(call)
  await testMessages(call, 'Testing job success', [false])
  await testMessages(call, 'Testing multiple successful opcodes', [false, false])
  await testMessages(call, 'Testing job failure', [true])
  await testMessages(call, 'Testing partial job failure', [false, false, true, false])
  call.terminal.out('Job queue test successful')
  return EXIT.ok
}

const delayOp = (more: Readonly<Record<string, unknown>> = {}): WireOpCode => ({
  ...opcodeOf(OpTestDelay, { duration: 0 }),
  reason: [],
  ...more,
})

/** One opcode with a forbidden priority makes its whole job fail, and all jobs submitted with it. */
async function testSubmission({ terminal, master }: Call): Promise<void> {
  terminal.out('Testing job submission')
  const priorities = new Set([...PRIORITIES_AT_SUBMIT, PRIORITY.lowest, PRIORITY.highest])
  const wrong = [...priorities].flatMap((priority) => [priority - 1, priority + 1])
  const places = [[0, 0], [3, 0], [0, 3], [4, 2]] as const // prettier-ignore
  const cases = [
    ...[PRIORITY.lowest, PRIORITY.highest].map((priority) => ({ priority, before: 0, after: 0 })),
    ...wrong.flatMap((priority) => places.map(([before, after]) => ({ priority, before, after }))),
  ]
  const plain = (count: number) => Array.from({ length: count }, () => delayOp())
  for (const { priority, before, after } of cases) {
    const ops = [...plain(before), delayOp({ priority }), ...plain(after)]
    if (!(await isRefused(() => master.submitJob(ops))))
      throw new OpExecError(`Submitting opcode with priority ${priority} did not fail when it should`)
    if (!(await isRefused(() => master.submitManyJobs([[delayOp(), delayOp({ dry_run: true })], ops]))))
      throw new OpExecError('Submitting manyjobs with an incorrect one did not fail when it should.')
  }
  terminal.out('Job submission tests were successful')
}

async function isRefused(action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action()
    return false
  } catch (error) {
    if (error instanceof GanetiError) return true
    throw error
  }
}

/** Jobs may depend on others of the same submission; a single job has none. */
async function testDependencies({ terminal, master, jobs }: Call): Promise<void> {
  terminal.out('Testing job dependencies')
  if (!(await isRefused(() => master.submitJob([delayOp({ depends: [[-1, null]] })]))))
    throw new OpExecError('Submitting plain opcode with relative job ID did not fail as expected')
  const depends = [undefined, [[-1, []]], [[-2, ['success']]], [], [[-2, ['success']]]]
  const answers = await master.submitManyJobs(
    depends.map((list) => [delayOp({ duration: 1, ...(list && { depends: list }) })]),
  )
  const outcomes = await jobs.followSubmitted(answers)
  if (!outcomes.every(({ ok }) => ok)) throw new OpExecError('At least one of the submitted jobs failed')
  const ids = answers.map(([, id]) => id)
  const rows = await master.queryJobs(ids, ['opexec', 'ops'])
  for (const [index, on] of [
    [1, 0],
    [2, 0],
    [4, 2],
  ] as const) {
    // prettier-ignore
    if (dependencyOf(rows[index]?.[1]) !== ids[on])
      throw new OpExecError(`Job ${ids[index]}'s opcode doesn't depend on correct job ID (${ids[on]})`)
    if (startOf(rows[on]?.[0]) > startOf(rows[index]?.[0])) throw new OpExecError("Jobs didn't run in correct order")
  }
  terminal.out('Job dependency tests were successful')
}

/** The first job on which a job's only opcode depends. */
function dependencyOf(ops: unknown): unknown {
  const [op]: unknown[] = Array.isArray(ops) ? ops : []
  const depends: unknown = typeof op === 'object' && op !== null && 'depends' in op ? op.depends : undefined
  const [first]: unknown[] = Array.isArray(depends) ? depends : []
  return Array.isArray(first) ? first[0] : undefined
}

/** `[[seconds, microseconds]]` as microseconds. */
function startOf(times: unknown): number {
  const [first]: unknown[] = Array.isArray(times) ? times : []
  const [s, us]: unknown[] = Array.isArray(first) ? first : []
  return Number(s) * 1e6 + Number(us)
}

/** A job whose opcodes log messages and wait at each stage for us; `fails` says which of them fail. */
async function testMessages(call: Call, title: string, fails: readonly boolean[]): Promise<void> {
  const { terminal, master, jobs, clock } = call
  terminal.out(title)
  const messages = [title, 'Hello World', 'A', '', 'B', 'Foo|bar|baz', fileTime(clock)]
  const id = await jobs.submit(
    fails.map((fail) =>
      opcodeOf(OpTestJqueue, { notify_waitlock: true, notify_exec: true, log_messages: messages, fail }),
    ),
  )
  const reporter = new Reporter(master, id)
  const failsAt = fails.indexOf(true)
  const succeed = failsAt < 0 ? fails.length : failsAt
  const results = await jobs
    .wait(id, true, (entry) => reporter.take(entry))
    .catch((error: unknown) => {
      if (!(error instanceof OpExecError) || failsAt < 0) throw error
      terminal.out(`Ignoring error for 'job fail' test: ${error.message}`)
      return undefined
    })
  if (failsAt >= 0 && results !== undefined) throw new OpExecError("Job didn't fail when it should")
  if (failsAt < 0 && results?.length !== fails.length)
    throw new OpExecError(`Received ${results?.length} results, expected ${fails.length}`)
  const expected = fails.slice(0, succeed + 1).flatMap(() => messages)
  if (JSON.stringify(reporter.messages) !== JSON.stringify(expected))
    throw new OpExecError(
      `Received test messages don't match input (input ${JSON.stringify(expected)}, received ${JSON.stringify(reporter.messages)})`,
    )
  const [row] = await master.queryJobs([id], ['status', 'opstatus'])
  const desired = [failsAt < 0 ? 'success' : 'error', fails.map((_, index) => (index < succeed ? 'success' : 'error'))]
  if (JSON.stringify(row) !== JSON.stringify(desired))
    throw new OpExecError(`Final job status is ${JSON.stringify(row)}, not ${JSON.stringify(desired)} as expected`)
}

/** Meets the job at each of its stages. */
class Reporter {
  readonly messages: string[] = []
  /** The number of messages since the opcode announced them; undefined before. */
  private count: number | undefined

  constructor(
    private readonly master: Master,
    private readonly id: JobId,
  ) {}

  async take([, , type, message]: LogEntry): Promise<boolean> {
    if (type === LOG_TYPE.jqueueTest && Array.isArray(message)) {
      const [socket, stage, argument]: unknown[] = message
      await meet(String(socket), () => this.check(stage, argument))
      return true
    }
    if (type !== 'message' || typeof message !== 'string' || !message.startsWith(PREFIX)) return false
    if (this.count === undefined) throw new OpExecError('Received test message without a preceding start message')
    this.count += 1
    this.messages.push(message.slice(PREFIX.length))
    return true
  }

  private async check(stage: unknown, argument: unknown): Promise<void> {
    const [row] = await this.master.queryJobs([this.id], ['status'])
    const status = row?.[0]
    const desired = STATUS_AT[String(stage)]
    if (desired === undefined) throw new OpExecError(`Received invalid test message ${String(stage)}`)
    if (!desired.includes(status))
      throw new OpExecError(
        `Job status at '${String(stage)}' is '${String(status)}', not '${String(desired[0])}' as expected`,
      )
    if (stage === 'startmsg') this.count = 0
    if (stage === 'logmsg' && this.count !== argument)
      throw new OpExecError(`Received ${this.count ?? 0} test messages when ${String(argument)} are expected`)
  }
}

const STATUS_AT: Readonly<Record<string, readonly unknown[]>> = {
  expandnames: ['waiting'],
  exec: ['running'],
  startmsg: ['running'],
  logmsg: ['running'],
}
