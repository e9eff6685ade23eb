// Regular expressions of clients: read as Perl's, with bounded cost.
import { setFlagsFromString } from 'node:v8'
import { errorText } from '../system-failure'

/** Characters of an expression. */
const CHARS_MAX = 1024

/**
 * The largest number of repetitions in an expression that the linear engine does not support. With more, or with a
 * choice, it could run for ever.
 */
const REPETITIONS_MAX = 1

export class RegexError extends Error {}

let hasLinear = false

/**
 * A client's expression that backtracks without end must not stop the daemon. V8 has a linear engine: the flag `l`
 * shows whether it supports an expression. We set V8's flags at the first expression, because compiled code of the
 * build fits only a V8 with the flags of that time.
 */
function useLinearEngine(): void {
  if (hasLinear) return
  setFlagsFromString('--enable-experimental-regexp-engine')
  setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks')
  hasLinear = true
}

/**
 * A Perl-style expression as JavaScript's: leading inline flags, \A, \Z, \z, \h and POSIX classes are translated.
 * Throws RegexError for a pattern that JavaScript cannot express.
 */
export function compileRegex(source: string): RegExp {
  useLinearEngine()
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
    const reason = errorText(error)
    throw new RegexError(`Invalid regular expression ${JSON.stringify(source)}: ${reason}`)
  }
  throw new RegexError(
    `Regular expression ${JSON.stringify(source)} could take for ever: with back references, lookaround or counts above a ` +
      'few, there may be only one repetition, and no |',
  )
}

/** The linear engine lacks the flag `i`, so we convert both sides to small letters. */
class CaselessRegExp extends RegExp {
  override exec(text: string): RegExpExecArray | null {
    return super.exec(text.toLowerCase())
  }
}

const CODE = String.raw`\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|[0-3][0-7]{2})`
const ONE = String.raw`${CODE}|\\.|[^\\]`
const CLASSES_AND_OTHERS = new RegExp(String.raw`\[(\^?)((?:\\.|[^\]\\])*)\]|${ONE}`, 'gs')
const RANGES_AND_OTHERS = new RegExp(`(${ONE})-(${ONE})|${ONE}`, 'gs')

/**
 * Rewrites a pattern so that it matches a text in small letters exactly where the original pattern, ignoring case,
 * matches the text.
 */
const caseless = (pattern: string): string =>
  pattern.replace(CLASSES_AND_OTHERS, (whole, not: string | undefined, inside: string | undefined) => {
    if (inside === undefined) return small(whole)
    const each = (part: string, from?: string, to?: string) =>
      from === undefined || to === undefined ? small(part) : smallRange(from, to)
    return `[${not}${inside.replace(RANGES_AND_OTHERS, each)}]`
  })

/**
 * A character written as its number stays a number. Other escapes change their meaning with their case, so they stay
 * too.
 */
function small(token: string): string {
  const lower = character(token)?.toLowerCase()
  if (lower === undefined) return token
  return token.startsWith('\\') ? lower.replace(/./gs, numbered) : lower
}

/** A range keeps its other characters, and gets small letters in addition to capital ones. */
function smallRange(from: string, to: string): string {
  const [start, end] = [character(from), character(to)]
  if (start === undefined || end === undefined) return `${small(from)}-${small(to)}`
  const [first, last] = start < '\x80' ? [start < 'A' ? 'A' : start, end > 'Z' ? 'Z' : end] : [start, end]
  const [low, high] = [first.toLowerCase(), last.toLowerCase()]
  const capitals = first <= last && low !== first && high !== last
  return capitals ? `${from}-${to}${numbered(low)}-${numbered(high)}` : `${from}-${to}`
}

/** Undefined for an escape that stands for several characters, or for a position. */
function character(token: string): string | undefined {
  if (!token.startsWith('\\')) return token
  if (!new RegExp(`^${CODE}$`).test(token)) return undefined
  const [digits, base] = /^\\\d/.test(token) ? [token.slice(1), 8] : [token.slice(2), 16]
  return String.fromCharCode(parseInt(digits, base))
}

const numbered = (text: string): string => `\\u${text.charCodeAt(0).toString(16).padStart(4, '0')}`

function isLinear({ source, flags }: RegExp): boolean {
  try {
    return new RegExp(source, `${flags}l`).source === source
  } catch {
    return false
  }
}

/** Escapes and classes do not repeat, nor does the question mark at the start of a group. */
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
