// What a session may not do, and why, before the server refuses it: without the permission, or outside the scope of its token.
import { texts } from '../texts'
import type { Session } from './session-store'

/** What no scope has: something about no single object, or a setting of machines. */
export type Beyond = 'cluster' | 'machines'

/** Why a session may not do it; undefined when it may. */
export function refusalOf(session: Session | undefined, permission: string, beyond?: Beyond): string | undefined {
  if (session?.beyond_scope.includes(permission)) return texts.action.beyondScope.cluster
  if (session?.permissions.includes(permission) !== true) return texts.action.notAllowed(permission)
  return beyond === undefined || session.scope === null ? undefined : texts.action.beyondScope[beyond]
}
