// The parts that all OpenAPI documents have in common.
import type { Schema } from '../../src/lib/shapes/shape'

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
  makeStrict(spec, schemas)
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

/** Adds what strict readers of OpenAPI 3.0 need: a type beside `nullable`, choices that differ, a summary for each operation. */
function makeStrict(value: unknown, schemas: Spec['components']['schemas']): void {
  if (typeof value !== 'object' || value === null) return
  const node = value as Json
  if (node['nullable'] === true && node['type'] === undefined) {
    if (node['allOf'] !== undefined) node['type'] = typeOf(node['allOf'], schemas)
    else delete node['nullable']
  }
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
  for (const part of Object.values(node)) makeStrict(part, schemas)
}

/** The type of the schema to which a single reference leads. */
function typeOf(allOf: unknown, schemas: Spec['components']['schemas']): unknown {
  const [, name = ''] = /"#\/components\/schemas\/(.*?)"/.exec(JSON.stringify(allOf)) ?? []
  return schemas[name]?.type ?? 'object'
}

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
