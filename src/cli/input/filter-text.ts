// Parses the filter language for people, such as `status == "running" and not (pnode =* "node1*")`, to a query filter.
import { pythonRepr } from '../../lib/text/python-text'
import type { OpPrereqError } from '../../model/errors'
import { CommandFailure, refusal } from '../outcome'

const DETECTION = /[\t\n\v\f\r !"'()/<=>\\~]/
const GLOB = /[*?]/

/** Whether an argument is a filter rather than a name. */
export const looksLikeFilter = (text: string): boolean => DETECTION.test(text)

/** A choice of names; `*` and `?` match several. Ids of jobs are numbers. */
export function namesFilter(field: string, names: readonly string[], numbers = false): unknown[] | null {
  if (names.length === 0) return null
  return ['|', ...names.map((name) => nameFilter(field, name, numbers))]
}

function nameFilter(field: string, name: string, numbers: boolean): unknown[] {
  if (GLOB.test(name)) return ['=~', field, globToRegex(name)]
  if (!numbers) return ['==', field, name]
  if (/^\d+$/.test(name)) return ['==', field, Number(name)]
  throw invalidJobId(name)
}

export const invalidJobId = (text: string): OpPrereqError =>
  refusal(`Invalid job ID passed: ${pythonRepr(text)} is not a number; gnt-job list shows the jobs`)

/** Anchored; `*` and `?` stop at dots, and a domain may follow, so that short names match. */
export function globToRegex(glob: string): string {
  const body = [...glob].map((char) => {
    if (char === '*') return '[^.]*'
    return char === '?' ? '[^.]' : char.replace(/[^A-Za-z0-9_]/, '\\$&')
  })
  return `^${body.join('')}(\\..*)?$`
}

export function parseFilterText(text: string): unknown[] {
  const parser = new Parser(tokenize(text), text)
  const filter = parser.disjunction()
  parser.end()
  return filter
}

interface Token {
  readonly type: 'word' | 'string' | 'number' | 'operator' | 'regex' | 'end'
  readonly text: string
  readonly at: number
  readonly flags?: string
}

const OPERATORS = ['==', '!=', '<=', '>=', '=~', '!~', '=*', '!*', '=', '<', '>', '(', ')']

function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const rest = text.slice(at)
    const blank = /^\s+/.exec(rest)
    if (blank) {
      at += blank[0].length
      continue
    }
    const last = tokens.at(-1)
    const wantsRegex = last?.type === 'operator' && (last.text === '=~' || last.text === '!~')
    const token = (wantsRegex && regexToken(rest, at)) || plainToken(rest, at)
    if (token === undefined) throw complaint(text, at)
    tokens.push(token.token)
    at += token.length
  }
  return [...tokens, { type: 'end', text: '', at }]
}

/** `m/.../si` or `/.../`, between slashes, #, ^ or |. */
function regexToken(rest: string, at: number): { token: Token; length: number } | undefined {
  const found = /^m?([/#^|])((?:\\.|(?!\1)[^\\])*)\1([a-z]*)/s.exec(rest)
  if (found === null) return undefined
  return { token: { type: 'regex', text: found[2] ?? '', flags: found[3] ?? '', at }, length: found[0].length }
}

function plainToken(rest: string, at: number): { token: Token; length: number } | undefined {
  const string = /^"((?:\\.|[^"\\])*)"|^'((?:\\.|[^'\\])*)'/s.exec(rest)
  if (string)
    return {
      token: { type: 'string', text: (string[1] ?? string[2] ?? '').replace(/\\(.)/gs, '$1'), at },
      length: string[0].length,
    }
  const number = /^[-+]?\d+/.exec(rest)
  if (number) return { token: { type: 'number', text: number[0], at }, length: number[0].length }
  const word = /^[A-Za-z][A-Za-z0-9_/.]*/.exec(rest)
  if (word) return { token: { type: 'word', text: word[0], at }, length: word[0].length }
  const operator = OPERATORS.find((candidate) => rest.startsWith(candidate))
  return operator === undefined
    ? undefined
    : { token: { type: 'operator', text: operator, at }, length: operator.length }
}

