// Programs that this node's administrator allows the master to start by name, without arguments: restricted commands,
// and repair commands, which read the fault from standard input. Each kind has a folder, and nothing outside can run.
import * as path from 'node:path'
import { whyUnsafe } from '../lib/file/changeable'
import { within } from '../lib/clock'
import { endMarked, MARK_VARIABLE } from '../lib/programs/marked-processes'
import { runBounded } from '../lib/programs/run-command'
import { endOf } from '../lib/text/short-text'
import { Mutex } from '../lib/work/mutex'
import { PATH } from '../model/constants/paths'
import {
  NAMED_PROGRAM_INPUT_MAX,
  NAMED_PROGRAM_OUTPUT_MAX,
  NAMED_PROGRAM_PRINTED_MAX,
  NAMED_PROGRAM_S,
  NAMED_PROGRAM_TURN_S,
  RESTRICTED_FAILURE_S,
  TOLD_CHARS_MAX,
} from '../model/limits/node'
import type { NodeContext } from './context'
import { fail } from './failure'

const NAME = /^[a-zA-Z0-9_-]+$/

export const runRestricted = (context: NodeContext, command: string): Promise<string> =>
  runNamed(context, { command, folder: PATH.RESTRICTED_COMMANDS_DIR, what: 'restricted command' })

export const runRepair = (context: NodeContext, command: string, input: string): Promise<string> =>
  runNamed(context, {
    command,
    folder: PATH.REPAIR_COMMANDS_DIR,
    what: 'repair command',
    input,
    tells: true,
    endsWhole: true,
  })

interface Wanted {
  readonly command: string
  readonly folder: string
  readonly what: string
  readonly input?: string
  /** Its failure contains the reason, because the event must tell people. */
  readonly tells?: boolean
  /** Processes that have left its group end with it too. A restricted command, in contrast, may start a daemon. */
  readonly endsWhole?: boolean
}

async function runNamed(context: NodeContext, desired: Wanted): Promise<string> {
  const { command, what } = desired
  const problem = await problemOf(context, desired)
  let ended: Awaited<ReturnType<typeof run>> | undefined
  if (problem === undefined) {
    ended = await alone(context, () => locked(context, () => run(context, desired)))
    if (ended !== undefined && 'output' in ended && ended.code === 0) return ended.output
    context.log.warn(
      { command, ...(ended ?? { waited_s: NAMED_PROGRAM_TURN_S }) },
      ended === undefined ? `a ${what} waited in vain for another to end` : `a ${what} failed`,
    )
  } else {
    context.log.warn({ command, problem }, `a ${what} was refused`)
  }
  await context.clock.sleep(RESTRICTED_FAILURE_S * 1000)
  // The caller must not learn which names exist.
  const why = desired.tells === true && ended !== undefined && 'output' in ended ? `${whyOf(ended)}; ` : ''
  return fail(`Executing command failed: ${why}see the log of the node daemon on ${context.hostname}`)
}

function whyOf({ code, output, timedOut, printedTooMuch }: Awaited<ReturnType<typeof start>>): string {
  const words = endOf(output.trim(), TOLD_CHARS_MAX)
  const last = words === '' ? '' : `, and said last: ${words}`
  if (printedTooMuch) return `it was ended because it printed more than ${NAMED_PROGRAM_PRINTED_MAX} bytes`
  if (timedOut) return `it was ended because it took longer than ${NAMED_PROGRAM_S} s${last}`
  return `it ended with ${code === null ? 'a signal' : `exit code ${code}`}${last}`
}

async function problemOf(context: NodeContext, { command, folder, input = '' }: Wanted): Promise<string | undefined> {
  if (!NAME.test(command)) return 'its name has characters that are not allowed'
  if (Buffer.byteLength(input) > NAMED_PROGRAM_INPUT_MAX)
    return `its input has more than ${NAMED_PROGRAM_INPUT_MAX} bytes`
  const { files, paths } = context
  const directory = paths.local(folder)
  const isLink = await files.lstat(directory).then(
    (info) => info.isSymbolicLink(),
    () => false,
  )
  if (isLink) return `${directory} is a link, which may lead anywhere: make it a directory`
  return whyUnsafe(files, path.join(directory, command), paths.local('/'))
}

/** Everything that it started ends with it. Somebody may have changed it while it waited for its turn. */
async function run(context: NodeContext, desired: Wanted) {
  const problem = await problemOf(context, desired)
  if (problem !== undefined) return { code: null, problem }
  return start(context, desired)
}

async function start(context: NodeContext, desired: Wanted) {
  const { run, paths, random, log, clock } = context
  const { command, folder, input, endsWhole = false } = desired
  const mark = random.uuid()
  const bounds = {
    timeout_s: NAMED_PROGRAM_S,
    maxOutput: NAMED_PROGRAM_OUTPUT_MAX,
    printed_max: NAMED_PROGRAM_PRINTED_MAX,
  }
  const { code, output, timedOut, printedTooMuch } = await runBounded(run, [path.join(paths.local(folder), command)], {
    ...{ env: endsWhole ? { [MARK_VARIABLE]: mark } : {}, cwd: '/', ...bounds, ...(input !== undefined && { input }) },
  })
  const left = endsWhole ? await endMarked(context, clock, mark) : []
  if (left.length > 0) log.warn({ command, pids: left }, 'processes that a command has started cannot be ended')
  return { code: printedTooMuch ? null : code, output, timedOut, printedTooMuch }
}

/** The administrator's scripts, and a Ganeti beside us, hold this lock to prevent commands. */
async function locked<T>({ files, paths, lockFile }: NodeContext, work: () => Promise<T>): Promise<T | undefined> {
  const file = paths.local(PATH.RESTRICTED_COMMANDS_LOCK_FILE)
  await files.mkdir(path.dirname(file), { recursive: true })
  if (lockFile === undefined) return work()
  const lock = await lockFile(file, 'exclusive', NAMED_PROGRAM_TURN_S)
  if (lock === undefined) return undefined
  try {
    return await work()
  } finally {
    lock.release()
  }
}

const turns = new WeakMap<object, Mutex>()

/** One at a time on a node, as in Ganeti; undefined if the previous one takes too long. */
async function alone<T>(context: NodeContext, work: () => Promise<T>): Promise<T | undefined> {
  // Contexts of single calls derive from the node's context and share its object `daemons`, which identifies the node.
  const mine = turns.get(context.daemons) ?? new Mutex()
  turns.set(context.daemons, mine)
  let late = false
  let started = false
  const desired = mine.runExclusive(async () => {
    if (late) return undefined
    started = true
    return work()
  })
  await within(context.clock, NAMED_PROGRAM_TURN_S, desired)
  if (started) return desired
  late = true
  return undefined
}
