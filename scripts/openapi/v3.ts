// Adds to the document of /3 what its controllers do not say: every opcode by its OP_ID, typed results, and problems as answers.
import { STATUS_CODES } from 'node:http'
import { ECODE, REFUSED } from '../../src/model/errors'
import type { Schema } from '../../src/lib/shapes/shape'
import { opcodeClass } from '../../src/opcodes/index'
import { PERMISSION_FORMS, permissionNames } from '../../src/opcodes/permission'
import { PERMISSION_PATTERN, ROLE_NAMES } from '../../src/model/permissions'
import { interfaceName, sortedOpcodes } from '../opcode-interfaces'
import type { Operation, Spec } from './document'
import { markParameters } from './scope'

type Json = { [key: string]: unknown }

export const isV3 = (path: string): boolean => path.startsWith('/3/')

/** The schemas of opcodes and of their results. They replace what tsoa can make of them. */
export function addOpcodeUnions(spec: Spec): void {
  const { schemas } = spec.components
  const whole = schemas['JobOperation']
  if (whole === undefined) throw new Error('no controller of /3 shows jobs')
  for (const definition of sortedOpcodes()) {
    const name = opcodeClass(definition.id)
    const id: Schema = { type: 'string', enum: [definition.id] }
    const {
      'x-opcode': _opcode,
      'x-result': _result,
      ...params
    } = markParameters(definition, schemas[interfaceName(definition)] ?? {})
    schemas[name] = {
      ...params,
      properties: { OP_ID: id, ...params.properties },
      required: ['OP_ID', ...(params.required ?? [])],
    }
    const result = definition.result.schema
    schemas[`${name}Operation`] = {
      ...whole,
      description: `How an opcode of this kind went: ${definition.doc}`,
      properties: {
        ...whole.properties,
        OP_ID: id,
        result: { ...result, nullable: true, description: RESULT },
      },
    }
  }
  schemas['AnyOpcode'] = union('One step of a job: an `OP_ID` and the parameters of its opcode.', '')
  schemas['JobOperation'] = union('An opcode of a job, and how it went.', 'Operation')
}

const RESULT = 'The result of the opcode. Null until it has succeeded.'

function union(description: string, suffix: string): Schema & Json {
  const refs = sortedOpcodes().map(({ id }) => [id, `#/components/schemas/${opcodeClass(id)}${suffix}`] as const)
  return {
    description,
    oneOf: refs.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: 'OP_ID', mapping: Object.fromEntries(refs) },
  }
}

export function finishV3Operation(path: string, verb: string, operation: Operation): void {
  const changes = verb !== 'get'
  const body = operation.requestBody !== undefined
  const conditional = (operation.parameters ?? []).some(({ name }) => name === 'If-Match')
  const statuses = [
    400,
    401,
    403,
    404,
    ...(changes ? [409] : []),
    ...(conditional ? [412] : []),
    ...(body ? [413, 415, 422] : []),
    500,
    ...[502, 503, 504],
  ]
  for (const status of statuses) operation.responses[status] ??= refused(status)
  const hasTag = !changes && (path === '/3/cluster' || TAGGED.test(path))
  if (hasTag) operation.responses[304] = { description: 'The object has not changed: its ETag equals If-None-Match.' }
  if (hasTag) addHeader(operation, 200, 'ETag', 'Identifies this state of the object, for If-None-Match and If-Match.')
  for (const status of [200, 202].filter(() => operation.responses[202] !== undefined))
    addHeader(operation, status, 'Location', 'The address of the job.')
  operation.security = [{ basic: [] }, { bearer: [] }, { session: [] }]
}

function refused(status: number): Json {
  return { $ref: `#/components/responses/problem${status}` }
}

const TAGGED = /^\/3\/(instances|nodes|groups|networks)\/\{name\}$/

function addHeader(operation: Operation, status: number, name: string, description: string): void {
  const response = operation.responses[status]
  if (response)
    operation.responses[status] = { ...response, headers: { [name]: { description, schema: { type: 'string' } } } }
}

const TEXTS: { [status: number]: string } = {
  400: 'The request is wrong; the detail says where.',
  401: 'Login is needed, or was wrong.',
  403: 'The caller may not do this.',
  404: 'There is no such object, or the caller may not see it.',
  409: 'It cannot be done in the present state; or a request with the same Idempotency-Key is under way.',
  412: 'An object of If-Match has changed.',
  413: 'The body is too long.',
  415: 'The body is not application/json.',
  422: 'The request is understood and refused: an Idempotency-Key that was used with another body, or no resources.',
  500: 'A defect; the log has the details.',
  502: 'The master daemon cannot be reached, or could not do it.',
  503: 'Too much to do, or the job queue takes no jobs; try again later.',
  504: 'The master daemon did not answer in time.',
}

const problemExample = (status: number): Json => {
  const [detail, code] = PROBLEMS[status] ?? []
  return { type: 'about:blank', title: STATUS_CODES[status], status, detail, ...(code !== undefined && { code }) }
}

/** Example texts of the answers with these statuses, and the error's kind, if it has one. */
const PROBLEMS: { [status: number]: readonly [detail: string, code?: string] } = {
  400: ['limit: must be from 1 to 1000'],
  401: ['The token is not valid'],
  403: ['this needs the permission instances.create, which the token does not have', REFUSED.forbidden],
  404: ['There is no instance vm9', ECODE.NOENT],
  409: ['A request with this Idempotency-Key is under way', REFUSED.inFlight],
  412: ['instance vm1 has changed', REFUSED.changed],
  413: ['Payload Too Large'],
  415: ['Unsupported Media Type'],
  422: ['The Idempotency-Key was used for a request with another body', REFUSED.otherBody],
  500: ['Internal error; the log of the RAPI daemon has the details'],
  502: ['luxid closed the connection'],
  503: ['1000 jobs wait already'],
  504: ['luxid did not answer within 180 s'],
}

export const PROBLEM_RESPONSES = Object.fromEntries(
  Object.entries(TEXTS).map(([status, description]) => [
    `problem${status}`,
    {
      description,
      content: {
        'application/problem+json': {
          schema: { $ref: '#/components/schemas/Problem' },
          example: problemExample(Number(status)),
        },
      },
    },
  ]),
)

/** The forms of a token's permission. */
export const PERMISSION: Schema & Json = {
  description: `The name of a permission, or a pattern of names: ${PERMISSION_FORMS}.`,
  anyOf: [
    { type: 'string', enum: [...permissionNames, ...ROLE_NAMES] },
    { type: 'string', pattern: PERMISSION_PATTERN.source },
  ],
}

/** An operation that is served without a controller. */
export const METRICS: Operation = {
  operationId: 'Metrics_get',
  summary: 'Figures for Prometheus',
  description:
    "Figures for Prometheus: those of Ganeti's exporter have its names, ours begin with `gantry_`. A token with a scope measures " +
    'only what it may see.',
  tags: ['metrics'],
  security: [{ basic: [] }, { bearer: [] }],
  responses: {
    200: { description: 'Ok', content: { 'text/plain': { schema: { type: 'string' } } } },
    ...Object.fromEntries([401, 403, 500, 502, 503, 504].map((status) => [status, refused(status)])),
  },
}
