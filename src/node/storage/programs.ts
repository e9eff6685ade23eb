// The programs of storage and the modules of QEMU that this node lacks, with the packages that contain them.
import * as path from 'node:path'
import { accessible, constants, type Files } from '../../lib/files'
import { PLAIN_ENVIRONMENT } from '../../lib/programs/run-command'
import type { NodeContext } from '../context'
import { packageOf } from './tools'

/** Debian keeps QEMU's modules below this directory, in a folder for each architecture. */
const LIBRARIES = '/usr/lib'

/** The missing programs, each with its package. */
export async function missingPrograms(files: Files, programs: readonly string[]): Promise<Record<string, string>> {
  const missing: Record<string, string> = {}
  for (const program of programs.filter((name) => /^[a-z][a-z0-9.-]*$/.test(name)))
    if (!(await (program.endsWith('.so') ? hasModule(files, program) : isInstalled(files, program))))
      missing[program] = packageOf(program)
  return missing
}

/** Like `missingPrograms`, but a node with mirrors in user space does not need the programs of DRBD. */
export const missingHere = (
  { files, userVolumes }: Pick<NodeContext, 'files' | 'userVolumes'>,
  programs: readonly string[],
): Promise<Record<string, string>> =>
  missingPrograms(
    files,
    programs.filter((name) => userVolumes === undefined || packageOf(name) !== packageOf('drbdsetup')),
  )

/** A QEMU without separate modules has everything built in, as far as can be seen from outside. */
async function hasModule(files: Files, module: string): Promise<boolean> {
  const folders = (await files.readdir(LIBRARIES).catch(() => [])).map((name) => path.join(LIBRARIES, name, 'qemu'))
  const modular: string[] = []
  for (const folder of folders) if (await accessible(files, folder)) modular.push(folder)
  for (const folder of modular) if (await accessible(files, path.join(folder, module))) return true
  return modular.length === 0
}

async function isInstalled(files: Files, program: string): Promise<boolean> {
  for (const directory of PLAIN_ENVIRONMENT.PATH.split(':'))
    if (await accessible(files, path.join(directory, program), constants.X_OK)) return true
  return false
}
