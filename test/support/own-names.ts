// Runs programs of Ganeti with other host names, because they look up nodes by name and use the machine's name as their own. Needs root.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'

export const mayRename = process.getuid?.() === 0 && spawnSync('unshare', ['-u', '-m', 'true']).status === 0

export interface Names {
  /** Addresses by name. */
  readonly hosts: Readonly<Record<string, string>>
  /** The name of the machine. */
  readonly hostname: string
}

export function runNamed({ hosts, hostname }: Names, command: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'names-'))
  const file = path.join(folder, 'hosts')
  fs.writeFileSync(file, Object.entries({ localhost: '127.0.0.1', ...hosts }).map((line) => `${line.reverse().join(' ')}\n`).join('')) // prettier-ignore
  try {
    const script = 'mount --bind "$0" /etc/hosts && hostname "$1" && shift && exec "$@"'
    const { status, stdout, stderr } = spawnSync(
      'unshare',
      ['-u', '-m', 'sh', '-c', script, file, hostname, ...command],
      {
        ...{ encoding: 'utf8', timeout: 60_000, env: { ...process.env, ...env } },
      },
    )
    return { code: status, out: stdout, err: stderr }
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}
