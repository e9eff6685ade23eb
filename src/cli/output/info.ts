// Nested facts as indented lines, in the notation of Ganeti's info commands. Other programs load them as YAML.
import { pythonText } from '../../lib/text/python-text'

export type Info = string | number | boolean | null | readonly Info[] | ReadonlyMap<string, Info>

/** Keys in the given order. */
export const entries = (...pairs: readonly (readonly [string, Info])[]): ReadonlyMap<string, Info> => new Map(pairs)

/** Any JSON; sorts the keys of objects. */
export function toInfo(value: unknown): Info {
  if (Array.isArray(value)) return value.map(toInfo)
  if (typeof value === 'object' && value !== null)
    return new Map(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, part]) => [key, toInfo(part)] as const),
    )
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

export function formatInfo(info: Info): string[] {
  return serialize(info, 0, false).replace(/\n$/, '').split('\n')
}

const INDENT = '  '

function serialize(info: Info, level: number, afterKey: boolean): string {
  if (info instanceof Map) {
    const parts = [...(info as ReadonlyMap<string, Info>)].map(
      ([key, part]) => `${yamlKey(key)}: ${serialize(part, level + 1, true)}`,
    )
    return block(parts, level, afterKey)
  }
  if (Array.isArray(info))
    return block(
      (info as readonly Info[]).map((part) => `- ${serialize(part, level + 1, false)}`),
      level,
      afterKey,
    )
  return `${yamlText(pythonText(info))}\n`
}

/** After a key the value starts on a new line; after a dash it continues the line. */
function block(parts: readonly string[], level: number, afterKey: boolean): string {
  if (parts.length === 0) return '\n'
  const indent = INDENT.repeat(level)
  return (afterKey ? `\n${indent}` : '') + parts.join(indent)
}

/** A text as Ganeti prints it, that is, without quotes. It only gets quotes if YAML would refuse it or read a comment. */
export function yamlText(text: string): string {
  const plain = text.trim()
  const readable = /^[[{]/.test(plain) ? isFlow(plain) : !NOT_PLAIN.test(plain)
  return readable && !UNPRINTABLE.test(text) ? text : quoted(text)
}

export const yamlKey = (key: string): string => (/^$|^[[{]/.test(key) ? quoted(key) : yamlText(key))

/** A parameter and its description. */
export function yamlPair(pair: unknown): string {
  const [name, description] = Array.isArray(pair) ? pair.map(pythonText) : []
  return `${yamlKey(name ?? '')}: ${yamlText(description ?? '')}`
}

/** An indicator at the beginning, a key or a comment inside, or a value that only has a meaning in YAML. */
const NOT_PLAIN = /^[\]},#&*!|>%@`'"]|^[-?:](\s|$)|:(\s|$)|\s#|^(=|<<)$/
/** YAML has no line breaks in a plain text and no control characters at all. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\ufeff\ufffe\uffff]/u

const quoted = (text: string): string =>
  JSON.stringify(text).replace(
    new RegExp(UNPRINTABLE, 'gu'),
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Lists and dictionaries as Python prints them, of texts that need no escape. */
const ITEM = `(?:'[^'\\\\]*'|"[^"\\\\]*"|(?:[\\w./(+]|-\\d)[^,:#'"[\\]{}]*)`
const listOf = (item: string) => `(?:${item}(?:, ${item})*)?`
const INNERMOST = new RegExp(`\\[${listOf(ITEM)}\\]|\\{${listOf(`${ITEM}: ${ITEM}`)}\\}`, 'g')
const DEPTH_MAX = 16

function isFlow(text: string): boolean {
  let rest = text
  for (let depth = 0; depth < DEPTH_MAX && rest !== '0'; depth++) rest = rest.replace(INNERMOST, '0')
  return rest === '0'
}
