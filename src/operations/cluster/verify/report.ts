// Writes verify's findings in Ganeti's forms: lines for people, or lines with error codes for programs. An error makes the
// opcode answer false.
import { VERIFY_CODES, type VerifyCodeName } from '../../../model/constants/verify-codes'
import type { UnitContext } from '../../unit-context'

export interface ReportFlags {
  readonly error_codes: boolean
  readonly ignore_errors: readonly string[]
  readonly debug_simulate_errors: boolean
  readonly verbose: boolean
}

export type Severity = 'ERROR' | 'WARNING'

/** The name of the object that a finding is about; null for the cluster. */
type Item = string | null

export class VerifyReport {
  /** No error so far. */
  good = true

  constructor(
    private readonly ctx: UnitContext,
    private readonly flags: ReportFlags,
  ) {}

  say(text: string): void {
    this.ctx.log.say(text)
  }

  /** Only for those who want to see more. */
  detail(text: string): void {
    if (this.flags.verbose) this.say(text)
  }

  notice(text: string): void {
    this.say(`  - NOTICE: ${text}`)
  }

  /** When the condition holds, or errors are simulated. Answers whether the condition held. */
  when(condition: boolean, code: VerifyCodeName, item: Item, text: string, severity: Severity = 'ERROR'): boolean {
    if (condition || this.flags.debug_simulate_errors) this.error(code, item, text, severity)
    return condition
  }

  error(code: VerifyCodeName, item: Item, text: string, severity: Severity = 'ERROR'): void {
    const { target } = VERIFY_CODES[code]
    const shown = this.flags.ignore_errors.includes(code) ? 'WARNING' : severity
    if (shown === 'ERROR') this.good = false
    // Ganeti leaves the blank before a name that is not there, and scripts read these lines.
    const where = `${target} ${item ?? ''}`
    this.say(
      this.flags.error_codes
        ? `  - ${shown}:${code}:${target}:${item ?? 'None'}:${text}`
        : `  - ${shown}: ${where}: ${text}`,
    )
  }
}
