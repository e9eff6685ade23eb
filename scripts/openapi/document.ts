// The parts that all OpenAPI documents have in common.
import type { Schema } from '../../src/lib/shapes/shape'
import { exampleParameters } from './parameters'

type Json = { [key: string]: unknown }

export interface Operation extends Json {
  parameters?: Json[]
  responses: { [status: string]: Json }
  requestBody?: { content: { [type: string]: { schema: Json } } }
  security?: Json[]
}

export interface Spec {
  paths: { [path: string]: { [verb: string]: Operation } }
  components: { schemas: { [name: string]: Schema & Json } } & Json
  security?: Json[]
  servers?: Json[]
  info: Json
}

/** The document of an API that adds nothing of its own. Its refusals are problems (RFC 9457). */
export function finishPlain(spec: Spec): Spec {
  const { schemas, securitySchemes } = spec.components
  schemas['Problem'] = PROBLEM
  const operations = Object.values(spec.paths).flatMap((verbs) => Object.values(verbs))
  for (const { responses } of operations) Object.assign(responses, { '4XX': REFUSED, '5XX': REFUSED })
  return finishDocument(
    spec,
    Object.keys(Object(securitySchemes)).map((scheme) => ({ [scheme]: [] })),
  )
}

/** `security`: ways to log in, any of which is enough. */
export function finishDocument(spec: Spec, security: Json[]): Spec {
  const { schemas } = spec.components
  for (const [path, verbs] of Object.entries(spec.paths))
    for (const operation of Object.values(verbs)) exampleParameters(path, operation)
  for (const [name, schema] of Object.entries(schemas)) if (!TAKEN.test(name)) boundNumbers(schema)
  makeStrict(spec)
  dropUnused(spec)
  const { components, ...rest } = spec
  const { securitySchemes, ...parts } = components
  const ordered = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
  return {
    ...rest,
    // The server from which the document came.
    servers: [{ url: '/' }],
    info: { ...spec.info, license: LICENSE },
    security,
    // If there is no login, the pages must not offer one.
    components: { ...parts, ...(security.length > 0 && { securitySchemes }), schemas: ordered },
  }
}

/** Schemas of what is sent: their numbers have the bounds of their checks. */
const TAKEN = /^Op[A-Z].*(?<!Operation)$|(Request|Changes|Params|Parameters)$|^(AnyOpcode|InstancePolicy)$/
/** What may be below 0 in an answer; all else is a size, a count, a number of seconds. */
const SIGNED = /^priority$|score|change|ahead|^(before|after|free|needed)$/

/** A size or a count is not negative. */
function boundNumbers({ properties = {} }: Schema): void {
  for (const [name, property] of Object.entries(properties))
    if (['integer', 'number'].includes(property.type ?? '') && property.minimum === undefined && !SIGNED.test(name))
      property.minimum = 0
}

const LICENSE = { name: 'BSD-2-Clause', url: 'https://opensource.org/license/bsd-2-clause' }

/** Removes schemas that are no longer used, because their opcode has new ones that were made from them. */
function dropUnused(spec: Spec): void {
  const { schemas } = spec.components
  for (let before = -1; before !== Object.keys(schemas).length;) {
    before = Object.keys(schemas).length
    const text = JSON.stringify(spec)
    for (const name of Object.keys(schemas)) if (!text.includes(`"#/components/schemas/${name}"`)) delete schemas[name]
  }
}

/** Adds what strict readers of OpenAPI 3.0 need: null as a choice, choices that differ, a summary for each operation. */
function makeStrict(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const node = value as Json
  allowNull(node)
  statePositive(node)
  const { anyOf } = node
  if (Array.isArray(anyOf)) {
    const choices = [...new Map(anyOf.map((schema: unknown) => [JSON.stringify(schema), schema])).values()]
    if (choices.length > 1 && choices.every((schema) => JSON.stringify(schema) !== '{}')) node['anyOf'] = choices
    else {
      delete node['anyOf']
      if (choices.length === 1) Object.assign(node, choices[0])
    }
  }
  const { operationId, summary, description } = node
  if (typeof operationId === 'string' && summary === undefined && typeof description === 'string')
    node['summary'] = /^[^.:;]*/.exec(description)?.[0]
  for (const part of Object.values(node)) makeStrict(part)
  // Readers drop what stands beside a reference.
  const { $ref, ...more } = node
  if (typeof $ref === 'string' && Object.keys(more).length > 0) {
    delete node['$ref']
    node['allOf'] = [{ $ref }]
  }
}

/** `nullable` only adds null to the type that stands beside it: not to what a reference or a list of values allows. */
function allowNull(node: Json): void {
  if (node['nullable'] !== true) return
  const { enum: values, allOf, anyOf } = node
  if (Array.isArray(values) && !values.includes(null)) node['enum'] = [...(values as unknown[]), null]
  if (node['type'] !== undefined) return
  delete node['nullable']
  if (Array.isArray(anyOf)) node['anyOf'] = [...(anyOf as unknown[]), NULL]
  if (Array.isArray(allOf)) {
    delete node['allOf']
    node['oneOf'] = [...(allOf as unknown[]), NULL]
  }
}

/** `exclusiveMinimum` is true or false in OpenAPI 3.0, and a number in JSON Schema: readers of the one stumble over the other. */
function statePositive(node: Json): void {
  if (node['exclusiveMinimum'] !== true) return
  delete node['exclusiveMinimum']
  if (node['type'] === 'integer') node['minimum'] = Number(node['minimum']) + 1
  else node['description'] = `${String(node['description'])} It is above ${String(node['minimum'])}.`
}

const NULL = { type: 'object', nullable: true, enum: [null] }

export const PROBLEM: Schema & Json = {
  type: 'object',
  description: 'Why a request failed (RFC 9457).',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string', description: '`about:blank`: the status says what kind of problem it is.' },
    title: { type: 'string', description: 'The status in words.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: { type: 'string', description: 'What happened, to which object, and what can be done.' },
    code: { type: 'string', description: 'What kind of refusal it is, if the cluster said so: `unknown_entity`.' },
    parameter: { type: 'string', description: 'The parameter of the body that is wrong, if there is one: `disks`.' },
  },
}

export const REFUSED = {
  description: 'The request was refused.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
}
