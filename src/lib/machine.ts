// The machine that this process runs on, apart from our own state: its files and programs. Code gets it as an argument,
// so that a test can pass another one.
import { networkInterfaces } from 'node:os'
import { type Files, systemFiles } from './files'
import { type Processes, systemProcesses } from './programs/processes'
import { type Run, runCommand } from './programs/run-command'

export interface Machine {
  readonly files: Files
  /** Runs a program to its end. */
  readonly run: Run
  readonly processes: Processes
  readonly networkInterfaces: typeof networkInterfaces
}

/** Only for entry points, which pass it on. */
export const thisMachine: Machine = {
  files: systemFiles,
  run: runCommand,
  processes: systemProcesses,
  networkInterfaces,
}
