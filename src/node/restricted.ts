// Restricted commands: programs that the administrator of this node allows the master to start by name, without arguments.
import * as path from 'node:path'
import type { Files } from '../lib/files'
import { PATH } from '../model/constants/paths'
import type { NodeContext } from './context'
import { fail } from './failure'
import { RESTRICTED_FAILURE_S } from '../model/limits/node'

const NAME = /^[a-zA-Z0-9_-]+$/

export async function runRestricted(context: NodeContext, command: string): Promise<string> {
  const directory = context.paths.local(PATH.RESTRICTED_COMMANDS_DIR)
  const program = path.join(directory, command)
  const problem = NAME.test(command)
    ? ((await unsafe(context.files, directory, 'directory')) ?? (await unsafe(context.files, program, 'file')))
    : 'its name has characters that are not allowed'
  if (problem === undefined) {
    const { code, output } = await context.run([program], { env: {}, cwd: '/' })
    if (code === 0) return output
    context.log.warn({ command, code }, 'a restricted command failed')
  } else {
    context.log.warn({ command, problem }, 'a restricted command was refused')
  }
  await context.clock.sleep(RESTRICTED_FAILURE_S * 1000)
  // The caller does not learn which names exist.
  return fail(`Executing command failed: see the log of the node daemon on ${context.hostname}`)
}

/** Says why a file is unsafe: only its owner may change it, which must be root or the user who runs this daemon. */
async function unsafe(files: Files, file: string, kind: 'directory' | 'file'): Promise<string | undefined> {
  try {
    const info = await files.lstat(file)
    if (kind === 'directory' ? !info.isDirectory() : !info.isFile()) return `${file} is not a ${kind}`
    if (info.uid !== 0 && info.uid !== process.getuid?.()) return `${file} has another owner`
    if ((info.mode & 0o022) !== 0) return `${file} can be written by others`
    return kind === 'file' && (info.mode & 0o100) === 0 ? `${file} is not executable` : undefined
  } catch {
    return `${file} cannot be examined`
  }
}