const complaint = (text: string, at: number): CommandFailure =>
  new CommandFailure(
    `Error while parsing query filter: Failed to parse query filter '${text}': ${reason(text, at)}\n` +
      `${text}\n${' '.repeat(at)}^\n${reason(text, at)}`,
  )

const reason = (text: string, at: number): string =>
  `${at < text.length ? `unexpected '${text[at]}'` : 'Expected more text'}  (at char ${at}), (line:1, col:${at + 1})`

/** `not` binds tightest, then `and`, then `or`. */
class Parser {
  private at = 0

  constructor(
    private readonly tokens: readonly Token[],
    private readonly text: string,
  ) {}

  disjunction(): unknown[] {
    return this.chain('or', '|', () => this.chain('and', '&', () => this.negation()))
  }

  end(): void {
    this.take((token) => token.type === 'end')
  }

  private chain(word: string, operator: string, part: () => unknown[]): unknown[] {
    const parts = [part()]
    while (this.skipWord(word)) parts.push(part())
    return parts.length === 1 ? (parts[0] ?? []) : [operator, ...parts]
  }

  private negation(): unknown[] {
    if (this.skipWord('not')) return ['!', this.negation()]
    if (!this.skipOperator('(')) return this.condition()
    const inner = this.disjunction()
    if (!this.skipOperator(')')) throw this.unexpected()
    return inner
  }

  private condition(): unknown[] {
    const { type } = this.peek()
    if (type === 'string' || type === 'number') return this.membership()
    const field = this.take((token) => token.type === 'word').text
    const operator = this.peek()
    if (operator.type !== 'operator' || operator.text === ')' || operator.text === '(') return ['?', field]
    this.at++
    switch (operator.text) {
      case '=~':
        return ['=~', field, this.regex()]
      case '!~':
        return ['!', ['=~', field, this.regex()]]
      case '=*':
        return ['=~', field, globToRegex(this.take((token) => token.type === 'string').text)]
      case '!*':
        return ['!', ['=~', field, globToRegex(this.take((token) => token.type === 'string').text)]]
      default:
        return [operator.text, field, this.value()]
    }
  }

  /** `"web" in tags`, `"web" not in tags` */
  private membership(): unknown[] {
    const value = this.value()
    const negated = this.skipWord('not')
    if (!this.skipWord('in')) throw this.unexpected()
    const filter = ['=[]', this.take((token) => token.type === 'word').text, value]
    return negated ? ['!', filter] : filter
  }

  private value(): string | number {
    const token = this.take(({ type }) => type === 'string' || type === 'number')
    return token.type === 'number' ? Number(token.text) : token.text
  }

  private regex(): string {
    const token = this.take(({ type }) => type === 'regex')
    const flags = token.flags ?? ''
    if (/[^si]/.test(flags)) throw complaint(this.text, token.at)
    return flags === '' ? token.text : `(?${[...new Set(flags)].join('')})${token.text}`
  }

  private peek(): Token {
    return this.tokens[this.at] ?? { type: 'end', text: '', at: this.text.length }
  }

  private take(fits: (token: Token) => boolean): Token {
    const token = this.peek()
    if (!fits(token)) throw this.unexpected()
    this.at++
    return token
  }

  private skipWord(text: string): boolean {
    return this.skip((token) => token.type === 'word' && token.text.toLowerCase() === text)
  }

  private skipOperator(text: string): boolean {
    return this.skip((token) => token.type === 'operator' && token.text === text)
  }

  private skip(fits: (token: Token) => boolean): boolean {
    if (!fits(this.peek())) return false
    this.at++
    return true
  }

  private unexpected(): CommandFailure {
    return complaint(this.text, this.peek().at)
  }
}
