// Regular expressions of query filters: what cannot be read is the asker's mistake.
import { compileRegex as compile, RegexError } from '../lib/regex'
import { QueryFilterParseError } from '../model/errors'

export function compileRegex(source: string): RegExp {
  try {
    return compile(source)
  } catch (error) {
    if (error instanceof RegexError) throw new QueryFilterParseError(error.message)
    throw error
  }
}
