// The error of a request in the server's words, or the reason why there was no answer.
import { texts } from '../texts'

export class Problem extends Error {
  constructor(
    /** 0 when the server was not reached. */
    readonly status: number,
    detail: string,
    /** The wrong parameter of the body, if the error concerns one. */
    readonly parameter?: string,
  ) {
    super(detail)
  }
}

export async function problemOf(response: Response): Promise<Problem> {
  const reported: unknown = await response.json().catch(() => undefined)
  const { detail, parameter } = (typeof reported === 'object' && reported !== null ? reported : {}) as Readonly<
    Record<string, unknown>
  >
  return new Problem(
    response.status,
    detail === undefined ? response.statusText : String(detail),
    typeof parameter === 'string' ? parameter : undefined,
  )
}

export const unreachable = (): Problem => new Problem(0, texts.problems.unreachable)

/** Advice in addition to the server's message. An error that is only a text, such as that of a job, has no advice. */
export function adviceFor(error: unknown): string | undefined {
  if (typeof error === 'string') return undefined
  if (!(error instanceof Problem)) return texts.problems.defect
  return texts.problems.advice[error.status]
}
