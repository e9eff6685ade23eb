// Nested facts as indented lines, in the notation of Ganeti's info commands (almost YAML).
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
      ([key, part]) => `${key}: ${serialize(part, level + 1, true)}`,
    )
    return block(parts, level, afterKey)
  }
  if (Array.isArray(info))
    return block(
      (info as readonly Info[]).map((part) => `- ${serialize(part, level + 1, false)}`),
      level,
      afterKey,
    )
  return `${pythonText(info)}\n`
}

/** After a key the value starts on a new line; after a dash it continues the line. */
function block(parts: readonly string[], level: number, afterKey: boolean): string {
  if (parts.length === 0) return '\n'
  const indent = INDENT.repeat(level)
  return (afterKey ? `\n${indent}` : '') + parts.join(indent)
}
