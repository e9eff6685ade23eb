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
import { opcodes, resource } from './call-arguments'
import type { QueryFilter } from './calls'
import type { EventRequest, Identity, NewToken, Precondition, SubmitRequest, ViewRequest } from './gantry'
import type { PlanRequest } from './plan'

/** An object with exactly these keys, all of which are there. */
function shape<const F extends Record<string, Check<unknown>>>(
  fields: F,
): Check<{ readonly [K in keyof F]: ValueOf<F[K]> }> {
  return {
    schema: {},
    parse(value) {
      if (!isObject(value)) throw new Mismatch('Unable to read an object')
      const read = Object.entries(fields).map(([name, check]) => [name, readField(name, check, value[name])])
      // Built field by field from the table that the type is computed from.
      return Object.fromEntries(read) as { [K in keyof F]: ValueOf<F[K]> }
    },
  }
}

const texts = listOf(text)

const filter: Check<QueryFilter> = { schema: {}, parse: (value) => (value === null ? null : readArray(value)) }

export const identity: Check<Identity> = shape({
  user: text,
  token: orNull(text),
  permissions: texts,
})

export const viewRequest: Check<ViewRequest> = shape({
  what: resource,
  name: orNull(text),
  fields: texts,
  filter,
  after: orNull(text),
  limit: int,
  known: bool,
})

const precondition: Check<Precondition> = shape({
  kind: oneOf('Kind', ['cluster', 'instance', 'node', 'group', 'network']),
  uuid: text,
  serial_no: int,
})

export const submitRequest: Check<SubmitRequest> = shape({
  ops: opcodes,
  reason: orNull(text),
  key: orNull(text),
  digest: text,
  match: listOf(precondition),
  plan: orNull(text),
})

export const planRequest: Check<PlanRequest> = shape({ ops: opcodes })

export const eventRequest: Check<EventRequest> = shape({
  after: orNull(text),
  types: texts,
  objects: texts,
  timeout_s: float,
})

export const newToken: Check<NewToken> = shape({
  name: text,
  expires: orNull(float),
  permissions: texts,
  tags: texts,
  groups: texts,
})
