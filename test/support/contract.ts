// The OpenAPI document of an API for tests: its operations, random requests that follow it, and the check whether it describes an answer.
import { readFileSync } from 'node:fs'
import * as path from 'node:path'
import Ajv, { type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import tsoa from '../../tsoa.json'

export interface Schema {
  $ref?: string
  type?: string
  enum?: unknown[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  nullable?: boolean
  minimum?: number
  example?: unknown
}

interface Parameter {
  in: string
  name: string
  description?: string
  example?: unknown
  schema: Schema
}

interface Response {
  $ref?: string
  content?: Record<string, { schema?: Schema }>
}

interface Operation {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, Response>
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; responses: Record<string, Response> }
}

/** All APIs that have a document. */
export const DOORS = Object.keys(tsoa.documents)

export const documentOf = (door: string): string => path.join(__dirname, '../../openapi', `${door}.json`)

export interface ContractOperation extends Operation {
  readonly verb: string
  readonly url: string
}

export interface ContractRequest {
  readonly path: string
  readonly body: unknown
}

export class Contract {
  readonly operations: readonly ContractOperation[]
  private readonly components: Document['components']
  /** It reads `nullable` as OpenAPI 3.0 does: null is added to the type that stands beside it, and to nothing else. */
  private readonly ajv = addFormats(
    new Ajv({
      ...{ strict: false, discriminator: false, allErrors: false, formats: { cidr: true } },
      // Optimizing a validator takes longer than all its uses.
      code: { optimize: false },
    }),
  )
  private readonly validators = new Map<Schema, ValidateFunction>()

  constructor(door: string) {
    const { paths, components } = JSON.parse(readFileSync(documentOf(door), 'utf8')) as Document
    this.components = components
    this.operations = Object.entries(paths).flatMap(([url, verbs]) =>
      Object.entries(verbs).map(([verb, operation]) => ({ ...operation, verb: verb.toUpperCase(), url })),
    )
    for (const [name, schema] of Object.entries(components.schemas))
      this.ajv.addSchema(schema, `#/components/schemas/${name}`)
  }

  /** The operation of a request. */
  operationAt(verb: string, path: string): ContractOperation {
    const parts = path.replace(/\?.*/, '').split('/')
    const fits = ({ url }: ContractOperation) => {
      const desired = url.split('/')
      return desired.length === parts.length && desired.every((part, at) => part.startsWith('{') || part === parts[at])
    }
    const [found, ...others] = this.operations.filter((one) => one.verb === verb && fits(one))
    const exact = others.find(({ url }) => !url.includes('{'))
    if (found === undefined) throw new Error(`the contract has no ${verb} ${path}`)
    return exact ?? found
  }

  /** All fields of a kind of objects in /3: of `nodes`. */
  fieldsOf(kind: string): string[] {
    const name = kind.charAt(0).toUpperCase() + kind.slice(1)
    const view = this.components.schemas[`${name}View`] ?? this.components.schemas[`${name.replace(/s$/, '')}View`]
    return Object.keys(view?.properties ?? {})
  }

  /** Returns what is wrong with an answer, or undefined if the contract describes it. */
  complaintOf(operation: ContractOperation, status: number, type: string, body: string): string | undefined {
    const described = operation.responses[String(status)]
    if (described === undefined) return `the status ${status} is not described`
    const { content } = described.$ref === undefined ? described : this.response(described.$ref)
    if (content === undefined) return body === '' ? undefined : 'a body is not described'
    const media = content[type.split(';')[0] ?? '']
    if (media === undefined) return `the type '${type}' is not described`
    if (media.schema === undefined || !type.includes('json')) return undefined
    const validate = this.validatorOf(media.schema)
    return validate(JSON.parse(body)) ? undefined : this.ajv.errorsText(validate.errors)
  }

  /** Checks the examples of all schemas and bodies. Returns the place of each, with its mistake. */
  complaintsOfExamples(): [where: string, complaint: string | undefined][] {
    const bodies = this.operations.flatMap(({ verb, url, requestBody }): [string, Schema][] =>
      Object.values(requestBody?.content ?? {}).map(({ schema }) => [`${verb} ${url}`, schema]),
    )
    return [...Object.entries(this.components.schemas), ...bodies]
      .filter(([, { example }]) => example !== undefined)
      .map(([where, schema]) => {
        const validate = this.validatorOf(schema)
        return [where, validate(schema.example) ? undefined : this.ajv.errorsText(validate.errors)]
      })
  }

  /** Bodies of requests and parts of addresses without an example, and parameters without a description. */
  undescribed(): string[] {
    return this.operations.flatMap(({ verb, url, requestBody, parameters = [] }) => {
      const schema = requestBody?.content['application/json']?.schema
      const whole = (schema?.$ref === undefined ? undefined : this.schema(schema.$ref)) ?? schema
      const bare = parameters.filter(({ description }) => !description).map(({ name }) => `${verb} ${url}: ${name}`)
      const blank = parameters.filter((one) => one.in === 'path' && one.example === undefined)
      bare.push(...blank.map(({ name }) => `${verb} ${url}: example of ${name}`))
      return whole === undefined || whole.example !== undefined ? bare : [...bare, `${verb} ${url}: body`]
    })
  }

  /** Random requests for an operation. Their paths mostly name existing objects. */
  requestsFor(operation: ContractOperation, names: readonly string[]): fc.Arbitrary<ContractRequest> {
    const { url, parameters = [] } = operation
    return fc
      .tuple(pathOf(url, parameters, names), queryOf(parameters), this.bodyOf(operation))
      .map(([path, query, body]) => ({ path: path + query, body }))
  }

  private bodyOf(operation: Operation): fc.Arbitrary<unknown> {
    const schema = operation.requestBody?.content['application/json']?.schema
    if (schema === undefined) return fc.constant(undefined)
    return fc.oneof({ weight: 6, arbitrary: this.valueOf(schema, 0) }, { weight: 1, arbitrary: fc.jsonValue() })
  }

  /** Mostly a value that the schema allows, and sometimes any value. */
  private valueOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const right = this.rightValue(schema, depth)
    return fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) })
  }

  private rightValue(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    if (depth > 5) return fc.constant(null)
    if (schema.$ref !== undefined) return this.rightValue(this.schema(schema.$ref) ?? {}, depth)
    const choices = schema.oneOf ?? schema.anyOf
    if (choices) return fc.constantFrom(...choices).chain((choice) => this.rightValue(choice, depth + 1))
    if (schema.enum) return fc.constantFrom(...schema.enum)
    switch (schema.type) {
      case 'string':
        return fc.oneof(fc.string(), fc.constantFrom('vm1', 'default', '10.1.0.0/24', '../x', 'a\0b', 'node1'))
      case 'boolean':
        return fc.boolean()
      case 'integer':
        return fc.oneof(fc.nat(20), fc.integer())
      case 'number':
        return fc.oneof(fc.nat(20), fc.double({ noNaN: true, noDefaultInfinity: true }))
      case 'array':
        return fc.array(this.valueOf(schema.items ?? {}, depth + 1), { maxLength: 3 })
      case 'object':
        return this.objectOf(schema, depth)
      default:
        return fc.jsonValue({ maxDepth: 2 })
    }
  }

  private objectOf({ properties = {}, required = [] }: Schema, depth: number): fc.Arbitrary<unknown> {
    const fields = Object.entries(properties).map(([name, field]) => [name, this.valueOf(field, depth + 1)] as const)
    return fc.record(Object.fromEntries(fields), { requiredKeys: required.filter((name) => name in properties) })
  }

  private schema(ref: string): Schema | undefined {
    return this.components.schemas[ref.replace('#/components/schemas/', '')]
  }

  private response(ref: string): Response {
    return this.components.responses[ref.replace('#/components/responses/', '')] ?? {}
  }

  private validatorOf(schema: Schema): ValidateFunction {
    const known = this.validators.get(schema) ?? this.ajv.compile(schema)
    this.validators.set(schema, known)
    return known
  }
}

