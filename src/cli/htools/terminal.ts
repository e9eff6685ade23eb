// What the programs of allocation need of the world: two streams, files, and a way to end.
export interface Terminal {
  out(text: string): void
  err(text: string): void
  read(file: string): string
  write(file: string, text: string): void
}

/** Ends the program: with this code, after these last words. */
export class Stop extends Error {
  constructor(
    readonly code: number,
    readonly out = '',
    readonly err = '',
  ) {
    super(err)
  }
}

/** The arguments are not understood. */
export class CommandLineError extends Stop {}

export const failure = (text: string): Stop => new Stop(1, '', `Error: ${text}\n`)
