// Parses JSON lists in files that an administrator names, with the errors of Ganeti's library.
import { haskellText } from '../../lib/text/haskell-text'

/** The list, or why there is none. */
export function readJsonList(text: string): { readonly list: readonly unknown[] } | { readonly wrong: string } {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? { list: value } : { wrong: 'Unable to read list' }
  } catch {
    return { wrong: whyNoJson(text) }
  }
}

class Complaint extends Error {}

/** Says why a text is not JSON. */
function whyNoJson(text: string): string {
  try {
    const rest = afterValue(text)
    return `Invalid tokens at end of JSON string: ${haskellText(rest.slice(0, 10))}`
  } catch (error) {
    if (error instanceof Complaint) return error.message
    throw error
  }
}

/** Returns the text after the value that it begins with. */
function afterValue(text: string): string {
  const first = text[0] ?? ''
  if (first === '[') return afterItems(text, ']', 'array: unterminated array', afterValue)
  if (first === '{') return afterItems(text, '}', 'object: unterminated sequence', afterPair)
  if (first === '"') return afterString(text)
  if (first === 't' || first === 'f') return afterWord(text, /^(true|false)/, 'Bool')
  if (text.startsWith('null')) return text.slice('null'.length)
  if (/[-\d]/.test(first)) return afterWord(text, /^-?\d+(\.\d+)?([eE][-+]?\d+)?/, 'Rational')
  return complain('Malformed JSON: invalid token in this context', text)
}

function afterItems(text: string, end: string, unended: string, afterItem: (text: string) => string): string {
  let rest = text.slice(1).trimStart()
  if (rest.startsWith(end)) return rest.slice(1).trimStart()
  for (;;) {
    const item = afterItem(rest)
    rest = item.trimStart()
    if (rest.startsWith(end)) return rest.slice(1).trimStart()
    if (!rest.startsWith(',')) return complain(`Unable to parse JSON ${unended}:`, item)
    rest = rest.slice(1).trimStart()
  }
}

function afterPair(text: string): string {
  if (!text.startsWith('"')) return complain('Malformed JSON: expecting string:', text)
  const rest = afterString(text)
  if (!rest.trimStart().startsWith(':')) return complain('Malformed JSON labelled field:', rest)
  return afterValue(rest.trimStart().slice(1).trimStart())
}

function afterString(text: string): string {
  const [string] = /^"(?:[^"\\]|\\.)*"/s.exec(text) ?? []
  return string === undefined
    ? complain('Unable to parse JSON String: unterminated String:', '')
    : text.slice(string.length)
}

function afterWord(text: string, word: RegExp, kind: string): string {
  const [found] = word.exec(text) ?? []
  return found === undefined ? complain(`Unable to parse JSON ${kind}:`, text) : text.slice(found.length)
}

function complain(what: string, where: string): never {
  throw new Complaint(`${what} ${where.slice(0, 8)}`)
}
