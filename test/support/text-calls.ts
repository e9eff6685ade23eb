// Gives a master of values the calls that answer with texts.
import { TEXT_CALLS, type Master, type TextCalls } from '../../src/rpc/luxi/master'
import { JsonText } from '../../src/rpc/long-answers'

/** The text of what a master answers that is made of values. */
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
