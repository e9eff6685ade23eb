// Files that are named on the command line, with complaints in the words of Ganeti's programs.
import { type Terminal, Stop } from './terminal'

/** Says why a file cannot be had. */
export function readFile(terminal: Terminal, file: string, complain: (text: string) => Error): string {
  try {
    return terminal.read(file)
  } catch (error) {
    throw complain(whyNot(file, error))
  }
}

export function writeFile(terminal: Terminal, program: string, file: string, text: string): void {
  try {
    terminal.write(file, text)
  } catch (error) {
    throw new Stop(1, '', `${program}: ${whyNot(file, error)}\n`)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist (No such file or directory)',
  ENOTDIR: 'inappropriate type (Not a directory)',
  EISDIR: 'inappropriate type (is a directory)',
  EACCES: 'permission denied (Permission denied)',
  ENOSPC: 'resource exhausted (No space left on device)',
}

export function whyNot(file: string, error: unknown, attempt = 'openFile'): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  return `${file}: ${attempt}: ${REASONS[code] ?? (error instanceof Error ? error.message : code)}`
}
