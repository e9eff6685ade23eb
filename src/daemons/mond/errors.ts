// Refusals of this door: Ganeti's words as plain text if Ganeti has such a refusal, otherwise problems.
import { badRequest, HttpError, unforeseen } from '../../http/errors'
import type { RefusalWords } from '../../http/refusal'
import type { Log } from '../../lib/log'

export const noReport = (): HttpError => new HttpError(404, 'Unable to produce a report for the requested resource')
export const noSuch = (field: string, wrong: string, valid: readonly string[]): HttpError =>
  badRequest(`${field}: there is no '${wrong}', but ${valid.join(', ')}`)
export const NO_RESOURCE = 'Resource not found'

export function refusalOf(error: unknown, log: Log): HttpError {
  return error instanceof HttpError ? error : unforeseen(error, log, 'monitoring daemon')
}

export const REFUSAL_WORDS: RefusalWords = {
  type: 'text/plain; charset=utf-8',
  body: ({ message }) => Buffer.from(message),
}
