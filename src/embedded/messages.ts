// Messages of an embedded cluster to the user who started it.
import * as path from 'node:path'
import { RESTORE_IT } from '../config/upgrade'
import { errorText } from '../lib/system-failure'
import { errorCode } from '../lib/disk'
import { quoteForShell } from '../lib/ssh/ssh'
import { defaultRoot } from './options'

export const printMessage = (text: string): void => void process.stdout.write(`${text}\n`)

/** Lets the cluster run on when nobody reads its output. */
export function silenceMessages(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
}

export interface Place {
  readonly root: string
  /** The program's folder, beside bin/. */
  readonly program: string
}

/** With this a shell finds `gnt`, and `gnt` finds exactly this cluster. */
export function toReach({ root, program }: Place): string {
  const bin = path.join(path.dirname(program), '..', 'bin')
  return `export GANTRY_HOME=${quoteForShell(root)} PATH=${quoteForShell(bin)}:"$PATH"`
}

export function startCommand(root: string, ...more: readonly string[]): string {
  const options = [...(root === defaultRoot() ? [] : ['--root', root]), ...more]
  return ['npm start', ...(options.length === 0 ? [] : ['--', ...options.map(quoteForShell)])].join(' ')
}

/** The node's own command, which needs its environment, as a start of the cluster; and such a start where a file is lost. */
const withWayOut = (text: string, root: string): string =>
  text
    .replace(
      /env GANETI_ROOTDIR=(?:'[^']*'|\S+) GANETI_HOSTNAME=(\S+) gantryd fold --take-file/g,
      (_, node: string) =>
        `${startCommand(root, '--take-files', node)}, or name there another node, whose copy the master is to get`,
    )
    .replace(RESTORE_IT, `$&. To take it from NODE, run: ${startCommand(root, '--take-files', 'NODE')}`)

/** Explains an error: what went wrong, and what to do. */
export function explain(error: unknown, root?: string): string {
  const text = root === undefined ? errorText(error) : withWayOut(errorText(error), root)
  if (errorCode(error) === 'ENOSPC')
    return `${text}${root === undefined ? '' : `, or name another --root than ${root}`}`
  if (errorCode(error) === 'EACCES') return `${text}: name a --root that you may write`
  return text
}
