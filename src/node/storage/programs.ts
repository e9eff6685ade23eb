// Which programs of storage this node lacks, with the packages that have them.
import * as path from 'node:path'
import { accessible, constants, type Files } from '../../lib/files'
import { PLAIN_ENVIRONMENT } from '../../lib/run-command'
import { packageOf } from './tools'

/** By program. */
export async function missingPrograms(files: Files, programs: readonly string[]): Promise<Record<string, string>> {
  const missing: Record<string, string> = {}
  for (const program of programs.filter((name) => /^[a-z][a-z0-9.-]*$/.test(name)))
    if (!(await isInstalled(files, program))) missing[program] = packageOf(program)
  return missing
}

async function isInstalled(files: Files, program: string): Promise<boolean> {
  for (const directory of PLAIN_ENVIRONMENT.PATH.split(':'))
    if (await accessible(files, path.join(directory, program), constants.X_OK)) return true
  return false
}
