// The opcode's log in Ganeti's form: plain progress lines, and indented ones for information and warnings.
import type { JobEnvironment } from './environment'

export class UnitLog {
  constructor(private readonly env: JobEnvironment) {}

  /** Progress, printed unchanged. */
  say(text: string): void {
    this.env.log('message', text)
  }

  info(text: string): void {
    this.env.processLog.info(text)
    this.say(` - INFO: ${text}`)
  }

  warning(text: string, hint?: string): void {
    this.env.processLog.warn(text)
    this.say(` - WARNING: ${text}`)
    if (hint !== undefined) this.hint(hint)
  }

  /** The advice for the warnings before it. */
  hint(text: string): void {
    this.say(`      Hint: ${text}`)
  }

  step(number: number, of: number, text: string): void {
    this.say(`STEP ${number}/${of} ${text}`)
  }
}
