// gnt-job: the commands that wait for jobs or change them.
import { describeError } from '../output/errors'
import { PRIORITY } from '../../model/constants/jobs'
import { ECODE } from '../../model/errors'
import type { Call } from '../command'
import { CommandFailure, EXIT, refusal } from '../outcome'
import { parseTimespec } from '../cluster/control'
import { confirm } from '../input/confirm'
import { invalidJobId } from '../input/filter-text'
import { resultLines } from '../output/list'
import { jobColumns, jobsIn } from '../output/lists'

/** Seconds that the master may spend on archiving in one call. */
const ARCHIVE_S = 60
const PRIORITIES: Readonly<Record<string, number>> = { low: 10, normal: 0, high: -10 }

export function jobId(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw invalidJobId(text)
}

export async function archiveJobs({ args, master, terminal }: Call): Promise<number> {
  let exitCode: number = EXIT.ok
  for (const id of args.map(jobId)) {
    if (await master.archiveJob(id)) continue
    terminal.err(`Failed to archive job with ID '${id}'`)
    exitCode = EXIT.failure
  }
  return exitCode
}

export async function autoArchiveJobs({ args, master, terminal }: Call): Promise<number> {
  const [age = ''] = args
  const age_s = age === 'all' ? -1 : parseTimespec(age)
  // Archives all jobs only if the user says so.
  if (age !== 'all' && age_s < 0) throw refusal(`Invalid age '${age}': say how old jobs must be, like 1d, or "all"`)
  const [archived, left] = await master.autoArchiveJobs(age_s, ARCHIVE_S)
  terminal.out(`Archived ${archived} jobs, ${left} unchecked left`)
  return EXIT.ok
}

export async function cancelJobs(call: Call): Promise<number> {
  const { options, master } = call
  const kill = options.flag('kill')
  if (kill && !options.flag('yes_do_it')) throw refusal('The --kill option must be confirmed with --yes-do-it')
  return onJobs(call, `${kill ? 'KILL' : 'Cancel'} job(s) listed above?`, (id) => master.cancelJob(id, kill))
}

export async function changePriority(call: Call): Promise<number> {
  const { options } = call
  const priority = options.number('level') ?? PRIORITIES[options.text('priority') ?? '']
  if (priority === undefined) throw new CommandFailure('--priority option must be given.')
  const { highest, lowest } = PRIORITY
  if (priority < highest || priority > lowest)
    throw new CommandFailure(`--level: ${priority} is no priority; the most urgent is ${highest}, the least ${lowest}`)
  return onJobs(call, 'Change priority of job(s) listed above?', (id) => call.master.changeJobPriority(id, priority))
}

/** Jobs by id, or all in some states after a question. */
async function onJobs(
  call: Call,
  question: string,
  act: (id: number) => Promise<readonly [boolean, string]>,
): Promise<number> {
  const { args, options, master, terminal } = call
  const statuses = options.list('status_filter')
  if ((statuses === undefined) === (args.length === 0))
    throw refusal('Either a status filter or job ID(s) must be specified and never both')
  let ids: readonly number[]
  if (statuses === undefined) ids = args.map(jobId)
  else {
    const found = await master.query('job', ['id', 'status', 'summary'], jobsIn(statuses))
    ids = found.data.map((row) => Number(row[0]?.[1]))
    if (ids.length === 0) throw refusal('No jobs with the requested status have been found', ECODE.STATE)
    if (!options.flag('force')) for (const line of resultLines(call, jobColumns, found)) terminal.out(line)
    if (!(await confirm(call, question))) return EXIT.notConfirmed
  }
  let exitCode: number = EXIT.ok
  for (const id of ids) {
    const [done, text] = await act(id)
    terminal.out(text)
    if (!done) exitCode = EXIT.failure
  }
  return exitCode
}

/** Prints only failures. */
export const waitForJob = (call: Call): Promise<number> => untilEnd(call, false)

export async function watchJob(call: Call): Promise<number> {
  const { args, terminal } = call
  const [id = ''] = args
  const title = `Output from job ${id} follows`
  terminal.out(title)
  terminal.out('-'.repeat(title.length))
  return untilEnd(call, true)
}

async function untilEnd({ args, jobs, terminal }: Call, show: boolean): Promise<number> {
  const [id = ''] = args
  try {
    await jobs.wait(jobId(id), show)
    return EXIT.ok
  } catch (error) {
    const { lines, exitCode } = describeError(error)
    terminal.err(`Job ${id} failed: ${lines.join('\n')}`)
    return exitCode
  }
}
