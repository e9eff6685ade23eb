// Runs the scripts of external storage providers. Time and output are bounded, and each run except `attach` has its own log file. An error
// names the provider, the script and the volume.
import * as path from 'node:path'
import { fileTime } from '../../../lib/clock'
import { type BoundedResult, runBounded } from '../../../lib/programs/run-command'
import { PATH } from '../../../model/constants/paths'
import { OS_LOG_LINES_SHOWN } from '../../../model/limits/node'
import { EXT_LOGS_MAX, EXT_OUTPUT_BYTES_MAX, EXT_SCRIPT_S } from '../../../model/limits/storage'
import { NodeFailure } from '../../failure'
import { keepNewest } from '../../leftovers'
import type { StorageContext } from '../storage'
import { type Provider, type ProviderScript, scriptOf } from './providers'

/** Names a volume and its provider. */
export interface Volume {
  readonly provider: string
  readonly name: string
}

/** The script ended by itself, with an exit code that means failure. */
export class ScriptRefused extends NodeFailure {}

/** Only tests give other bounds. */
export const SCRIPT_BOUNDS = { seconds: EXT_SCRIPT_S, bytes: EXT_OUTPUT_BYTES_MAX }

/** Returns the script's output, or undefined if the provider does not have this script. */
export async function runScript(
  context: StorageContext,
  provider: Provider,
  script: ProviderScript,
  volume: Volume,
  env: Readonly<Record<string, string>>,
  bounds = SCRIPT_BOUNDS,
): Promise<string | undefined> {
  const program = await scriptOf(context, provider, script)
  if (program === undefined) return undefined
  // `attach` runs each time a disk is looked up, so it gets no log file. Its output is its answer, and a failure is reported with its last
  // lines.
  const log = script === 'attach' ? undefined : await openLog(context, script, volume)
  const ran = await runBounded(context.run, [program], {
    ...{ cwd: provider.directory, env, timeout_s: bounds.seconds, maxOutput: bounds.bytes, printed_max: bounds.bytes },
    onOutput: (chunk) => log?.write(chunk),
  }).finally(() => log?.close())
  if (ran.code === 0 && !ran.printedTooMuch) return ran.stdout
  const where = log === undefined ? '' : ` (log: ${log.shown})`
  const isBroken = ran.code === null || ran.timedOut || ran.printedTooMuch
  const way = !isBroken ? '' : ran.timedOut ? `; ${HANGS}` : `; ${CORRECT}`
  const text =
    `${title(script, volume)} failed on node ${context.hostname}: ${reason(ran, bounds)}${where}${way}` +
    lastLines(ran.output)
  context.log.error({ ...volume, script, code: ran.code }, 'a script of external storage failed')
  if (isBroken) throw new NodeFailure(text)
  throw new ScriptRefused(text)
}

const HANGS = 'see on that node what it waits for, then try again'
/** What to do about a script that works wrongly. */
export const CORRECT = 'correct the script, then try again'

export const title = (script: ProviderScript, { provider, name }: Volume): string =>
  `The script ${script} of external storage provider '${provider}' for volume '${name}'`

function reason({ code, signal, timedOut, printedTooMuch }: BoundedResult, { seconds, bytes }: typeof SCRIPT_BOUNDS) {
  if (printedTooMuch) return `it was ended, because it printed more than ${bytes} bytes`
  if (timedOut) return `it was ended, because it ran longer than ${seconds} seconds`
  return signal === null ? `exit code ${code}` : `it was ended by ${signal}`
}

function lastLines(output: string): string {
  const lines = output.trimEnd().split('\n').slice(-OS_LOG_LINES_SHOWN)
  return lines.join('') === '' ? '' : `, last lines of output:\n${lines.join('\n')}`
}

/** Everything that the script prints is in the log at once, so the log also explains a script that hangs. */
async function openLog(context: StorageContext, script: ProviderScript, { provider, name }: Volume) {
  const { files, paths, clock } = context
  const directory = paths.local(PATH.LOG_ES_DIR)
  await files.mkdir(directory, { recursive: true, mode: 0o750 })
  await keepNewest(files, directory, EXT_LOGS_MAX - 1)
  const file = path.join(directory, `${script}-${provider}-${name.replaceAll('/', '_')}-${fileTime(clock)}.log`)
  const handle = await files.open(file, 'a', 0o640)
  return {
    shown: paths.virtual(file),
    write: (chunk: string) => void files.writeSync(handle.fd, chunk),
    close: () => handle.close(),
  }
}
