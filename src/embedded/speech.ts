// Messages of an embedded cluster to the user who started it.
import * as path from 'node:path'
import { errorText } from '../lib/system-failure'
import { errorCode } from '../lib/disk'
import { quoteForShell } from '../lib/ssh/ssh'
import { defaultRoot } from './options'

export const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** Lets the cluster run on when nobody reads its output. */
export function speakToNobody(): void {
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

export const startCommand = (root: string): string =>
  root === defaultRoot() ? 'npm start' : `npm start -- --root ${quoteForShell(root)}`

/** Explains an error: what went wrong, and what to do. */
export function explain(error: unknown, root?: string): string {
  const text = errorText(error)
  if (errorCode(error) === 'ENOSPC')
    return `${text}${root === undefined ? '' : `, or name another --root than ${root}`}`
  if (errorCode(error) === 'EACCES') return `${text}: name a --root that you may write`
  return text
}
