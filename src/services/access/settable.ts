// Which parameters of an opcode a token with a scope may set. The document of the remote API has the same rules. Pure.
import { isObject } from '../../lib/shapes/shape'
import { SCOPE_PARAMS, type ScopeRule, type ScopeRules } from '../../model/scope-params'
import { definitionOf } from '../../opcodes/index'
import type { OpcodeDefinition } from '../../opcodes/opcode'
import type { WireOpCode } from '../../rpc/luxi/calls'

/** The first parameter whose value the rules forbid, such as `hvparams.kvm_extra`. */
export function notSettable({ OP_ID, ...op }: WireOpCode): string | undefined {
  const definition = definitionOf(OP_ID)
  const input = Object.entries(op).filter(([, value]) => value !== null)
  return firstRefused(input, (name) => settableRule(definition, name))
}

/** Parameters that name objects are free; their objects must be in the scope. */
export const settableRule = (definition: OpcodeDefinition, parameter: string): ScopeRule =>
  isQuestion(definition) || definition.params[parameter]?.names !== undefined || ruleIn(SCOPE_PARAMS, parameter)

/** The opcode only asks about data that the caller sees. */
export const isQuestion = ({ params }: OpcodeDefinition): boolean => params['visible'] !== undefined

export const isDictionary = (rule: ScopeRule): rule is ScopeRules =>
  typeof rule === 'object' && !Array.isArray(rule) && !(rule instanceof RegExp)

export const ruleIn = (rules: ScopeRules, name: string): ScopeRule =>
  (Object.hasOwn(rules, name) ? rules[name] : rules['*']) ?? false

function firstRefused(
  input: readonly (readonly [name: string, value: unknown])[],
  ruleOf: (name: string) => ScopeRule,
): string | undefined {
  const refused = input.map(([name, value]) => {
    const rule = ruleOf(name)
    if (value === undefined) return undefined
    if (!isDictionary(rule)) return admits(rule, value) ? undefined : name
    const inside = refusedWithin(value, rule)
    return inside && `${name}.${inside}`
  })
  return refused.find(isDefined)
}

function refusedWithin(input: unknown, rules: ScopeRules): string | undefined {
  // Devices come in lists, changes of devices in lists with action and index.
  if (Array.isArray(input)) return input.map((entry: unknown) => refusedWithin(entry, rules)).find(isDefined)
  return isObject(input) ? firstRefused(Object.entries(input), (name) => ruleIn(rules, name)) : undefined
}

const isDefined = (name: string | undefined): boolean => name !== undefined

function admits(rule: Exclude<ScopeRule, ScopeRules>, value: unknown): boolean {
  if (typeof rule === 'boolean') return rule
  return rule instanceof RegExp ? typeof value === 'string' && rule.test(value) : rule.includes(value)
}
