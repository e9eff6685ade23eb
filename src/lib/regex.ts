// Regular expressions that clients send: bounded in what they cost, and read as Perl's.
import { setFlagsFromString } from 'node:v8'

/** Characters of an expression. */
const CHARS_MAX = 1024

// An expression that backtracks without end, sent by a client, must not stop the daemon: V8 then changes to its linear engine.
setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks')

export class RegexError extends Error {}

/**
 * A Perl-style expression as JavaScript's: leading inline flags, \A, \Z, \z, \h and POSIX classes are translated.
 * What JavaScript cannot express is refused with a RegexError.
 */
export function compileRegex(source: string): RegExp {
  if (source.length > CHARS_MAX) throw new RegexError(`Regular expression is longer than ${CHARS_MAX} characters`)
  const inline = /^\(\?([imsx]+)\)/.exec(source)
  const flags = inline?.[1] ?? ''
  if (flags.includes('x')) throw new RegexError('Flag x (extended) of regular expressions is not supported in filters')
  try {
    return new RegExp(translate(source.slice(inline?.[0].length ?? 0)), [...new Set(flags)].join(''))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new RegexError(`Invalid regular expression ${JSON.stringify(source)}: ${reason}`)
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
