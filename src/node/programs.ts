// Administrators' programs on a node that the master may run: out-of-band helpers and allocators.
import { constants } from 'node:os'
import * as path from 'node:path'
import { changeableByOthers } from '../lib/file/changeable'
import { type BoundedResult, runBounded } from '../lib/programs/run-command'
import { endOf } from '../lib/text/short-text'
import { IALLOCATOR_SEARCH_PATH } from '../model/constants/paths'
import { ALLOCATOR_OUTPUT_BYTES_MAX, ALLOCATOR_SCRIPT_S, TOLD_CHARS_MAX } from '../model/limits/node'
import { isObject } from '../lib/shapes/shape'
import { fail } from './failure'
import type { NodeContext } from './context'

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/
const NO_OUTPUT = /^\s*$/

/** Returns the program's output as JSON; null if it printed nothing. */
export async function runOob(
  { files, run }: NodeContext,
  program: string,
  command: string,
  node: string,
  timeout_s: number,
): Promise<unknown> {
  const others = await changeableByOthers(files, program)
  if (others !== undefined)
    fail(`oob_program '${program}' is not started: ${others}; only root may be able to change it`)
  const { code, output, stdout, timedOut } = await run([program, command, node], { timeout_s })
  const why = timedOut ? `terminated after timeout of ${timeout_s} seconds` : `exited with exit code ${code}`
  if (code !== 0)
    fail(`'${program} ${command} ${node}' failed with reason '${why}'; output: ${endOf(output.trim(), TOLD_CHARS_MAX)}`)
  if (NO_OUTPUT.test(stdout)) return null
  try {
    return JSON.parse(stdout) as unknown
  } catch {
    return fail(`'${program} ${command} ${node}' printed what is not JSON: ${stdout.slice(0, 200).trim()}`)
  }
}

/** Limits for an allocator's time and output. */
const ALLOCATOR_BOUNDS = { seconds: ALLOCATOR_SCRIPT_S, bytes: ALLOCATOR_OUTPUT_BYTES_MAX }

/** The allocator's output. The allocator ends with its caller, and everything that it has started ends with it. */
export async function runIallocator(
  context: NodeContext,
  name: string,
  input: string,
  options: unknown,
  bounds = ALLOCATOR_BOUNDS,
): Promise<string> {
  const { paths, files, random, caller } = context
  const script = await findIallocator(context, name)
  const file = path.join(paths.runDir, `iallocator.${random.hex(8)}`)
  await files.mkdir(paths.runDir, { recursive: true, mode: 0o775 })
  try {
    await files.writeFile(file, input, { mode: 0o600, flag: 'wx' })
    const ran = await runBounded(context.run, [script, file, ...optionWords(options)], {
      ...{ timeout_s: bounds.seconds, maxOutput: bounds.bytes, printed_max: bounds.bytes, signal: caller },
    })
    const why = whyNoAnswer(ran, bounds, caller)
    if (why !== undefined)
      fail(`iallocator module '${name}' failed: ${why}, output '${endOf(ran.output.trim(), TOLD_CHARS_MAX)}'`)
    return ran.stdout
  } finally {
    await files.rm(file, { force: true })
  }
}

function whyNoAnswer(
  { code, signal, timedOut, printedTooMuch }: BoundedResult,
  { seconds, bytes }: typeof ALLOCATOR_BOUNDS,
  caller: AbortSignal | undefined,
): string | undefined {
  if (printedTooMuch) return `terminated because it printed more than ${bytes} bytes`
  if (timedOut) return `terminated because it did not end within ${seconds} seconds`
  if (caller?.aborted) return 'terminated because its caller is gone'
  if (signal !== null) return `terminated by signal ${constants.signals[signal]}`
  return code === 0 ? undefined : `exited with exit code ${code}`
}

async function findIallocator({ paths, files }: NodeContext, name: string): Promise<string> {
  if (NAME.test(name))
    for (const directory of IALLOCATOR_SEARCH_PATH) {
      const script = paths.local(path.posix.join(directory, name))
      if ((await files.stat(script).catch(() => undefined))?.isFile()) return script
    }
  return fail(`iallocator module '${name}' not found in the search path`)
}

/** `{name: value}`; null means an option without a value. */
function optionWords(options: unknown): string[] {
  if (!isObject(options)) return []
  return Object.entries(options).map(([name, value]) => (value === null ? `--${name}` : `--${name}=${String(value)}`))
}
