// The permission that a user with roles needs to read from /2, as in Ganeti's role-based access control. It is declared
// at the method. Requests that submit a job are checked where their opcode is known.
import type { Route } from '../../http/dispatch'
import type { Permission } from '../../opcodes/opcode'
import type { RapiContext } from './context'

const needed = new WeakMap<object, Permission>()

/** A decorator for methods of controllers. */
export const Needs =
  (permission: Permission) =>
  (controller: object, action: string): void => {
    const method: unknown = Reflect.get(controller, action)
    if (typeof method === 'function') needed.set(method, permission)
  }

export function readPermission({ controller, action }: Pick<Route<RapiContext>, 'controller' | 'action'>) {
  const method: unknown = Reflect.get(controller.prototype as object, action)
  return typeof method === 'function' ? needed.get(method) : undefined
}
