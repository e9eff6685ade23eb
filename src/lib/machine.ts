// The machine that this process runs on, as far as it is more than its own state: other files, other programs. Who needs it is handed
// one, so that a test can hand over another.
import { networkInterfaces } from 'node:os'
import { type Files, systemFiles } from './files'
import { type Processes, systemProcesses } from './processes'
import { type Run, runCommand } from './run-command'

export interface Machine {
  readonly files: Files
  /** Runs a program to its end. */
  readonly run: Run
  readonly processes: Processes
  readonly networkInterfaces: typeof networkInterfaces
}

/** Only for entry points, which hand it on. */
export const thisMachine: Machine = {
  files: systemFiles,
  run: runCommand,
  processes: systemProcesses,
  networkInterfaces,
}
