// Finishes tsoa's document of the remote API: adds the schemas of all opcodes from their table, error answers, and the `reason` argument of
// every operation that has one. Removes from bodies what the address already says.
import { STATUS_CODES } from 'node:http'
import { EXPLAIN } from '../../src/daemons/rapi/errors'
import type { Schema } from '../../src/lib/shapes/shape'
import type { OpcodeDefinition, ParameterTable } from '../../src/opcodes/opcode'
import { finishDocument, type Operation, PROBLEM, type Spec } from './document'
import { addOpcodeUnions, finishV3Operation, isV3, METRICS, PERMISSION, PROBLEM_RESPONSES } from './v3'
import { bodyWithout, requiredOnes } from './bodies'
import { addExamples } from './examples'
import { INHERITED, OF_CLUSTER } from './inherited'
import { describeParameters } from './parameters'
import { addVerbs } from './verbs'
import { COMMON, commonTable, interfaceName, sortedOpcodes } from '../opcode-interfaces'

type Json = { [key: string]: unknown }

export function finishRapi(spec: Spec): Spec {
  const { schemas } = spec.components
  schemas[COMMON] = tableSchema('The parameters that every opcode takes.', commonTable())
  for (const definition of sortedOpcodes()) schemas[interfaceName(definition)] = opcodeSchema(definition)
  schemas['Error'] = ERROR
  schemas['Problem'] = PROBLEM
  schemas['Permission'] = PERMISSION
  const ofToken = schemas['TokenRequest']?.properties?.['permissions']
  if (ofToken === undefined) throw new Error('no controller of /3 makes tokens')
  Object.assign(ofToken, { items: { $ref: '#/components/schemas/Permission' } })
  for (const [name, schema] of Object.entries(INHERITED)) schemas[name] = { ...schema }
  const ofCluster = schemas['ClusterView']?.properties
  if (ofCluster === undefined) throw new Error('no controller of /3 shows the cluster')
  Object.assign(ofCluster, OF_CLUSTER)
  addVerbs(spec)
  addOpcodeUnions(spec)
  for (const [path, operations] of Object.entries(spec.paths))
    for (const [verb, operation] of Object.entries(operations)) {
      if (isV3(path)) finishV3Operation(path, verb, operation)
      else finishOperation(path, operation, spec)
      describeParameters(path, operation)
    }
  spec.paths['/metrics'] = { get: METRICS }
  addExamples(schemas, (verb, path) => spec.paths[path]?.[verb]?.requestBody?.content['application/json']?.schema)
  spec.components['responses'] = { ...ERROR_RESPONSES, ...PROBLEM_RESPONSES }
  return finishDocument(spec, [{ basic: [] }])
}

function finishOperation(path: string, operation: Operation, spec: Spec): void {
  // Scopes belong to OAuth. The answer 403 says that writing needs the option.
  const restricted = (operation.security ?? []).length > 0
  delete operation.security
  const body = operation.requestBody?.content['application/json']
  if (body) body.schema = bodySchema(body.schema, path, operation, spec)
  const submits = JSON.stringify(operation.responses).includes('schemas/JobId')
  if (submits) operation.parameters = [...(operation.parameters ?? []), REASON]
  const statuses = [
    ...(body ? [400, 413, 415] : [400]),
    401,
    ...(restricted ? [403] : []),
    ...[404, 500],
    ...[502, 503, 504],
  ]
  for (const status of statuses) operation.responses[status] ??= { $ref: `#/components/responses/${status}` }
}

/** The body of an opcode, without those parameters that the address of the request already sets. */
function bodySchema(schema: Json, path: string, operation: Operation, spec: Spec): Json {
  const name = String(schema['$ref'] ?? '').replace('#/components/schemas/', '')
  const whole = spec.components.schemas[name]
  if (whole?.['x-opcode'] === undefined) return schema
  const { 'x-not-in-body': omitted, 'x-also-in-body': added } = operation
  delete operation['x-not-in-body']
  delete operation['x-also-in-body']
  const fromAddress = (operation.parameters ?? []).map((parameter) => parameterSetBy(path, parameter))
  const set = new Set<string | undefined>([...fromAddress, ...(Array.isArray(omitted) ? omitted : [])])
  return bodyWithout(whole, set, asObject(added))
}

const asObject = (value: unknown): Record<string, Schema> =>
  typeof value === 'object' && value !== null ? (value as Record<string, Schema>) : {}

/** An argument of the old style without a default only replaces a body, so the body keeps it too. */
function parameterSetBy(path: string, { in: where, name, schema }: Json): string | undefined {
  if (where === 'query' && !('default' in asObject(schema))) return undefined
  if (where === 'path') return name === 'index' ? 'disk' : `${path.split('/')[2]?.replace(/s$/, '')}_name`
  return name === 'type' ? 'reboot_type' : String(name).replace('-', '_')
}

function opcodeSchema(definition: OpcodeDefinition): Schema & Json {
  const schema = tableSchema(definition.doc, { ...definition.params, ...commonTable() })
  return { ...schema, 'x-opcode': definition.id, 'x-result': definition.result.schema }
}

function tableSchema(description: string, table: ParameterTable): Schema & Json {
  const entries = Object.entries(table)
  const properties = entries.map(([name, { need, check, doc, fallback }]) => {
    const preset = need === 'default' ? { default: fallback } : need === 'maybe' ? { nullable: true } : {}
    return [name, { ...check.schema, description: `${doc}.`, ...preset }] as const
  })
  const required = entries.filter(([, { need }]) => need === 'required').map(([name]) => name)
  return {
    type: 'object',
    description,
    properties: Object.fromEntries(properties),
    additionalProperties: false,
    ...requiredOnes(required),
  }
}

const ERROR: Schema & Json = {
  type: 'object',
  description: 'Why a request failed.',
  required: ['code', 'message', 'explain'],
  properties: {
    code: { type: 'integer', description: 'The HTTP status.' },
    message: { type: 'string', description: 'What happened; special characters are written as HTML entities.' },
    explain: { type: 'string', description: 'What the status means in general.' },
  },
}

const REASON = {
  in: 'query',
  name: 'reason',
  required: false,
  description: 'Why this is done. It is kept in the reason trail of the job.',
  schema: { type: 'string' },
}

const ERRORS: { [status: number]: string } = {
  400: 'The parameters are wrong.',
  401: 'Login is needed, or was wrong.',
  403: 'The user lacks the option for this.',
  404: 'There is no such object.',
  413: 'The body is too long.',
  415: 'The body is not application/json.',
  500: 'The request failed; the message says why.',
  502: 'The master daemon cannot be reached.',
  503: 'The job queue is full, or the console is not available.',
  504: 'The master daemon did not answer in time.',
}

/** An error in the form of the remote API's answers. */
const errorExample = (status: number): Json => ({
  code: status,
  message: ERROR_MESSAGES[status] ?? STATUS_CODES[status],
  explain: EXPLAIN[status] ?? '',
})

/** Statuses whose examples have a more specific message. */
const ERROR_MESSAGES: { [status: number]: string } = {
  400: 'Invalid body parameters: Parameter &#x27;OP_GROUP_ADD.group_name&#x27; fails validation',
  500: '(&#x27;Instance inst9.example.com not found&#x27;, &#x27;unknown_entity&#x27;)',
  502: 'luxid closed the connection',
  503: 'Instance console unavailable',
  504: 'luxid did not answer within 180 s',
}

const ERROR_RESPONSES = Object.fromEntries(
  Object.entries(ERRORS).map(([status, description]) => [
    status,
    {
      description,
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/Error' }, example: errorExample(Number(status)) },
      },
    },
  ]),
)
