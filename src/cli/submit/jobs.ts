// Submits jobs, follows them, and shows their logs while they run.
import { pythonText } from '../../lib/text/python-text'
import { type Clock, nanoseconds } from '../../lib/clock'
import { GanetiError, JobLost, OpExecError, errorFromWire } from '../../model/errors'
import type { JobChange, JobId, LogEntry, WireOpCode } from '../../rpc/luxi/calls'
import type { Master } from '../../rpc/luxi/master'
import type { Option } from '../input/option'
import type { Terminal } from '../output/terminal'
import { formatCtime } from '../output/format'
import { describeError } from '../output/errors'
import { JobCanceled, JobSubmitted } from './job-outcomes'
import { explained } from '../input/unreadable'
import type { OptionValues } from '../input/option-values'

/** Seconds that one call waits for news of a job; events end it earlier. */
const WAIT_S = 60
/** Seconds without news after which the command says what the job waits for. */
const NEWS_S = 5
const PRIORITIES: Readonly<Record<string, number>> = { low: 10, normal: 0, high: -10 }
const FINAL: readonly unknown[] = ['canceled', 'success', 'error']

export interface NamedJob {
  readonly name?: string
  readonly ops: readonly WireOpCode[]
}

export interface SubmittedJob {
  readonly name?: string | undefined
  readonly ok: boolean
  /** The job's id, or why there is none. */
  readonly answer: unknown
}

export interface JobOutcome {
  readonly name?: string | undefined
  readonly ok: boolean
  /** The opcodes' results, or the error's text. */
  readonly result: unknown
}

/** Submits jobs for one command and shows what they do. */
export class Jobs {
  constructor(
    private readonly master: Master,
    private readonly terminal: Terminal,
    private readonly clock: Clock,
    private readonly source: {
      readonly tool: string
      readonly command: string
      readonly known: readonly Option[]
      readonly plain: boolean
    },
    private readonly options: OptionValues,
  ) {}

  /** Submits one opcode and waits for its result, unless --submit is given. */
  async run(op: WireOpCode, drainedToo = false): Promise<unknown> {
    return (await this.runAll([op], drainedToo))[0]
  }

  /** The same with several opcodes in one job. Returns their results. */
  async runAll(ops: readonly WireOpCode[], drainedToo = false): Promise<unknown[]> {
    const id = await this.submit(ops, drainedToo)
    this.tell(id)
    return this.wait(id)
  }

  /**
   * Prints the id, alone on its line so that `gnt job` accepts it, if requested. With --submit nothing else happens.
   */
  tell(id: JobId): void {
    const only = this.options.flag('submit_only')
    if (only || this.options.flag('print_jobid')) this.terminal.out(String(id))
    if (only) throw new JobSubmitted(id)
  }

  /** `drainedToo`: even while the queue is drained. */
  submit(ops: readonly WireOpCode[], drainedToo = false): Promise<JobId> {
    const marked = ops.map((op) => this.marked(op))
    const id = drainedToo ? this.master.submitJobToDrainedQueue(marked) : this.master.submitJob(marked)
    return id.catch((error: unknown) => this.explained(error, marked))
  }

  /** Submits several jobs and waits for all of them, even if some fail. */
  async runMany(jobs: readonly NamedJob[], verbose: boolean): Promise<JobOutcome[]> {
    const submitted = await this.submitMany(jobs)
    const only = this.options.flag('submit_only')
    if (only || this.options.flag('print_jobid'))
      for (const { ok, answer } of submitted) if (ok) this.terminal.out(String(answer))
    if (!only) return this.follow(submitted, verbose)
    for (const { name, ok, answer } of submitted)
      if (ok) this.terminal.err(`JobID: ${String(answer)}${name === undefined ? '' : ` (${name})`}`)
      else this.terminal.err(`Failure for ${name ?? 'job'}: ${pythonText(answer)}`)
    return submitted.map(({ name, ok, answer }) => ({ name, ok, result: answer }))
  }

  /** All at once, or one by one. */
  async submitMany(jobs: readonly NamedJob[], each = false): Promise<SubmittedJob[]> {
    const groups = each ? jobs.map((job) => [job]) : [jobs]
    const submitted: SubmittedJob[] = []
    for (const group of groups) {
      const marked = group.map(({ ops }) => ops.map((op) => this.marked(op)))
      const answers = await this.master
        .submitManyJobs(marked)
        .catch((error: unknown) => this.explained(error, marked.flat()))
      submitted.push(...answers.map(([ok, answer], at) => ({ name: group[at]?.name, ok, answer })))
    }
    return submitted
  }

  /** Waits for jobs that another job submitted: `[[true, id], [false, text], ...]`. */
  async followSubmitted(answers: unknown): Promise<JobOutcome[]> {
    const list: unknown[] = Array.isArray(answers) ? answers : []
    const submitted = list.flatMap((answer) =>
      Array.isArray(answer) ? [{ ok: answer[0] === true, answer: answer[1] as unknown }] : [],
    )
    return this.follow(submitted, true)
  }

