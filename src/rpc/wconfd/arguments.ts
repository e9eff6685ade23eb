// How the arguments of wconfd's calls are read. Ganeti answers a wrong one with GenericError "RPC input: ...".
import { errorText } from '../../lib/system-failure'
import { GenericError } from '../../model/errors'
import { LOCK_REQUEST_MAX } from '../../model/limits/wconfd'
import {
  type ClientId,
  isClientId,
  isMode,
  type LockLevel,
  type LockMode,
  type LockName,
  type LockRequest,
} from '../../model/lock'
import { checkLockName, isLevel, isLockRequest } from '../../model/lock-names'
import { checkSocketPath } from '../../lib/json-socket'

export type Reader<T> = (value: unknown) => T

/** The arguments of a call, by its readers. */
export type Arguments<A extends readonly Reader<unknown>[]> = { readonly [I in keyof A]: ReturnType<A[I]> }

export function readArguments<const A extends readonly Reader<unknown>[]>(readers: A, args: unknown): Arguments<A> {
  if (!Array.isArray(args) || args.length !== readers.length)
    throw new GenericError(`RPC input: expected a list of ${readers.length} arguments`)
  // Each reader made the argument of its place.
  return readers.map((read, index) => read(args[index])) as Arguments<A>
}

export const text: Reader<string> = (value) =>
  typeof value === 'string' ? value : fail('Unable to read String', undefined)

export const integer: Reader<number> = (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : fail('expected an integer', value)

export const flag: Reader<boolean> = (value) => (typeof value === 'boolean' ? value : fail('expected a boolean', value))

export const seconds: Reader<number> = (value) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : fail('expected seconds', value)

export const optional =
  <T>(read: Reader<T>): Reader<T | null> =>
  (value) =>
    value === null ? null : read(value)

export const list =
  <T>(read: Reader<T>): Reader<readonly T[]> =>
  (value) => {
    if (!Array.isArray(value)) return fail('expected a list', value)
    if (value.length > LOCK_REQUEST_MAX)
      throw new GenericError(`RPC input: a list of more than ${LOCK_REQUEST_MAX} items`)
    return value.map(read)
  }

export const clientId: Reader<ClientId> = (value) => (isClientId(value) ? value : fail('malformed client id', value))

/** A client that is about to own something: it must be possible to tell whether it lives. */
export const ownerId: Reader<ClientId> = (value) => {
  const client = clientId(value)
  try {
    checkSocketPath(client[1])
  } catch (error) {
    throw new GenericError(errorText(error))
  }
  return client
}

export const lockName: Reader<LockName> = checkLockName

export const lockLevel: Reader<LockLevel> = (value) => (isLevel(value) ? value : fail('Unknown lock-level name', value))

export const lockRequest: Reader<LockRequest> = (value) => {
  if (isLockRequest(value)) return value
  if (Array.isArray(value) && value.length === 2) checkLockName(value[0])
  return fail('malformed lock request', value)
}

export const lockAndMode: Reader<[LockName, LockMode]> = (value) => {
  if (Array.isArray(value) && value.length === 2 && isMode(value[1])) return [checkLockName(value[0]), value[1]]
  return fail('malformed lock and mode', value)
}

export const namedChange: Reader<[string, ...unknown[]]> = (value) => {
  if (!Array.isArray(value)) return fail('expected [change, ...arguments]', value)
  const items: unknown[] = value
  const [name, ...args] = items
  return typeof name === 'string' ? [name, ...args] : fail('expected [change, ...arguments]', value)
}

/** Objects to read, by name or uuid. The slice holds them and what they refer to (see config/slice.ts), and the cluster. */
export interface Selector {
  readonly instances?: readonly string[] | 'all'
  readonly nodes?: readonly string[] | 'all'
  readonly groups?: readonly string[] | 'all'
  readonly networks?: readonly string[] | 'all'
  readonly disks?: readonly string[] | 'all'
}

export const selector: Reader<Selector> = (value) => {
  if (typeof value !== 'object' || value === null) return fail('expected a selector', undefined)
  const parts = new Map<string, unknown>(Object.entries(value))
  const read = SECTIONS.flatMap((name) => (parts.get(name) === undefined ? [] : [[name, names(parts.get(name))]]))
  return Object.fromEntries(read) as Selector
}

const SECTIONS = ['instances', 'nodes', 'groups', 'networks', 'disks'] as const satisfies readonly (keyof Selector)[]

const names: Reader<readonly string[] | 'all'> = (value) => (value === 'all' ? value : list(text)(value))

function fail(what: string, value: unknown): never {
  const shown = value === undefined ? '' : `: ${JSON.stringify(value).slice(0, 200)}`
  throw new GenericError(`RPC input: ${what}${shown}`)
}
