// The envelope of node calls: the request is a list of arguments, the answer `[true, payload]` or `[false, text]`.
import { errorText } from '../../lib/system-failure'
import { printable } from '../../lib/text/printable'
import { isDeeper } from '../../lib/text/json-depth'
import type { Paths } from '../../lib/paths'
import { Mismatch, isObject } from '../../lib/shapes/shape'
import { plainly } from '../../lib/shapes/words'
import { CALL_DEPTH_MAX } from '../../model/limits/wires'
import { type ArgsOf, type CallName, type ResultOf, callOf } from './calls'
import type { Arg } from './shapes'

/** Names the node, if one simulator answers for all. */
export const NODE_HEADER = 'x-gantry-node'

export type NodeAnswer = { ok: true; payload: unknown } | { ok: false; text: string }

export function encodeCall<C extends CallName>(name: C, args: ArgsOf<C>, paths: Paths): string {
  const call = callOf(name)
  const values: readonly unknown[] = args
  if (values.length !== call.args.length) throw new Error(`${name} takes ${call.args.length} arguments`)
  const texts = call.args.map((argument, index) => writeArg(argument, values[index], paths))
  return call.bareBody ? String(texts[0]) : `[${texts.join(',')}]`
}

const MANY_NODES = '"dynamic_params":{"'

/** If a disk has values for each of its nodes by uuid, the body gets only this node's values, as from Ganeti. */
export const bodyFor = (node: string, body: string): string =>
  body.includes(MANY_NODES)
    ? JSON.stringify(
        JSON.parse(body, (key, value: unknown) =>
          key === 'dynamic_params' && isObject(value) ? (value[node] ?? {}) : value,
        ),
      )
    : body

function writeArg<T>({ shape, write }: Arg<T>, value: T, paths: Paths): string {
  if (write !== undefined) return write(value)
  return JSON.stringify(shape.encode ? shape.encode(value, paths) : value) ?? 'null'
}

/** Checks each argument; the error names the wrong one. */
export function decodeCall<C extends CallName>(name: C, body: string, paths: Paths): ArgsOf<C> {
  const call = callOf(name)
  const parsed = parseBody(name, body)
  const wire = call.bareBody ? [parsed] : parsed
  if (!Array.isArray(wire) || wire.length !== call.args.length) {
    const names = call.args.map((argument) => argument.name).join(', ')
    throw new Error(`${name} takes a list of ${call.args.length} arguments (${names})`)
  }
  const args = call.args.map(({ name: argument, shape }, index) => {
    try {
      return shape.parse(wire[index], paths)
    } catch (error) {
      throw new Error(`${name}: argument '${argument}': ${wrong(error)}`)
    }
  })
  // The same table made the type and the values.
  return args as ArgsOf<C>
}

function parseBody(name: string, body: string): unknown {
  let args: unknown
  try {
    args = JSON.parse(body)
  } catch {
    throw new Error(`${name}: the arguments are not JSON`)
  }
  if (isDeeper(args, CALL_DEPTH_MAX))
    throw new Error(`${name}: the arguments are nested deeper than ${CALL_DEPTH_MAX} levels`)
  return args
}

export const encodeAnswer = (answer: NodeAnswer): string =>
  answer.ok ? `[true, ${JSON.stringify(answer.payload) ?? 'null'}]\n` : `[false, ${JSON.stringify(answer.text)}]\n`

export function decodeAnswer(body: string): NodeAnswer {
  const answer: unknown = JSON.parse(body)
  if (!Array.isArray(answer) || answer.length !== 2 || typeof answer[0] !== 'boolean')
    throw new Error('the answer is not [success, payload]')
  if (isDeeper(answer, CALL_DEPTH_MAX)) throw new Error(`the answer is nested deeper than ${CALL_DEPTH_MAX} levels`)
  return answer[0] ? { ok: true, payload: answer[1] } : { ok: false, text: failureText(answer[1]) }
}

/** Ganeti's daemons fail with a text, or with an encoded exception. */
function failureText(payload: unknown): string {
  if (typeof payload === 'string') return printable(payload)
  return payload === null ? 'No error information' : JSON.stringify(payload)
}

/** Throws if an answer has a mistake: the node may run another version, or be broken. */
export function decodeResult<C extends CallName>(name: C, node: string, payload: unknown): ResultOf<C> {
  try {
    // The same table makes the type and the value.
    return callOf(name).result.parse(payload) as ResultOf<C>
  } catch (error) {
    throw new Error(`the answer of ${node} to ${name} has another shape: ${wrong(error)}`, { cause: error })
  }
}

/** Never repeats the values, which may be secret. */
const wrong = (error: unknown): string => (error instanceof Mismatch ? plainly(error) : messageOf(error))

export const messageOf = errorText
