// Handles failures of a program's output. A reader that has seen enough, such as head, ends the program quietly. A full disk is a failure, even if
// only the last line does not fit.

export interface StandardOutput {
  /** Ends the process when all output has arrived, since output to a pipe is asynchronous. */
  finish(code: number): void
}

export function standardOutput({ program, quietCode = () => 0 }: OutputOptions): StandardOutput {
  const lost = (error: NodeJS.ErrnoException): never => {
    if (error.code === 'EPIPE') process.exit(quietCode())
    process.stderr.write(`${program}: the output cannot be written: ${error.message}\n`)
    process.exit(1)
  }
  process.stdout.on('error', lost)
  // Nobody is left to be told.
  process.stderr.on('error', () => process.exit(1))
  return {
    finish(code) {
      process.exitCode = code
      process.stdout.write('', (error) => (error ? lost(error) : process.exit()))
    },
  }
}

export interface OutputOptions {
  readonly program: string
  /** The exit code when the reader is gone. */
  quietCode?(): number
}
