// Parsing of wconfd's arguments. Ganeti answers a wrong one with GenericError "RPC input: ...".
import { checkSocketPath } from '../../lib/net/json-socket'
import { either, listOf, readArray, tuple } from '../../lib/shapes/containers'
import { exactly, float, json, nonNegative, oneOf, string } from '../../lib/shapes/leaves'
import { objectOf, optional } from '../../lib/shapes/objects'
import { Mismatch, type Shape, type ValueOf, mapped } from '../../lib/shapes/shape'
import { errorText } from '../../lib/system-failure'
import { GenericError } from '../../model/errors'
import { LOCK_REQUEST_MAX } from '../../model/limits/wconfd'
import type { ClientId, LockLevel, LockName, LockRequest } from '../../model/lock'
import { checkLockName, isLevel } from '../../model/lock-names'
import { clientId, LOCK_MODES, lockRequest } from '../../model/lock-shapes'

type Shapes = readonly Shape<unknown>[]

/** A call's arguments, by their shapes. */
export type Arguments<A extends Shapes> = { readonly [I in keyof A]: ValueOf<A[I]> }

export function readArguments<const A extends Shapes>(shapes: A, args: unknown): Arguments<A> {
  if (!Array.isArray(args) || args.length !== shapes.length)
    throw new GenericError(`RPC input: expected a list of ${shapes.length} arguments`)
  try {
    // Each shape made the argument at its index.
    return shapes.map((shape, index) => shape.parse(args[index])) as unknown as Arguments<A>
  } catch (error) {
    throw error instanceof Mismatch ? new GenericError(`RPC input: ${error.message}`) : error
  }
}

export const seconds = nonNegative(float)

export function list<T>(item: Shape<T>): Shape<readonly T[]> {
  const whole = listOf(item)
  return {
    schema: { ...whole.schema, maxItems: LOCK_REQUEST_MAX },
    parse(value) {
      if (readArray(value).length <= LOCK_REQUEST_MAX) return whole.parse(value)
      throw new Mismatch(`a list of more than ${LOCK_REQUEST_MAX} items`)
    },
  }
}

/** A client that is about to own something: we must be able to check that it lives. */
export const ownerId: Shape<ClientId> = mapped(clientId, (client) => {
  try {
    checkSocketPath(client[1])
  } catch (error) {
    throw new GenericError(errorText(error))
  }
  return client
})

/** Throws GenericError, in Ganeti's words. */
export const lockName: Shape<LockName> = mapped(json, checkLockName)

export const lockLevel: Shape<LockLevel> = {
  schema: {},
  parse(value) {
    if (isLevel(value)) return value
    throw new Mismatch(`Unknown lock-level name: ${JSON.stringify(value)}`)
  },
}

/** Throws GenericError, in Ganeti's words, if such a lock cannot exist. */
export const wantedLock: Shape<LockRequest> = {
  ...lockRequest,
  parse(value) {
    if (Array.isArray(value) && value.length === 2) checkLockName(value[0])
    return lockRequest.parse(value)
  },
}

export const lockAndMode = tuple(lockName, oneOf('OwnerState', LOCK_MODES))

export const namedChange: Shape<readonly [name: string, ...args: unknown[]]> = {
  schema: { type: 'array' },
  parse(value) {
    const [name, ...args] = readArray(value)
    return [string.parse(name), ...args]
  },
}

/**
 * Objects to read, by name or uuid. The slice contains them, the objects that they refer to (see config/slice.ts), and
 * the cluster.
 */
export interface Selector {
  readonly instances?: readonly string[] | 'all'
  readonly nodes?: readonly string[] | 'all'
  readonly groups?: readonly string[] | 'all'
  readonly networks?: readonly string[] | 'all'
  readonly disks?: readonly string[] | 'all'
}

const names = optional(either(exactly('all'), list(string)))

export const selector: Shape<Selector> = objectOf(
  { instances: names, nodes: names, groups: names, networks: names, disks: names },
  { others: 'dropped' },
)
