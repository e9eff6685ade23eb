// Programs that administrators install on a node for the master: out-of-band helpers and allocators.
import * as fs from 'node:fs/promises'
import { constants } from 'node:os'
import * as path from 'node:path'
import { runCommand } from '../lib/run-command'
import { IALLOCATOR_SEARCH_PATH } from '../model/constants/paths'
import { isRecord } from '../rpc/node/codecs'
import { fail, type NodeContext } from './context'

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/
const NO_OUTPUT = /^\s*$/

/** What the program printed, as JSON; null when it printed nothing. */
export async function runOob(program: string, command: string, node: string, timeout_s: number): Promise<unknown> {
  const { code, output, stdout, timedOut } = await runCommand([program, command, node], { timeout_s })
  const why = timedOut ? `terminated after timeout of ${timeout_s} seconds` : `exited with exit code ${code}`
  if (code !== 0) fail(`'${program} ${command} ${node}' failed with reason '${why}'; output: ${output.trim()}`)
  if (NO_OUTPUT.test(stdout)) return null
  try {
    return JSON.parse(stdout) as unknown
  } catch {
    return fail(`'${program} ${command} ${node}' printed what is not JSON: ${stdout.slice(0, 200).trim()}`)
  }
}

/** The allocator's answer, as it printed it. */
export async function runIallocator(
  { paths, random }: NodeContext,
  name: string,
  input: string,
  options: unknown,
): Promise<string> {
  const script = await findIallocator(paths.local, name)
  const file = path.join(paths.runDir, `iallocator.${random.hex(8)}`)
  await fs.mkdir(paths.runDir, { recursive: true, mode: 0o775 })
  try {
    await fs.writeFile(file, input, { mode: 0o600, flag: 'wx' })
    const command = [script, file, ...optionWords(options)]
    const { code, signal, stdout, output } = await runCommand(command, { maxOutput: 64 << 20 })
    const why = signal === null ? `exited with exit code ${code}` : `terminated by signal ${constants.signals[signal]}`
    if (code !== 0) fail(`iallocator module '${name}' failed: ${why}, output '${output.trim()}'`)
    return stdout
  } finally {
    await fs.rm(file, { force: true })
  }
}

async function findIallocator(local: (virtual: string) => string, name: string): Promise<string> {
  if (NAME.test(name))
    for (const directory of IALLOCATOR_SEARCH_PATH) {
      const script = local(path.posix.join(directory, name))
      if ((await fs.stat(script).catch(() => undefined))?.isFile()) return script
    }
  return fail(`iallocator module '${name}' not found in the search path`)
}

/** `{name: value}`; null is an option without a value. */
function optionWords(options: unknown): string[] {
  if (!isRecord(options)) return []
  return Object.entries(options).map(([name, value]) => (value === null ? `--${name}` : `--${name}=${String(value)}`))
}
