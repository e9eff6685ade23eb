// Random requests at every operation of /3, made from the schemas of the contract: no 5xx, and no answer that it does not describe.
import { readFileSync } from 'node:fs'
import * as path from 'node:path'
import fc from 'fast-check'
import type { Luxid } from '../../../../src/daemons/luxi/luxid'
import type { Paths } from '../../../../src/lib/paths'
import { LuxiClient } from '../../../../src/rpc/luxi/client'
import { removeRoot, temporaryPaths } from '../../../support/queue-in-process'
import { startTinyLuxid } from '../../../support/tiny-luxid'
import { Harness } from './harness'

interface Schema {
  $ref?: string
  type?: string
  enum?: unknown[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  nullable?: boolean
}

interface Parameter {
  in: string
  name: string
  schema: Schema
}

interface Operation {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { $ref?: string; content?: Record<string, unknown> }>
}

const spec: { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } } =
  JSON.parse(readFileSync(path.join(__dirname, '../../../../openapi/rapi.json'), 'utf8'))

const operations = Object.entries(spec.paths)
  .filter(([url]) => url.startsWith('/3/') && url !== '/3/events')
  .flatMap(([url, verbs]) => Object.entries(verbs).map(([verb, operation]) => [verb, url, operation] as const))

let paths: Paths
let luxid: Luxid
let client: LuxiClient
let harness: Harness

beforeAll(async () => {
  paths = temporaryPaths()
  // Nothing may run: that random opcodes are accepted is enough.
  luxid = await startTinyLuxid(paths, { refuseOpcode: (id) => (id === 'OP_TEST_DELAY' ? undefined : 'not here') })
  client = new LuxiClient({ path: paths.socket('query') })
  harness = await Harness.start(client)
})

afterAll(async () => {
  await harness.stop()
  client.close()
  await luxid.close()
  removeRoot(paths)
})

test.each(operations)('%s %s answers as the contract says', async (verb, url, operation) => {
  const requests = fc.record({
    path: fc.constant(url).chain((text) => filled(text, operation.parameters ?? [])),
    query: queryOf(operation.parameters ?? []),
    body: bodyOf(operation),
  })
  await fc.assert(
    fc.asyncProperty(requests, async ({ path, query, body }) => {
      const answer = await harness.ask(verb.toUpperCase(), path + query, { body, headers: ['Connection: close'] })
      expect(answer.status).toBeLessThan(500)
      expect(Object.keys(operation.responses)).toContain(String(answer.status))
      if (answer.status >= 400) {
        expect(answer.headers['content-type']).toBe('application/problem+json')
        expect(JSON.parse(answer.body)).toMatchObject({ status: answer.status, detail: expect.any(String) })
      }
    }),
    { numRuns: 40 },
  )
})

test('the document has the operations that this file tries', () => {
  expect(operations.length).toBeGreaterThan(20)
})

/** A path with its variables replaced by any text. */
function filled(url: string, parameters: readonly Parameter[]): fc.Arbitrary<string> {
  const variables = parameters.filter((parameter) => parameter.in === 'path')
  const values = variables.map(({ schema }) =>
    schema.type === 'integer' ? fc.nat().map(String) : fc.string({ minLength: 1, unit: 'grapheme' }),
  )
  return fc
    .tuple(...values)
    .map((texts) =>
      variables.reduce((text, { name }, i) => text.replace(`{${name}}`, encodeURIComponent(texts[i] ?? '')), url),
    )
}

function queryOf(parameters: readonly Parameter[]): fc.Arbitrary<string> {
  const wanted = parameters.filter((parameter) => parameter.in === 'query')
  const values = fc.oneof(fc.string(), fc.integer().map(String), fc.constantFrom('name', '["==","name","x"]', '["?"]'))
  const pairs = wanted.map(({ name }) => fc.option(values.map((value) => `${name}=${encodeURIComponent(value)}`)))
  return fc.tuple(...pairs).map((texts) => `?${texts.filter((text) => text !== null).join('&')}`)
}

function bodyOf(operation: Operation): fc.Arbitrary<unknown> {
  const schema = operation.requestBody?.content['application/json']?.schema
  if (schema === undefined) return fc.constant(undefined)
  return fc.oneof({ weight: 4, arbitrary: valueOf(schema, 0) }, { weight: 1, arbitrary: fc.jsonValue() })
}

/** Mostly what the schema allows, and now and then anything. */
function valueOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  const right = rightValue(schema, depth)
  return fc.oneof({ weight: 9, arbitrary: right }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) })
}

function rightValue(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (depth > 5) return fc.constant(null)
  if (schema.$ref !== undefined)
    return rightValue(spec.components.schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {}, depth)
  const choices = schema.oneOf ?? schema.anyOf
  if (choices) return fc.constantFrom(...choices).chain((choice) => rightValue(choice, depth + 1))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'string':
      return fc.string()
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.oneof(fc.nat(20), fc.integer())
    case 'number':
      return fc.oneof(fc.nat(20), fc.double({ noNaN: true, noDefaultInfinity: true }))
    case 'array':
      return fc.array(valueOf(schema.items ?? {}, depth + 1), { maxLength: 3 })
    case 'object':
      return objectOf(schema, depth)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function objectOf({ properties = {}, required = [] }: Schema, depth: number): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([name, field]) => [name, valueOf(field, depth + 1)] as const)
  return fc.record(Object.fromEntries(fields), { requiredKeys: required.filter((name) => name in properties) })
}
