// Limits fields to what the session may set. Only sessions of tokens with a scope have limits.
import { sessionStore } from '../api/session-store'
import type { Field } from './schema'
import { forScope } from './within-scope'

export const ofSession = (fields: readonly Field[]): readonly Field[] =>
  sessionStore.scope() === null ? fields : fields.map(forScope)
