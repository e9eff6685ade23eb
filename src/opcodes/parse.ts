// Parses JSON to canonical opcodes, in Ganeti's two ways: luxid's (parseOpcode), whose errors name the unparsable
// value, and its HTTP door's (fillOpcode), whose errors name the parameter that fails validation.
import { listOf, tuple } from '../lib/shapes/containers'
import { bool, int, keyed, nonNegative, text } from '../lib/shapes/leaves'
import { missingKey, objectOf, refuseOthers } from '../lib/shapes/objects'
import { Explained, type JsonObject, Mismatch, type Shape, parsePart } from '../lib/shapes/shape'
import { allOpcodes } from './all'
import { expected } from '../lib/shapes/words'
import type { CommonParams, InputOf, OpcodeDefinition, Parameter, ParameterTable } from './opcode'
import { maybe, opt, req } from './opcode'
import { finalJobStatus, jobId, submitPriority } from './types'

/** A canonical opcode for storing and sending: common parameters, OP_ID, then its own in declared order. */
export type ParsedOpCode = { OP_ID: string } & CommonParams & JsonObject

/** A job id, or -1 for the previous job of the same submission, and so on. */
const dependency: Shape<number> = {
  schema: { type: 'integer' },
  parse: (value) => (Number.isSafeInteger(value) && Number(value) < 0 ? Number(value) : jobId.parse(value)),
}

const time_ns: Shape<number> = {
  schema: { type: 'integer' },
  parse(value) {
    if (typeof value !== 'number' || !Number.isInteger(value)) throw new Mismatch('Unable to read Integer')
    return value
  },
}

/** `[[source, text, nanoseconds], ...]`. */
export const reasonTrail = listOf(tuple(text, text, time_ns))

export const commonParams = {
  dry_run: maybe(bool, 'Stop after the checks'),
  debug_level: maybe(nonNegative(int), 'Extra debugging, 0 for none'),
  priority: opt(submitPriority, 0, 'Priority of the job at submission'),
  depends: maybe(listOf(tuple(dependency, listOf(finalJobStatus))), '[[job id or negative offset, [statuses]], ...]'),
  comment: maybe(text, 'Free text stored with the opcode'),
  reason: req(reasonTrail, 'Reason trail: [[source, text, nanoseconds], ...]'),
} satisfies ParameterTable

const OP_ID = { OP_ID: text }
const named = objectOf(OP_ID, { others: 'dropped' })

/** These stay in the stored opcode as null if unset. */
const KEPT_AS_NULL = new Set(['depends', 'comment'])

/** Parses a submitted opcode as luxid does: refuses other keys, requires `reason`; throws Mismatch in luxid's words. */
export function parseOpcode(json: unknown): ParsedOpCode {
  const raw = keyed.parse(json)
  const definition = definitionIn(raw)
  const input = definition.fromOlder(raw)
  refuseOthers(input, commonParams, OP_ID, definition.params)
  return assemble(definition, (name, parameter) => {
    const value = input[name]
    if (parameter.need === 'required' ? value === undefined : value === undefined || value === null)
      return unset(name, parameter, () => missingKey(name, input))
    return parsePart(parameter.check, value, 'field', name)
  })
}

/** An unknown, missing or wrong parameter, in the words of Ganeti's HTTP door. */
export class BadParameter extends Error {
  constructor(
    message: string,
    /** Ganeti shows a failed validation with its error code, but an unknown parameter without. */
    readonly validation: boolean,
    /** A plain text: the parameter, and its expected value. */
    readonly explained: string,
    readonly parameter: string,
  ) {
    super(message)
  }
}

/** Fills an opcode from parameters that may be incomplete or wrong; throws BadParameter. */
export function fillOpcode(definition: OpcodeDefinition, raw: JsonObject): ParsedOpCode {
  const input = definition.fromOlder(raw)
  for (const name of Object.keys(input))
    if (!Object.hasOwn(definition.params, name) && !Object.hasOwn(commonParams, name))
      throw new BadParameter(
        `Object ${opcodeClass(definition.id)} doesn't support the parameter '${name}'`,
        false,
        `${name}: ${definition.id} has no such parameter; it has ${Object.keys(definition.params).sort().join(', ') || 'none'}`,
        name,
      )
  const refuse = (name: string, { check, doc }: Parameter, what: string, more = '') =>
    new BadParameter(
      `Parameter '${definition.id}.${name}' fails validation${more}`,
      true,
      `${name}${what} ${expected(check.schema)}: ${doc}${more}`,
      name,
    )
  const read = (name: string, parameter: Parameter) => {
    const value = name === 'reason' ? (input[name] ?? []) : input[name]
    if (value === undefined || (value === null && parameter.need === 'maybe'))
      return unset(name, parameter, () => refuse(name, parameter, ' is missing, and must be'))
    try {
      return parameter.check.parse(value)
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error
      throw refuse(name, parameter, ' must be', error instanceof Explained ? `: ${error.message}` : '')
    }
  }
  // If there are several mistakes, Ganeti first names one in the opcode's own parameters.
  const own = new Map(Object.entries(definition.params).map(([name, parameter]) => [name, read(name, parameter)]))
  return assemble(definition, (name, parameter) => (own.has(name) ? own.get(name) : read(name, parameter)))
}

/** An opcode that our own code submits: the compiler has checked the parameters. */
export function op<D extends OpcodeDefinition>(
  definition: D,
  params: InputOf<D>,
  common: Partial<CommonParams> = {},
): ParsedOpCode {
  return fillOpcode(definition, { ...params, ...common })
}

/** The same opcode with its keys in declared order, as in job files and answers. */
export function inDeclaredOrder<O extends { readonly OP_ID: string }>(opcode: O): O {
  const declared = [...Object.keys(commonParams), 'OP_ID', ...Object.keys(allOpcodes.get(opcode.OP_ID)?.params ?? {})]
  const present = new Map(Object.entries(opcode))
  // A key keeps its first position.
  return { ...Object.fromEntries(declared.flatMap((name) => (present.has(name) ? [[name, null]] : []))), ...opcode }
}

/** `OP_INSTANCE_CREATE` -> `OpInstanceCreate` */
export function opcodeClass(id: string): string {
  return id.replace(/(?:^|_)([A-Z])([A-Z]*)/g, (_, first: string, rest: string) => first + rest.toLowerCase())
}

function definitionIn(input: JsonObject): OpcodeDefinition {
  const { OP_ID: id } = named.parse(input)
  const definition = allOpcodes.get(id)
  if (definition === undefined) throw new Mismatch(`Unknown opcode ${id}`)
  return definition
}

function unset(name: string, parameter: Parameter, complaint: () => Error): unknown {
  if (parameter.need === 'default') return parameter.fallback
  if (parameter.need === 'maybe') return KEPT_AS_NULL.has(name) ? null : undefined
  throw complaint()
}

function assemble(definition: OpcodeDefinition, read: (name: string, parameter: Parameter) => unknown): ParsedOpCode {
  const result: JsonObject = {}
  const add = (table: ParameterTable) => {
    for (const name of Object.keys(table)) {
      const parameter = table[name]
      const value = parameter && read(name, parameter)
      if (value !== undefined) result[name] = value
    }
  }
  add(commonParams)
  result['OP_ID'] = definition.id
  add(definition.params)
  // Read through commonParams and OP_ID just above, which are what the type lists.
  return result as ParsedOpCode
}
