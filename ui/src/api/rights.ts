// Predicts what the server would refuse to a session: for lack of a permission, or because of the scope of its token.
import { texts } from '../texts'
import type { Session } from './session-store'

/** Why a scope does not suffice: for the whole cluster, for a setting of machines, or for instances that are outside of it. */
export type Beyond = 'cluster' | 'machines' | 'others'

/** Why a session is not allowed to do something; undefined if it is allowed. */
export function refusalOf(session: Session | undefined, permission: string, beyond?: Beyond): string | undefined {
  if (session?.beyond_scope.includes(permission)) return texts.action.beyondScope.cluster
  if (session?.permissions.includes(permission) !== true) return texts.action.notAllowed(permission)
  return beyond === undefined || session.scope === null ? undefined : texts.action.beyondScope[beyond]
}
