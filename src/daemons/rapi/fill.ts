// Turns a request's body into an opcode: renames parameters, adds static ones, and refuses others with Ganeti's texts.
import { pythonRepr } from '../../lib/text/python-text'
import { type JsonObject, isObject } from '../../lib/shapes/shape'
import { badNewName } from '../../opcodes/new-names'
import { BadParameter, fillOpcode, type OpcodeDefinition, type ParsedOpCode } from '../../opcodes/index'
import { badRequest } from '../../http/errors'
import { pythonType } from './python'

/** Body keys with another name than their parameter. */
export type Renames = Readonly<Record<string, string>>

export function fillFromBody(
  definition: OpcodeDefinition,
  body: unknown,
  statics: JsonObject,
  renames: Renames = {},
): ParsedOpCode {
  const params = body === undefined || body === null ? {} : { ...bodyObject(body) }
  for (const [alias, name] of Object.entries(renames)) {
    if (!Object.hasOwn(params, alias)) continue
    if (Object.hasOwn(params, name))
      throw badRequest(`Parameter '${alias}' was renamed to '${name}', but both are specified`)
    params[name] = params[alias]
    delete params[alias]
  }
  const overwritten = Object.keys(params).filter((name) => Object.hasOwn(statics, name))
  if (overwritten.length > 0)
    throw badRequest(`Can't overwrite static parameters {${overwritten.map(pythonRepr).join(', ')}}`)
  return filled(definition, { ...params, ...statics })
}

export function bodyObject(body: unknown): JsonObject {
  if (!isObject(body)) throw wrongType('Body contents', body, 'dict')
  return body
}

/** Like `bodyObject`, with the text for a body that is not an opcode's parameters. */
export function parametersIn(body: unknown): JsonObject {
  if (!isObject(body)) throw badRequest('Invalid body contents, not a dictionary')
  return body
}

export const wrongType = (what: string, value: unknown, expected: string) =>
  badRequest(`${what}: Type is '${pythonType(value)}', but '${expected}' is expected`)

function filled(definition: OpcodeDefinition, params: JsonObject): ParsedOpCode {
  try {
    const op = fillOpcode(definition, params)
    const complaint = badNewName(op)
    if (complaint !== undefined) throw badRequest(`Invalid body parameters: ${complaint}`)
    return op
  } catch (error) {
    if (!(error instanceof BadParameter)) throw error
    const text = error.validation ? `(${pythonRepr(error.message)}, 'wrong_input')` : error.message
    throw badRequest(`Invalid body parameters: ${text}`)
  }
}
