// Why a file cannot be read, in the words of Ganeti's Haskell programs.
import { errorCode } from '../disk'
import { errorText } from '../system-failure'

export const whyNot = (file: string, error: unknown, attempt = 'openFile'): string =>
  `${file}: ${attempt}: ${REASONS[errorCode(error) ?? ''] ?? errorText(error)}`

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist (No such file or directory)',
  ENOTDIR: 'inappropriate type (Not a directory)',
  EISDIR: 'inappropriate type (is a directory)',
  EACCES: 'permission denied (Permission denied)',
}
