// The terminal, as commands see it.
import type { Picture } from './picture'

/** Where a command reads and writes. */
export interface Terminal {
  out(line: string): void
  err(line: string): void
  /** Called with the job that is being waited for, so that an interrupt can name it. */
  following(job: number | undefined): void
  /**
   * Asks a question to be answered with a letter, and shows each letter's meaning. Undefined if nobody can answer; then
   * it names the option that answers in advance.
   */
  ask(question: string, choices: Readonly<Record<string, string>>, answeredBy: string): Promise<string | undefined>
  /** Hands the terminal to another program until it ends. Returns its exit code. */
  hand(command: readonly string[]): Promise<number>
  /** For a command that runs until the user interrupts it: from now on an interrupt does not end it by itself. */
  live(): Promise<Live>
}

interface Live {
  readonly picture: Picture
  readonly interrupted: AbortSignal
}
