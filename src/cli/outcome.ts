// How a command ends: exit codes, and errors that tell the user what was wrong.
import { ECODE, type ErrorCode, OpPrereqError } from '../model/errors'

export const EXIT = { ok: 0, failure: 1, usage: 2, notMaster: 11, notConfirmed: 13, unknownField: 14 } as const

/** A mistake on the command line; shown with the command's name. */
export class UsageError extends Error {}

/** Ends the command with a text on stderr. */
export class CommandFailure extends Error {
  constructor(
    text: string,
    readonly exitCode: number = EXIT.failure,
  ) {
    super(text)
  }
}

/** An error of a command that is refused before anything is sent. It looks like a refusal by the master, as in Ganeti. */
export const refusal = (text: string, code: ErrorCode = ECODE.INVAL): OpPrereqError => new OpPrereqError(text, code)
