// Reads a text from left to right. Errors have the form of Ganeti's collectors: the rest of the text, what was being
// read, and what is wrong.
import { haskellText } from '../lib/text/haskell-text'
import { UNREAD_CHARS_SHOWN } from '../model/limits/collectors'
import { CollectorFailure } from './report'

export class TextCursor {
  private at = 0

  constructor(private readonly text: string) {}

  get ended(): boolean {
    return this.at === this.text.length
  }

  /** The rest of the line. */
  get line(): string {
    return /^[^\n]*/.exec(this.rest)?.[0] ?? ''
  }

  /** Up to the first character that ends it, or to the end of the text. */
  until(end: RegExp): string {
    const length = this.rest.search(end)
    return this.take(length === -1 ? this.rest.length : length)
  }

  skipBlanks(): this {
    this.until(/[^ \t]/)
    return this
  }

  character(desired: string): this {
    if (!this.rest.startsWith(desired)) this.fail('Failed reading: satisfy', `"'${desired}'"`)
    this.take(desired.length)
    return this
  }

  decimal(): number {
    const [digits] = /^\d+/.exec(this.rest) ?? []
    return Number(this.take(digits?.length ?? this.fail('Failed reading: takeWhile1')))
  }

  signed(): number {
    const [sign = ''] = /^[+-]/.exec(this.rest) ?? []
    // A sign without a digit after it is not read.
    const isNumber = /^[+-]?\d/.test(this.rest) || this.rest === sign
    this.take(isNumber ? sign.length : 0)
    return sign === '-' ? -this.decimal() : this.decimal()
  }

  endOfLine(): void {
    const [end] = /^\r?\n/.exec(this.rest) ?? []
    this.take(end?.length ?? this.fail('string'))
  }

  fail(why: string, context = ''): never {
    throw unread(this.rest, this.ended ? 'not enough input' : why, context)
  }

  private get rest(): string {
    return this.text.slice(this.at)
  }

  private take(length: number): string {
    const taken = this.text.slice(this.at, this.at + length)
    this.at += length
    return taken
  }
}

export function unread(rest: string, why: string, context = ''): CollectorFailure {
  const displayed = haskellText([...rest].slice(0, UNREAD_CHARS_SHOWN).join(''))
  return new CollectorFailure(`${displayed}\n[${context}]\n${why}`)
}
