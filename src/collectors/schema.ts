// The shapes of data, as JSON Schemas. Collectors declare theirs; documents show them, and tests hold what is collected against them.

export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'
  readonly description?: string
  readonly enum?: readonly (string | number)[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  /** What keys that `properties` does not name lead to; `false` for none. */
  readonly additionalProperties?: Schema | false
}

export const text: Schema = { type: 'string' }
export const int: Schema = { type: 'integer' }
export const float: Schema = { type: 'number' }
export const flag: Schema = { type: 'boolean' }
/** Any JSON. */
export const anything: Schema = {}

export const about = (description: string, schema: Schema): Schema => ({ ...schema, description })
export const oneOf = (...values: readonly (string | number)[]): Schema => ({ enum: values })
export const maybe = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })
export const list = (items: Schema): Schema => ({ type: 'array', items })
export const dict = (values: Schema): Schema => ({ type: 'object', additionalProperties: values })

/** A name that ends in `?` may be missing. */
export function record(fields: Readonly<Record<string, Schema>>): Schema {
  const names = Object.keys(fields)
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name.replace(/\?$/, ''), schema])),
    required: names.filter((name) => !name.endsWith('?')),
    additionalProperties: false,
  }
}

/** The code and the message of a status. */
export const status: Schema = record({
  code: about('0: ok, 1: bad but healing, 2: unknown, 4: bad', oneOf(0, 1, 2, 4)),
  message: text,
})

/** Where a value is not as the schema says, in words; nothing when it fits. */
export function mismatches(schema: Schema, value: unknown, where = '$'): string[] {
  const { anyOf, type, items, properties = {}, required = [], additionalProperties } = schema
  if (anyOf !== undefined) {
    const tried = anyOf.map((one) => mismatches(one, value, where))
    return tried.find((found) => found.length === 0) ?? tried[0] ?? []
  }
  if (schema.enum !== undefined)
    return schema.enum.some((one) => one === value) ? [] : [`${where}: ${JSON.stringify(value)} is none of its values`]
  if (type !== undefined && !isOfType(type, value)) return [`${where}: ${JSON.stringify(value)} is no ${type}`]
  if (items !== undefined && Array.isArray(value))
    return value.flatMap((one, at) => mismatches(items, one, `${where}[${at}]`))
  if (type !== 'object' || typeof value !== 'object' || value === null) return []
  const missing = required.filter((name) => !Object.hasOwn(value, name)).map((name) => `${where}.${name} is missing`)
  const wrong = Object.entries(value).flatMap(([name, one]) => {
    const inside = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
    return inside === false ? [`${where}.${name} is unknown`] : mismatches(inside ?? {}, one, `${where}.${name}`)
  })
  return [...missing, ...wrong]
}

function isOfType(type: NonNullable<Schema['type']>, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'null') return value === null
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type && (type !== 'number' || Number.isFinite(value))
}
