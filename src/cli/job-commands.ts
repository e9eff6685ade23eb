import { describeError } from './errors'
import { type Call, CommandFailure, EXIT } from './command'
import { parseTimespec } from './cluster-control'
import { confirmMany } from './confirm'

/** Seconds that the master may spend on archiving in one call. */
const ARCHIVE_S = 60
const PRIORITIES: Readonly<Record<string, number>> = { low: 10, normal: 0, high: -10 }

export function jobId(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new CommandFailure(`Invalid job ID: '${text}'`)
}

export async function archiveJobs({ args, master, terminal }: Call): Promise<number> {
  let exitCode: number = EXIT.ok
  for (const id of args.map(jobId)) {
    if (await master.archiveJob(id)) continue
    terminal.err(`Failed to archive job with ID ${id}`)
    exitCode = EXIT.failure
  }
  return exitCode
}

export async function autoArchiveJobs({ args, master, terminal }: Call): Promise<number> {
  const [age = ''] = args
  const [archived, left] = await master.autoArchiveJobs(age === 'all' ? -1 : parseTimespec(age), ARCHIVE_S)
  terminal.out(`Archived ${archived} jobs, ${left} unchecked left`)
  return EXIT.ok
}

export async function cancelJobs(call: Call): Promise<number> {
  const { options, master } = call
  const kill = options.flag('kill')
  if (kill && !options.flag('yes_do_it'))
    throw new CommandFailure('--kill ends jobs in the middle of their work; confirm it with --yes-do-it')
  return onJobs(call, kill ? 'kill' : 'cancel', (id) => master.cancelJob(id, kill))
}

export async function changePriority(call: Call): Promise<number> {
  const priority = PRIORITIES[call.options.text('priority') ?? '']
  if (priority === undefined) throw new CommandFailure('The --priority option must be given')
  return onJobs(call, 'change of priority', (id) => call.master.changeJobPriority(id, priority))
}

/** Jobs by id, or all in some states after a question. */
async function onJobs(
  call: Call,
  verb: string,
  act: (id: number) => Promise<readonly [boolean, string]>,
): Promise<number> {
  const { args, options, master, terminal } = call
  const statuses = options.list('status_filter')
  if (statuses !== undefined && args.length > 0)
    throw new CommandFailure('Job IDs and options that choose jobs by status cannot be given together')
  if (statuses === undefined && args.length === 0) throw new CommandFailure('No jobs given')
  const filter = ['|', ...(statuses ?? []).map((status) => ['==', 'status', status])]
  const ids =
    statuses === undefined
      ? args.map(jobId)
      : (await master.query('job', ['id'], filter)).data.map((row) => Number(row[0]?.[1]))
  if (ids.length === 0) return EXIT.ok
  if (statuses && !options.flag('force') && !(await confirmMany(call, ids.map(String), 'jobs', verb)))
    return EXIT.notConfirmed
  let exitCode: number = EXIT.ok
  for (const id of ids) {
    const [done, text] = await act(id)
    terminal.out(text)
    if (!done) exitCode = EXIT.failure
  }
  return exitCode
}

/** Silent, but for the exit code. */
export async function waitForJob({ args, jobs }: Call): Promise<number> {
  await jobs.wait(jobId(args[0] ?? ''), false)
  return EXIT.ok
}

export async function watchJob({ args, jobs, terminal }: Call): Promise<number> {
  const id = jobId(args[0] ?? '')
  const title = `Output from job ${id} follows`
  terminal.out(title)
  terminal.out('-'.repeat(title.length))
  try {
    await jobs.wait(id)
  } catch (error) {
    terminal.out(`Job ${id} failed: ${describeError(error).lines.join('\n')}`)
    return EXIT.failure
  }
  terminal.out(`Job ${id} finished successfully`)
  return EXIT.ok
}
