// What a command gets from the process that runs it.
import type { Clock } from '../lib/clock'
import type { Machine } from '../lib/machine'
import type { Call } from './command'
import type { Terminal } from './output/terminal'

export interface Environment {
  readonly terminal: Terminal
  /** Called only by commands that need the cluster. */
  connect(): Pick<Call, 'master' | 'nodesRoot' | 'prepareNode'>
  /** Called only by commands that work on the node itself. */
  readonly thisNode: Call['thisNode']
  readonly newNode: Call['newNode']
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** The words of `gnt`, which people type. Scripts call the programs with Ganeti's names, and read its words. */
  readonly plain?: boolean
  /** Called only by commands that read files or start programs. */
  machine(): Pick<Machine, 'files' | 'run'>
}
