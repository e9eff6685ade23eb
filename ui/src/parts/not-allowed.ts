// Why an action is not allowed to a session, before anything is asked.
import { type Beyond, refusalOf } from '../api/rights'
import type { Session } from '../api/session-store'
import type { Field } from '../forms/schema'
import { forScope } from '../forms/within-scope'

interface Asked<Subject> {
  readonly permission: string
  readonly beyond?: (subject: Subject) => Beyond | undefined
  readonly fields?: readonly Field[] | ((subject: Subject) => readonly Field[])
}

/** Undefined if it is allowed. Without a value for each required field, an action is not possible. */
export function notAllowed<Subject>(
  session: Session | undefined,
  { permission, beyond, fields = [] }: Asked<Subject>,
  subject: Subject,
): string | undefined {
  const refusal = refusalOf(session, permission, beyond?.(subject))
  if (refusal !== undefined || session === undefined || session.scope === null) return refusal
  const needed = (typeof fields === 'function' ? fields(subject) : fields).filter(({ required }) => required)
  return needed.map((field) => forScope(field, session.empty_kinds).barred).find((barred) => barred !== undefined)
}