  /** Waits for all jobs, even if some fail. */
  async follow(submitted: readonly SubmittedJob[], verbose: boolean): Promise<JobOutcome[]> {
    const good = submitted.filter(({ ok }) => ok).map(({ answer }) => String(answer))
    if (verbose && good.length > 0) this.terminal.out(`Submitted jobs ${good.join(', ')}`)
    const outcomes: JobOutcome[] = []
    for (const { name, ok, answer } of submitted) {
      const suffix = name === undefined ? '' : ` for ${name}`
      if (!ok) {
        this.terminal.err(`Failed to submit job${suffix}: ${pythonText(answer)}`)
        outcomes.push({ name, ok, result: answer })
        continue
      }
      this.terminal.out(`Waiting for job ${String(answer)}${suffix} ...`)
      outcomes.push({ name, ...(await this.outcome(Number(answer), suffix)) })
    }
    return outcomes
  }

  private async outcome(id: JobId, suffix: string): Promise<Omit<JobOutcome, 'name'>> {
    try {
      return { ok: true, result: await this.wait(id) }
    } catch (error) {
      if (!(error instanceof GanetiError) && !(error instanceof JobCanceled)) throw error
      const text =
        error instanceof JobLost
          ? 'was archived, its result is not known'
          : describeError(error, this.source.plain).lines.join('\n')
      this.terminal.err(`Job ${id}${suffix} has failed: ${text}`)
      return { ok: false, result: text }
    }
  }

  /**
   * Shows a job's log until it ends. Returns its opcodes' results, or throws the failed opcode's error. Skips entries
   * that `taken` handles.
   */
  async wait(id: JobId, show = true, taken?: (entry: LogEntry) => Promise<boolean>): Promise<unknown[]> {
    this.terminal.following(id)
    await this.untilFinal(id, show, taken)
    this.terminal.following(undefined)
    const [row] = await this.master.queryJobs([id], ['status', 'opstatus', 'opresult'])
    const [status, opStatus, results] = row ?? []
    if (status === null || status === undefined) throw new JobLost(`Job with id ${id} lost`)
    if (status === 'canceled' || status === 'canceling') throw new JobCanceled()
    const list: unknown[] = Array.isArray(results) ? results : []
    if (status === 'success') return list
    const statuses: unknown[] = Array.isArray(opStatus) ? opStatus : []
    const failed = statuses.indexOf('error')
    throw opcodeError(list[failed], failed, statuses.slice(0, Math.max(failed, 0)).includes('success'))
  }

  private async untilFinal(id: JobId, show: boolean, taken?: (entry: LogEntry) => Promise<boolean>): Promise<void> {
    let status: unknown = null
    let serial: number | null = null
    let reported: unknown
    for (;;) {
      const observed = status === null ? null : [status]
      const change = await this.master.waitForJobChange(
        id,
        ['status'],
        observed,
        serial,
        reported === status ? WAIT_S : NEWS_S,
      )
      const [[now], log]: JobChange = change === 'nochange' ? [[status], []] : change
      for (const entry of log) if (!(await taken?.(entry)) && show) this.terminal.out(formatLog(entry))
      serial = log.reduce((last, [number]) => Math.max(last, number), serial ?? 0)
      if (FINAL.includes(now)) return
      if (now === status && log.length === 0 && reported !== status) {
        if (show) this.say(id, status)
        reported = status
      }
      status = now
    }
  }

  private async explained(error: unknown, ops: readonly WireOpCode[]): Promise<never> {
    throw await explained(error, ops, this.source.known, this.options)
  }

  private say(id: JobId, status: unknown): void {
    if (status === 'queued') this.terminal.err(`Job ${id} is waiting in the queue`)
    if (status === 'waiting') this.terminal.err(`Job ${id} is waiting for its locks`)
  }

  /** Adds the command line's common parameters to every opcode: origin, reason, priority. */
  private marked(op: WireOpCode): WireOpCode {
    const now = nanoseconds(this.clock)
    const reason = this.options.text('reason')
    const priority = this.options.raw('priority')
    const debug = this.options.raw('debug')
    return {
      ...op,
      reason: [
        ...(reason === undefined ? [] : [['gnt:user', reason, now]]),
        [`gnt:client:${this.source.tool}`, this.source.command, now],
      ],
      ...(typeof priority === 'string' && { priority: PRIORITIES[priority] ?? 0 }),
      ...(this.options.raw('dry_run') === true && { dry_run: true }),
      ...(typeof debug === 'number' && debug > 0 && { debug_level: debug }),
    }
  }
}

function formatLog([, [seconds], type, message]: LogEntry): string {
  return `${formatCtime(seconds)} ${type === 'message' && typeof message === 'string' ? message : pythonText(message)}`
}

/** Parses an opcode's error `[class, arguments]`; shows anything else as it is. */
function opcodeError(result: unknown, index: number, partial: boolean): GanetiError {
  if (Array.isArray(result) && typeof result[0] === 'string' && Array.isArray(result[1])) return errorFromWire(result)
  const text = pythonText(result)
  return new OpExecError(partial ? `partial failure (opcode ${index}): ${text}` : text)
}
