// What went wrong with a request, in the words of the server; or why there was no answer.
import { texts } from '../texts'

export class Problem extends Error {
  constructor(
    /** 0 when the server was not reached. */
    readonly status: number,
    detail: string,
    /** The parameter of the body that is wrong, where one is. */
    readonly parameter?: string,
  ) {
    super(detail)
  }
}

export async function problemOf(response: Response): Promise<Problem> {
  const told: unknown = await response.json().catch(() => undefined)
  const { detail, parameter } = (typeof told === 'object' && told !== null ? told : {}) as Readonly<
    Record<string, unknown>
  >
  return new Problem(
    response.status,
    detail === undefined ? response.statusText : String(detail),
    typeof parameter === 'string' ? parameter : undefined,
  )
}

export const unreachable = (): Problem => new Problem(0, texts.problems.unreachable)

/** The way out, beside what the server says itself. Texts are what a job said, which is all that there is. */
export function adviceFor(error: unknown): string | undefined {
  if (typeof error === 'string') return undefined
  if (!(error instanceof Problem)) return texts.problems.defect
  return texts.problems.advice[error.status]
}
