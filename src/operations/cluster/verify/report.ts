// Writes verify's findings in Ganeti's formats: lines for people, or lines with error codes for programs. An error
// makes the opcode return false.
import { VERIFY_CODES, type VerifyCodeName } from '../../../model/constants/verify-codes'
import type { UnitContext } from '../../unit-context'

export interface ReportFlags {
  readonly error_codes: boolean
  readonly ignore_errors: readonly string[]
  readonly debug_simulate_errors: boolean
  readonly verbose: boolean
}

export type Severity = 'ERROR' | 'WARNING'

/** The name of the object of a finding; null for the cluster. */
type Item = string | null

export class VerifyReport {
  /** True while there is no error. */
  good = true

  constructor(
    private readonly ctx: UnitContext,
    private readonly flags: ReportFlags,
  ) {}

  say(text: string): void {
    this.ctx.log.say(text)
  }

  /** A line for verbose output only. */
  detail(text: string): void {
    if (this.flags.verbose) this.say(text)
  }

  note(text: string): void {
    this.say(`  - ${text}`)
  }

  notice(text: string): void {
    this.note(`NOTICE: ${text}`)
  }

  /** Reports if the condition holds, or errors are simulated. Returns the condition. */
  when(condition: boolean, code: VerifyCodeName, item: Item, text: string, severity: Severity = 'ERROR'): boolean {
    if (condition || this.flags.debug_simulate_errors) this.error(code, item, text, severity)
    return condition
  }

  error(code: VerifyCodeName, item: Item, text: string, severity: Severity = 'ERROR'): void {
    const { target } = VERIFY_CODES[code]
    const displayed = this.flags.ignore_errors.includes(code) ? 'WARNING' : severity
    if (displayed === 'ERROR') this.good = false
    // Ganeti keeps the blank before a missing name, and scripts read these lines.
    const where = `${target} ${item ?? ''}`
    this.say(
      this.flags.error_codes
        ? `  - ${displayed}:${code}:${target}:${item ?? 'None'}:${text}`
        : `  - ${displayed}: ${where}: ${text}`,
    )
  }
}