function pathOf(url: string, parameters: readonly Parameter[], names: readonly string[]): fc.Arbitrary<string> {
  const variables = parameters.filter((parameter) => parameter.in === 'path')
  const values = variables.map(({ schema }) =>
    schema.type === 'integer' ? fc.nat(30).map(String) : fc.oneof(fc.constantFrom(...names), anyName),
  )
  return fc
    .tuple(...values)
    .map((texts) => variables.reduce((text, { name }, i) => text.replace(`{${name}}`, encoded(texts[i])), url))
}

/** One or two dots cannot be a name in a URL, because clients resolve them before they send. */
const anyName = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => !/^\.{1,2}$/.test(text))

function queryOf(parameters: readonly Parameter[]): fc.Arbitrary<string> {
  const desired = parameters.filter((parameter) => parameter.in === 'query')
  const values = fc.oneof(
    fc.string(),
    fc.nat(2).map(String),
    fc.constantFrom('name', 'name,uuid', 'text', '["==","name","x"]', '["?"]'),
  )
  const pairs = desired.map(({ name }) => fc.option(values.map((value) => `${name}=${encoded(value)}`)))
  return fc.tuple(...pairs).map((texts) => `?${texts.filter((text) => text !== null).join('&')}`)
}

const encoded = (text = ''): string => encodeURIComponent(text)
