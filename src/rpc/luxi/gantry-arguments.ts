// The arguments of our own LUXI calls, read from the wire. They come from doors of ours, so that a wrong one is a defect there.
import {
  type Check,
  bool,
  float,
  int,
  isObject,
  listOf,
  Mismatch,
  oneOf,
  orNull,
  readArray,
  readField,
  text,
  type ValueOf,
} from '../../opcodes/check'
import type { QueryFilter, QueryResource, WireOpCode } from './calls'
import type { EventRequest, Identity, NewToken, SubmitRequest, ViewRequest } from './gantry'
import type { PlanRequest } from './plan'

/** An object with exactly these keys, all of which are there. */
function shape<const F extends Record<string, Check<unknown>>>(
  fields: F,
): (value: unknown) => { readonly [K in keyof F]: ValueOf<F[K]> } {
  return (value) => {
    if (!isObject(value)) throw new Mismatch('Unable to read an object')
    const read = Object.entries(fields).map(([name, check]) => [name, readField(name, check, value[name])])
    // Built field by field from the table that the type is computed from.
    return Object.fromEntries(read) as { [K in keyof F]: ValueOf<F[K]> }
  }
}

const texts = listOf(text)

const filter: Check<QueryFilter> = { schema: {}, parse: (value) => (value === null ? null : readArray(value)) }

export const readIdentity: (value: unknown) => Identity = shape({
  user: text,
  token: orNull(text),
  permissions: texts,
})

export function readView(value: unknown, resource: Check<QueryResource>): ViewRequest {
  return shape({
    what: resource,
    name: orNull(text),
    fields: texts,
    filter,
    after: orNull(text),
    limit: int,
    known: bool,
  })(value)
}

const precondition = shape({
  kind: oneOf('Kind', ['cluster', 'instance', 'node', 'group', 'network']),
  uuid: text,
  serial_no: int,
})

export function readSubmit(value: unknown, readJob: (ops: unknown) => readonly WireOpCode[]): SubmitRequest {
  return shape({
    ops: { schema: {}, parse: readJob },
    reason: orNull(text),
    key: orNull(text),
    digest: text,
    match: listOf({ schema: {}, parse: precondition }),
    plan: orNull(text),
  })(value)
}

export const readPlan = (value: unknown, readJob: (ops: unknown) => readonly WireOpCode[]): PlanRequest =>
  shape({ ops: { schema: {}, parse: readJob } })(value)

export const readEvents: (value: unknown) => EventRequest = shape({
  after: orNull(text),
  types: texts,
  objects: texts,
  timeout_s: float,
})

export const readNewToken: (value: unknown) => NewToken = shape({
  name: text,
  expires: orNull(float),
  permissions: texts,
  tags: texts,
  groups: texts,
})
