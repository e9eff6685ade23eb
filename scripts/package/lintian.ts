// Debian's own check of packages, where it is installed. What it finds on purpose stands in packaging/lintian/.
import { spawnSync } from 'node:child_process'

/** Whether it finds nothing. It says itself what it finds. */
export function passesLintian(files: readonly string[], program = 'lintian'): boolean {
  // As root it runs only when that is wanted.
  const words = ['--allow-root', '--fail-on', 'error,warning', ...files]
  const { error, status } = spawnSync(program, words, { stdio: 'inherit' })
  if (error === undefined) return status === 0
  process.stderr.write(`lintian, which checks packages, does not run (${error.message}): apt-get install lintian\n`)
  return true
}
