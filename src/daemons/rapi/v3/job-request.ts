// Parses the body of POST /3/jobs to opcodes. The opcode table validates; the OpenAPI document only describes.
import { type JsonObject, isObject } from '../../../lib/shapes/shape'
import { wrongNewName } from '../../../opcodes/new-names'
import { allOpcodes, BadParameter, fillOpcode, type OpcodeDefinition, type ParsedOpCode } from '../../../opcodes/index'
import { badParameter, badRequest } from '../../../http/errors'
import { jobBody } from './bodies'

export interface ReadJob {
  readonly ops: readonly ParsedOpCode[]
  readonly reason: string | null
  readonly plan: string | null
}

export function readJobRequest(body: unknown): ReadJob {
  const { ops, reason, plan } = jobBody.read(body)
  return { ops: ops.map(readOpcode), reason, plan }
}

function readOpcode(value: unknown, index: number): ParsedOpCode {
  const where = `ops[${index}]`
  if (!isObject(value)) throw badRequest(`${where}: must be an object`)
  const { OP_ID: id, ...params } = value
  const definition = typeof id === 'string' ? allOpcodes.get(id) : undefined
  if (definition === undefined) throw badRequest(`${where}.OP_ID: there is no such opcode${similar(id)}`)
  if (Object.hasOwn(params, 'reason')) throw badRequest(`${where}.reason: the server writes it; give it next to ops`)
  return readParameters(definition, params, where)
}

/** `where` is the place of the parameters in the body, for errors. */
export function readParameters(definition: OpcodeDefinition, params: JsonObject, where?: string): ParsedOpCode {
  try {
    const op = fillOpcode(definition, params)
    const bad = wrongNewName(op)
    if (bad !== undefined) throw badParameter(bad.parameter, where === undefined ? bad.text : `${where}: ${bad.text}`)
    return op
  } catch (error) {
    if (error instanceof BadParameter)
      throw badParameter(error.parameter, where === undefined ? error.explained : `${where}.${error.explained}`)
    throw error
  }
}

/** Lists opcodes with the same subject, because a name like `OP_TAGS_ADD` is an easy mistake. */
function similar(id: unknown): string {
  const [, subject] = typeof id === 'string' ? (/^(OP_[A-Z]+_)/.exec(id) ?? []) : []
  const known = subject === undefined ? [] : [...allOpcodes.keys()].filter((name) => name.startsWith(subject))
  return known.length === 0 ? '; all are listed at /docs' : `; there are ${known.join(', ')}`
}
