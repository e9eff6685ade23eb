// Regular expressions in query filters: an unreadable one is the caller's mistake.
import { compileRegex as compile, type Pattern, RegexError } from '../lib/text/regex'
import { QueryFilterParseError } from '../model/errors'

export function compileRegex(source: string): Pattern {
  try {
    return compile(source)
  } catch (error) {
    if (error instanceof RegexError) throw new QueryFilterParseError(error.message)
    throw error
  }
}
