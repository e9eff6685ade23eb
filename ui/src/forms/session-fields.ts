// Limits fields to what the session may set. Only sessions of tokens with a scope have limits.
import { sessionStore } from '../api/session-store'
import type { Field } from './schema'
import { forScope } from './within-scope'

export function ofSession(fields: readonly Field[]): readonly Field[] {
  const { session } = sessionStore.get()
  return session === undefined || session.scope === null
    ? fields
    : fields.map((field) => forScope(field, session.empty_kinds))
}
