// The bodies of requests that are parameters of an opcode.
import type { Schema } from '../../src/lib/shapes/shape'

type Json = { [key: string]: unknown }

/** The parameters of an opcode, without those that the address sets, and with `added`. */
export function bodyWithout(
  whole: Schema & Json,
  said: ReadonlySet<string | undefined>,
  added: Record<string, Schema> = {},
): Schema & Json {
  const kept = Object.entries(whole.properties ?? {}).filter(([property]) => !said.has(property))
  const properties: Record<string, Schema> = { ...Object.fromEntries(kept), ...added }
  const required = [...(whole.required ?? []).filter((property) => !said.has(property)), ...Object.keys(added)]
  const { 'x-opcode': _opcode, 'x-result': _result, ...rest } = whole
  // An example with only the required properties, as a start for readers.
  const example = Object.fromEntries(required.map((property) => [property, sampleOf(properties[property] ?? {})]))
  return { ...rest, properties, ...requiredOnes(required), example }
}

/** OpenAPI 3.0 does not allow an empty list. */
export const requiredOnes = (required: readonly string[]) => ({
  required: required.length > 0 ? [...required] : undefined,
})

function sampleOf({ enum: values, anyOf, type, minimum = 0 }: Schema): unknown {
  const [first] = anyOf ?? []
  if (first) return sampleOf(first)
  if (values) return values[0]
  const samples: Record<string, unknown> = { string: 'string', boolean: false, array: [], object: {} }
  return samples[type ?? ''] ?? minimum
}
