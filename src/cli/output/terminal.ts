// The terminal, as commands see it.
import type { Picture } from './picture'

/** Where a command reads and writes. */
export interface Terminal {
  out(line: string): void
  err(line: string): void
  /** Learns which job is being waited for, so that an interrupt can name it. */
  following(job: number | undefined): void
  /**
   * Asks a question to be answered with one of the letters, each with what it means; undefined when nobody can answer, who is then told
   * which option answers beforehand.
   */
  ask(question: string, choices: Readonly<Record<string, string>>, answeredBy: string): Promise<string | undefined>
  /** Hands the terminal to another program until it ends; its exit code. */
  hand(command: readonly string[]): Promise<number>
  /** For a command that goes on until the user interrupts it: from now on that ends nothing by itself. */
  live(): Promise<Live>
}

export interface Live {
  readonly picture: Picture
  readonly interrupted: AbortSignal
}
