// Runs the administrator's hook scripts (spec: hooks.json): all executables of a directory, in the order of their
// names.
import { constants, type Files } from '../lib/files'
import * as path from 'node:path'
import { isMissing } from '../lib/disk'
import { printable } from '../lib/text/printable'
import { endOf } from '../lib/text/short-text'
import { HOOK_NAME, HOOK_RESULT } from '../model/constants/hooks'
import { HOOK_SCRIPT_S, SCRIPT_OUTPUT_BYTES_MAX } from '../model/limits/node'
import { HOOK_TOLD_CHARS_MAX } from '../model/limits/node-calls'
import type { HookResult } from '../rpc/node/dicts'
import type { NodeContext } from './context'
import { fail } from './failure'

/** `env` is the scripts' whole environment. A missing directory has no scripts. */
export async function runHooks(
  context: Pick<NodeContext, 'paths' | 'files' | 'run'>,
  name: string,
  phase: string,
  env: Readonly<Record<string, string>>,
): Promise<HookResult[]> {
  if (phase !== 'pre' && phase !== 'post') fail(`Unknown hooks phase '${phase}'`)
  if (!HOOK_NAME.test(name)) fail(`Not a name of hooks: ${JSON.stringify(name)}`)
  return runScripts(context, `${name}-${phase}.d`, env)
}

/** All scripts of a directory below the hooks' one; a failing script does not stop the others. */
export async function runScripts(
  { files, run, paths }: Pick<NodeContext, 'paths' | 'files' | 'run'>,
  relative: string,
  env: Readonly<Record<string, string>>,
): Promise<HookResult[]> {
  const directory = path.join(paths.hooksDir, relative)
  const results: HookResult[] = []
  for (const script of await scriptsIn(files, directory)) {
    const displayed = `${relative}/${script}`
    if (!(await isExecutable(files, path.join(directory, script)))) {
      results.push([displayed, HOOK_RESULT.skipped, ''])
      continue
    }
    const options = { env, cwd: '/', timeout_s: HOOK_SCRIPT_S, maxOutput: SCRIPT_OUTPUT_BYTES_MAX }
    const { code, output } = await run([path.join(directory, script)], options)
    results.push([
      displayed,
      code === 0 ? HOOK_RESULT.ok : HOOK_RESULT.failed,
      endOf(printable(output.trim()), HOOK_TOLD_CHARS_MAX),
    ])
  }
  return results
}

async function scriptsIn(files: Files, directory: string): Promise<string[]> {
  try {
    return (await files.readdir(directory)).filter((name) => !name.startsWith('.')).sort()
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

async function isExecutable(files: Files, file: string): Promise<boolean> {
  if (!HOOK_NAME.test(path.basename(file))) return false
  try {
    await files.access(file, constants.X_OK)
    return (await files.stat(file)).isFile()
  } catch {
    return false
  }
}
