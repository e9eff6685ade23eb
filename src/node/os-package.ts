// An OS definition with the environment of one instance as an archive, for installations in a helper machine.
import * as os from 'node:os'
import * as path from 'node:path'
import { OS_PACK_S } from '../model/limits/node'
import type { InstanceDict } from '../rpc/node/dicts'
import { fail } from './failure'
import type { NodeContext } from './context'
import { instanceEnvironment } from './os'
import { findOs } from './os-definition'

/** Whether a path can be an archive that was made here: guests get no other file of the node. */
export const isOsPackage = (file: string): boolean =>
  path.basename(file) === ARCHIVE &&
  path.dirname(file).startsWith(FOLDER) &&
  !/\.\.|\//.test(path.dirname(file).slice(FOLDER.length))

const FOLDER = path.join(os.tmpdir(), 'ganeti-os-')
const ARCHIVE = 'os.tgz'

/** The archive's path; the caller removes it. */
export async function packOs(
  context: NodeContext,
  instance: InstanceDict,
  overrides: Readonly<Record<string, string>>,
): Promise<string> {
  const { files, run } = context
  const definition = await findOs(context, instance.os)
  const environment = { ...(await instanceEnvironment(context, instance, definition, 0, 'telling')), ...overrides }
  const folder = await files.mkdtemp(FOLDER)
  const content = path.join(folder, 'content')
  const archive = path.join(folder, ARCHIVE)
  try {
    await files.mkdir(content)
    await files.symlink(definition.directory, path.join(content, 'os'))
    const lines = Object.entries(environment).map(([name, value]) => `${name}=${value}\n`)
    await files.writeFile(path.join(content, 'environment'), lines.join(''), { mode: 0o600 })
    const { code, output } = await run(['tar', '--dereference', '-cz', '-f', archive, '-C', content, '.'], {
      timeout_s: OS_PACK_S,
    })
    if (code !== 0) fail(`Failed to create OS archive '${archive}': exit code ${code}, output '${output.trim()}'`)
    await files.rm(content, { recursive: true })
    return archive
  } catch (error) {
    await files.rm(folder, { recursive: true, force: true })
    throw error
  }
}
