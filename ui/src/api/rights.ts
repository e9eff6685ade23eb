// Predicts what the server would refuse to a session: for lack of a permission, or because of the scope of its token.
import { texts } from '../texts'
import type { Session } from './session-store'

/** Reasons that hold for every scope: the whole cluster, or a setting of machines. */
export type Beyond = 'cluster' | 'machines'

/** Why a session is not allowed to do something; undefined if it is allowed. */
export function refusalOf(session: Session | undefined, permission: string, beyond?: Beyond): string | undefined {
  if (session?.beyond_scope.includes(permission)) return texts.action.beyondScope.cluster
  if (session?.permissions.includes(permission) !== true) return texts.action.notAllowed(permission)
  return beyond === undefined || session.scope === null ? undefined : texts.action.beyondScope[beyond]
}
