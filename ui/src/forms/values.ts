// What is typed into a form: whether it is right, and what a request gets of it.
import { parseSize } from '../format/size'
import { texts } from '../texts'
import type { Field, Values } from './schema'

export const initialValues = (fields: readonly Field[]): Values =>
  Object.fromEntries(fields.map(({ name, initial }) => [name, initial]))

/** The parameters that are not as they are without being given. */
export function bodyOf(fields: readonly Field[], values: Values): Record<string, unknown> {
  const given = fields.flatMap((field) => {
    const value = values[field.name] ?? field.initial
    if (isSame(value, field.initial) || complaintOf(field, value) !== undefined) return []
    const sent = sentOf(field, value)
    return sent === undefined ? [] : [[field, sent] as const]
  })
  const body: Record<string, unknown> = {}
  for (const [{ name, within }, sent] of given) {
    if (within === undefined) body[name] = sent
    else body[within] = { ...Object(body[within]), [name]: sent }
  }
  return body
}

/** By parameter, what is wrong with what is typed; each names its field. */
export function complaintsOf(fields: readonly Field[], values: Values): Record<string, string> {
  const all = fields.flatMap((field) => {
    const complaint = complaintOf(field, values[field.name] ?? field.initial)
    return complaint === undefined ? [] : [[field.name, complaint] as const]
  })
  return Object.fromEntries(all)
}

export function complaintOf(field: Field, value: unknown): string | undefined {
  const words = texts.forms
  const { label } = field
  if (isEmpty(value)) return field.required ? words.missing(label) : undefined
  switch (field.kind) {
    case 'number': {
      const { min = -Infinity, max = Infinity } = field
      if (!Number.isSafeInteger(Number(value))) return words.noNumber(label)
      if (Number(value) < min) return words.tooSmall(label, min)
      return Number(value) > max ? words.tooLarge(label, max) : undefined
    }
    case 'size':
      return parseSize(String(value)) === undefined ? words.noSize(label) : undefined
    case 'json':
      return jsonOf(value) === undefined ? words.noJson(label) : undefined
    default:
      return undefined
  }
}

function sentOf(field: Field, value: unknown): unknown {
  if (isEmpty(value)) return field.cleared
  switch (field.kind) {
    case 'number':
      return Number(value)
    case 'size':
      return parseSize(String(value))
    case 'json':
      return jsonOf(value)
    case 'choice':
      return value === 'true' ? true : value === 'false' ? false : value
    case 'text':
      return String(value).trim()
    default:
      return value
  }
}

function jsonOf(value: unknown): unknown {
  try {
    return JSON.parse(String(value)) as unknown
  } catch {
    return undefined
  }
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '')

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
