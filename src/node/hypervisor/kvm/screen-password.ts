// A screen's password: the first line of a file on the node.
import type { Files } from '../../../lib/files'
import { readPlainFile } from '../../../lib/file/read-bounded'
import { errorText } from '../../../lib/system-failure'
import { SCREEN_PASSWORD_BYTES_MAX } from '../../../model/limits/hypervisor'
import { PATH } from '../../../model/constants/paths'
import type { Paths } from '../../../lib/paths'
import { HypervisorFailure } from '../hypervisor'

interface Place {
  readonly files: Files
  readonly paths: Pick<Paths, 'local'>
}

/** A virtual node has the files of Ganeti's layout below its own root, as the master sends them. All other files are the machine's. */
export const passwordFile = (paths: Pick<Paths, 'local'>, file: string): string =>
  file.startsWith(`${PATH.CONF_DIR}/`) ? paths.local(file) : file

export async function screenPassword({ files, paths }: Place, named: string): Promise<string> {
  const file = passwordFile(paths, named)
  try {
    return (await readPlainFile(files, file, SCREEN_PASSWORD_BYTES_MAX)).split('\n')[0] ?? ''
  } catch (error) {
    throw new HypervisorFailure(`Failed to open password file ${file}: ${errorText(error)}`)
  }
}
