// A screen's password: the first line of a file on the node.
import type { Files } from '../../../lib/files'
import { readPlainFile } from '../../../lib/file/read-bounded'
import { errorText } from '../../../lib/system-failure'
import { SCREEN_PASSWORD_BYTES_MAX } from '../../../model/limits/hypervisor'
import { HypervisorFailure } from '../hypervisor'

export async function screenPassword(files: Files, file: string): Promise<string> {
  try {
    return (await readPlainFile(files, file, SCREEN_PASSWORD_BYTES_MAX)).split('\n')[0] ?? ''
  } catch (error) {
    throw new HypervisorFailure(`Failed to open password file ${file}: ${errorText(error)}`)
  }
}
