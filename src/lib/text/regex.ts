// Regular expressions of clients, which are written as Perl's. A client's expression must not stop the daemon, so they run on RE2's engine,
// whose time grows with the text only.
import { errorText } from '../system-failure'

/** Characters of an expression. */
const CHARS_MAX = 1024

/**
 * The largest number of repetitions in an expression that RE2 does not support. With more, or with a choice, it could
 * run for ever.
 */
const REPETITIONS_MAX = 1

export class RegexError extends Error {}

export interface Pattern {
  test(text: string): boolean
}

/**
 * Leading inline flags i, m and s are supported. So are look-around, back references and large counts, in an expression
 * with few repetitions. Throws RegexError for all others.
 */
export function compileRegex(source: string): Pattern {
  if (source.length > CHARS_MAX) throw new RegexError(`Regular expression is longer than ${CHARS_MAX} characters`)
  const inline = /^\(\?([imsx]+)\)/.exec(source)
  const flags = [...new Set(inline?.[1] ?? '')].join('')
  if (flags.includes('x')) throw new RegexError('Flag x (extended) of regular expressions is not supported in filters')
  const pattern = source.slice(inline?.[0].length ?? 0)
  // It takes memory, and most daemons never need it.
  const { RE2JS }: typeof import('re2js') = require('re2js')
  try {
    return RE2JS.compile(`${flags && `(?${flags})`}${escaped(pattern, { Z: '\\z', h: '[ \\t]' })}`)
  } catch (error) {
    return backtracking(source, pattern, flags, errorText(error))
  }
}

/** Runs on V8's engine, whose time may have no end. */
function backtracking(source: string, pattern: string, flags: string, why: string): Pattern {
  const invalid = `Invalid regular expression ${JSON.stringify(source)}: ${why}`
  // V8 would read a class such as [:alpha:] as a set of letters.
  if (/\[:\w+:\]/.test(pattern)) throw new RegexError(invalid)
  let compiled: RegExp
  try {
    compiled = new RegExp(escaped(pattern, { A: '^', Z: '$', z: '$', h: '[ \\t]' }), flags)
  } catch {
    throw new RegexError(invalid)
  }
  if (isSimple(pattern)) return compiled
  throw new RegexError(
    `Regular expression ${JSON.stringify(source)} could take for ever: with back references, lookaround or large counts, ` +
      'there may be only one repetition, and no |',
  )
}

/** Escapes and classes do not repeat, nor does the question mark at the start of a group. */
function isSimple(pattern: string): boolean {
  const bare = pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]/gs, 'x')
  return !bare.includes('|') && (bare.match(/[*+]|\{\d|(?<!\()\?/g)?.length ?? 0) <= REPETITIONS_MAX
}

const ESCAPES_AND_CLASSES = /\\(.)|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]/gs

/** Replaces escapes that the engine lacks. In a class there is only `\h`. */
const escaped = (pattern: string, known: Readonly<Record<string, string>>): string =>
  pattern.replace(ESCAPES_AND_CLASSES, (whole, letter: string | undefined) =>
    letter === undefined
      ? whole.replace(/\\(.)/gs, (code, one) => (one === 'h' ? ' \\t' : code))
      : (known[letter] ?? whole),
  )
