/** Why a file cannot be had, in the words of Ganeti's programs. */
export function whyNot(file: string, error: unknown, attempt = 'openFile'): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  return `${file}: ${attempt}: ${REASONS[code] ?? (error instanceof Error ? error.message : code)}`
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist (No such file or directory)',
  ENOTDIR: 'inappropriate type (Not a directory)',
  EISDIR: 'inappropriate type (is a directory)',
  EACCES: 'permission denied (Permission denied)',
  ENOSPC: 'resource exhausted (No space left on device)',
}
