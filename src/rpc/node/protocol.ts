// The envelope of node calls: a list of arguments there, `[true, payload]` or `[false, text]` back.
import { errorText } from '../../lib/system-failure'
import { isDeeper } from '../../lib/json-depth'
import type { Paths } from '../../lib/paths'
import { CALL_DEPTH_MAX } from '../../model/limits/wires'
import { type ArgsOf, type CallName, type ResultOf, callOf } from './calls'
import type { Codec } from './codecs'

/** Names the node that is meant, where one simulator answers for all. */
export const NODE_HEADER = 'x-gantry-node'

export type NodeAnswer = { ok: true; payload: unknown } | { ok: false; text: string }

export function encodeCall<C extends CallName>(name: C, args: ArgsOf<C>, paths: Paths): string {
  const call = callOf(name)
  const values: readonly unknown[] = args
  if (values.length !== call.args.length) throw new Error(`${name} takes ${call.args.length} arguments`)
  const texts = call.args.map(({ codec }, index) => writeArg(codec, values[index], paths))
  return call.bareBody ? String(texts[0]) : `[${texts.join(',')}]`
}

const writeArg = <T>(codec: Codec<T>, value: T, paths: Paths): string =>
  codec.write?.(value) ?? JSON.stringify(codec.encode(value, paths)) ?? 'null'

/** Checks each argument; the error names the one that is wrong. */
export function decodeCall<C extends CallName>(name: C, body: string, paths: Paths): ArgsOf<C> {
  const call = callOf(name)
  const parsed = parseBody(name, body)
  const wire = call.bareBody ? [parsed] : parsed
  if (!Array.isArray(wire) || wire.length !== call.args.length) {
    const names = call.args.map((argument) => argument.name).join(', ')
    throw new Error(`${name} takes a list of ${call.args.length} arguments (${names})`)
  }
  const args = call.args.map(({ name: argument, codec }, index) => {
    try {
      return codec.decode(wire[index], paths)
    } catch (error) {
      throw new Error(`${name}: argument '${argument}': ${messageOf(error)}`)
    }
  })
  // The table that made the type also made the values.
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
  return answer[0] ? { ok: true, payload: answer[1] } : { ok: false, text: failureText(answer[1]) }
}

/** Ganeti's daemons fail with a text, or with an encoded exception. */
function failureText(payload: unknown): string {
  if (typeof payload === 'string') return payload
  return payload === null ? 'No error information' : JSON.stringify(payload)
}

/** A result as its call promises it; the node that sent it is trusted with that. */
export const resultOf = <C extends CallName>(_call: C, payload: unknown): ResultOf<C> => payload as ResultOf<C>

export const messageOf = errorText
