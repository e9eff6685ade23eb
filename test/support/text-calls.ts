// Adds the calls that answer with texts to a master that answers with values.
import { TEXT_CALLS, type Master, type TextCalls } from '../../src/rpc/luxi/master'
import { JsonText } from '../../src/rpc/long-answers'

/** The texts of the values that a master answers. */
export function textOfCalls(master: Master): TextCalls {
  const calls = TEXT_CALLS.map((name) => [
    name,
    async (...args: readonly unknown[]) => {
      const answer: unknown = await Reflect.apply(master[name], master, args)
      return new JsonText([JSON.stringify(answer)])
    },
  ])
  return Object.fromEntries(calls) as TextCalls
}
