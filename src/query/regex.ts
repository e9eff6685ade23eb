import { setFlagsFromString } from 'node:v8'
import { QueryFilterParseError } from '../model/errors'
import { limits } from '../model/limits'

// An expression that backtracks without end, sent by a client, must not stop the daemon: V8 then changes to its linear engine.
setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks')

/**
 * A Perl-style expression as JavaScript's: leading inline flags, \A, \Z, \z, \h and POSIX classes are translated.
 * What JavaScript cannot express is refused when the filter is read, never later.
 */
export function compileRegex(source: string): RegExp {
  if (source.length > limits.filter_regex_chars)
    throw new QueryFilterParseError(`Regular expression is longer than ${limits.filter_regex_chars} characters`)
  const inline = /^\(\?([imsx]+)\)/.exec(source)
  const flags = inline?.[1] ?? ''
  if (flags.includes('x'))
    throw new QueryFilterParseError('Flag x (extended) of regular expressions is not supported in filters')
  try {
    return new RegExp(translate(source.slice(inline?.[0].length ?? 0)), [...new Set(flags)].join(''))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new QueryFilterParseError(`Invalid regular expression ${JSON.stringify(source)}: ${reason}`)
  }
}

const ESCAPES: Readonly<Record<string, string>> = { A: '^', Z: '$', z: '$', h: '[ \\t]' }

const POSIX: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  blank: ' \\t',
  digit: '0-9',
  lower: 'a-z',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\s',
  upper: 'A-Z',
  word: '\\w',
  xdigit: '0-9A-Fa-f',
}

function translate(source: string): string {
  return source.replace(/\\(.)|\[:(\w+):\]/gs, (whole, escaped: string | undefined, posix: string | undefined) => {
    if (escaped !== undefined) return ESCAPES[escaped] ?? whole
    return POSIX[posix ?? ''] ?? whole
  })
}
