// Regular expressions that clients send: bounded in what they cost, and read as Perl's.
import { setFlagsFromString } from 'node:v8'

/** Characters of an expression. */
const CHARS_MAX = 1024

// An expression that backtracks without end, sent by a client, must not stop the daemon: V8 then changes to its linear engine, where
// that knows all that is in it, which its flag `l` tells.
setFlagsFromString('--enable-experimental-regexp-engine')
setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks')
/** Repetitions in an expression that the linear engine does not know: with more of them, or with a choice, it may take for ever. */
const REPETITIONS_MAX = 1

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
  const pattern = translate(source.slice(inline?.[0].length ?? 0))
  const others = [...new Set(flags.replaceAll('i', ''))].join('')
  try {
    const compiled = flags.includes('i') ? new CaselessRegExp(caseless(pattern), others) : new RegExp(pattern, others)
    if (isLinear(compiled) || isSimple(pattern)) return compiled
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new RegexError(`Invalid regular expression ${JSON.stringify(source)}: ${reason}`)
  }
  throw new RegexError(
    `Regular expression ${JSON.stringify(source)} could take for ever: with back references, lookaround or counts above a ` +
      'few, there may be only one repetition, and no |',
  )
}

/** The linear engine does not know the flag `i`: both sides are in small letters instead. */
class CaselessRegExp extends RegExp {
  override exec(text: string): RegExpExecArray | null {
    return super.exec(text.toLowerCase())
  }
}

/** Escapes have another meaning in the other case. */
const caseless = (pattern: string): string =>
  pattern.replace(/\\.|[A-Z]+/gs, (text) => (text.startsWith('\\') ? text : text.toLowerCase()))

function isLinear({ source, flags }: RegExp): boolean {
  try {
    return new RegExp(source, `${flags}l`).source === source
  } catch {
    return false
  }
}

/** Escapes and classes repeat nothing, and neither does the question mark that begins a group's kind. */
function isSimple(pattern: string): boolean {
  const bare = pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]/gs, 'x')
  return !bare.includes('|') && (bare.match(/[*+]|\{\d|(?<!\()\?/g)?.length ?? 0) <= REPETITIONS_MAX
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
