// Parses the arguments of our own LUXI calls. Our own doors send them, so a wrong one is a defect there.
import { OBJECT_KINDS } from '../../model/object-kinds'
import { listOf, orNull } from '../../lib/shapes/containers'
import { bool, float, int, json, oneOf, text } from '../../lib/shapes/leaves'
import { type Fields, objectOf, optional } from '../../lib/shapes/objects'
import type { Shape } from '../../lib/shapes/shape'
import { opcodes, resource } from './call-arguments'
import type {
  EventRequest,
  Identity,
  NewToken,
  PastEventsRequest,
  Precondition,
  SubmitRequest,
  ViewRequest,
} from './gantry'
import type { PlanRequest } from './plan'

const shape = <const F extends Fields>(fields: F) => objectOf(fields, { others: 'dropped' })

const texts = listOf(text)

export const identity: Shape<Identity> = shape({
  user: text,
  token: orNull(text),
  permissions: texts,
})

export const viewRequest: Shape<ViewRequest> = shape({
  what: resource,
  name: orNull(text),
  fields: texts,
  filter: orNull(listOf(json)),
  sort: orNull(shape({ field: text, descending: bool })),
  after: orNull(text),
  limit: int,
  known: bool,
})

const precondition: Shape<Precondition> = shape({
  kind: oneOf('Kind', OBJECT_KINDS),
  uuid: text,
  serial_no: int,
})

export const submitRequest: Shape<SubmitRequest> = shape({
  ops: opcodes,
  reason: orNull(text),
  key: orNull(text),
  digest: text,
  match: listOf(precondition),
  plan: orNull(text),
})

export const planRequest: Shape<PlanRequest> = shape({ ops: opcodes, apart: optional(bool) })

export const eventRequest: Shape<EventRequest> = shape({
  after: orNull(text),
  types: texts,
  objects: texts,
  timeout_s: float,
})

export const pastEventsRequest: Shape<PastEventsRequest> = shape({
  types: texts,
  objects: texts,
  before: orNull(text),
  limit: int,
})

export const newToken: Shape<NewToken> = shape({
  name: text,
  expires: orNull(float),
  permissions: texts,
  tags: texts,
  groups: texts,
})
