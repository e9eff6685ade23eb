// Adds `x-within-scope` to the document: a JSON schema of the values that a token with a scope may set. It derives from the rules that the master
// itself checks.
import type { Schema } from '../../src/lib/shapes/shape'
import { SCOPE_PARAMS, type ScopeRule } from '../../src/model/scope-params'
import type { OpcodeDefinition } from '../../src/opcodes/opcode'
import { isDictionary, ruleIn, settableRule } from '../../src/services/access/settable'

/** `false` admits no value. */
type Within = boolean | Record<string, unknown>

type Marked<S extends Schema> = S & { 'x-within-scope'?: Within }

/** Marks the parameters of an opcode. */
export function markParameters<S extends Schema>(definition: OpcodeDefinition, schema: S): S {
  return { ...schema, ...markedProperties(schema, (name) => settableRule(definition, name)) }
}

/** Marks a schema of the values inside a parameter. */
export const markInside = <S extends Schema>(parameter: string, schema: S): Marked<S> =>
  marked(schema, ruleIn(SCOPE_PARAMS, parameter))

function marked<S extends Schema>(schema: S, rule: ScopeRule): Marked<S> {
  if (rule === true) return schema
  const { items, anyOf, properties, type = 'object' } = schema
  const mark = { 'x-within-scope': asSchema(rule) }
  if (!isDictionary(rule)) {
    const inside = rule === false && properties !== undefined ? markedProperties(schema, () => rule) : {}
    return { ...schema, ...mark, ...inside }
  }
  // The rule applies to each dictionary, at any depth of lists.
  if (anyOf !== undefined) return { ...schema, anyOf: anyOf.map((choice) => marked(choice, rule)) }
  if (items !== undefined) return { ...schema, items: marked(items, rule) }
  if (type !== 'object') return schema
  if (properties === undefined) return { ...schema, ...mark }
  const { additionalProperties: others } = schema
  const isMore = others !== false && others !== undefined
  return {
    ...schema,
    ...markedProperties(schema, (name) => ruleIn(rule, name)),
    ...(isMore && { additionalProperties: marked(others === true ? {} : others, ruleIn(rule, '*')) }),
  }
}

function markedProperties(
  { properties = {} }: Schema,
  ruleOf: (name: string) => ScopeRule,
): Pick<Schema, 'properties'> {
  const all = Object.entries(properties).map(([name, schema]) => [name, marked(schema, ruleOf(name))] as const)
  return { properties: Object.fromEntries(all) }
}

function asSchema(rule: ScopeRule): Within {
  if (typeof rule === 'boolean') return rule
  if (rule instanceof RegExp) return { type: 'string', pattern: rule.source }
  if (!isDictionary(rule)) return { enum: [...rule] }
  const { '*': others = false, ...named } = rule
  const properties = Object.fromEntries(Object.entries(named).map(([name, one]) => [name, asSchema(one)]))
  return { properties, ...(others !== true && { additionalProperties: asSchema(others) }) }
}
