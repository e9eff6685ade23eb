// Explains a submission that luxid could not parse, in terms of the command line: the wrong option, and its expected
// value.
import { isDeepStrictEqual } from 'node:util'
import { pythonText } from '../../lib/text/python-text'
import { GenericError } from '../../model/errors'
import type { WireOpCode } from '../../rpc/luxi/calls'
import type { Option } from './option'
import { refusal } from '../outcome'
import type { OptionValues } from './option-values'

/** The beginning of luxid's answer to an unparsable call: a plain text without an error class. */
const UNPARSABLE = /^Failed to parse request: (?:Cannot convert value '.*', error: )?/s

/** luxid's reason for not parsing a call; undefined for other errors. */
export const unreadable = (error: unknown): string | undefined =>
  error instanceof GenericError && UNPARSABLE.test(error.message) ? error.message.replace(UNPARSABLE, '') : undefined

/** The error to show; `error` itself if the opcodes did not cause it. */
export async function explained(
  error: unknown,
  ops: readonly WireOpCode[],
  known: readonly Option[],
  input: OptionValues,
): Promise<unknown> {
  if (unreadable(error) === undefined) return error
  // Loaded only now, since the table of all opcodes loads slowly.
  const [{ BadParameter, fillOpcode }, { allOpcodes }] = await Promise.all([
    import('../../opcodes/parse.js'),
    import('../../opcodes/all.js'),
  ])
  for (const { OP_ID, ...params } of ops) {
    const definition = allOpcodes.get(OP_ID)
    try {
      if (definition !== undefined) fillOpcode(definition, params)
    } catch (reason) {
      if (!(reason instanceof BadParameter)) throw reason
      const [name = ''] = reason.explained.split(/[: ]/, 1)
      const value = params[name]
      const option = optionFor(name, value, known, input)
      const what = value === undefined || typeof value === 'object' ? '' : ` (given: '${pythonText(value)}')`
      return refusal(`${option === undefined ? '' : `${option}: `}${reason.explained}${what}`)
    }
  }
  return error
}

/** The option that a parameter comes from: it matches the name, the value, or the end of the name. */
function optionFor(name: string, value: unknown, known: readonly Option[], input: OptionValues): string | undefined {
  const option =
    known.find(({ dest }) => dest === name) ??
    (value === undefined ? undefined : known.find(({ dest }) => isDeepStrictEqual(input.raw(dest), value))) ??
    known.find(({ dest }) => name.endsWith(`_${dest}`))
  return option?.long[0]
}
