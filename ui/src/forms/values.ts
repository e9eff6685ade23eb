// Validates the values of a form, and makes the body of a request from them.
import { parseSize } from '../format/size'
import { texts } from '../texts'
import { boundsOf, rangesComplaint } from './ranges'
import { choiceOf, type Field, type Values } from './schema'
import { refusedPart } from './within-scope'

/** Only the parameters that differ from their defaults. */
export function bodyOf(fields: readonly Field[], values: Values): Record<string, unknown> {
  const input = fields.flatMap((field) => {
    const value = valueOf(field, values)
    if (isSame(value, field.initial) || complaintOf(field, value) !== undefined) return []
    const sent = sentOf(field, value)
    return sent === undefined ? [] : [[field, sent] as const]
  })
  const body: Record<string, unknown> = {}
  for (const [{ name, at = [name] }, sent] of input) put(body, at, sent)
  return body
}

/** A field that the session may not set keeps its initial value. */
const valueOf = ({ name, initial, barred }: Field, values: Values): unknown =>
  barred === undefined ? (values[name] ?? initial) : initial

function put(body: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    body[name] = value
    return
  }
  const within: Record<string, unknown> = { ...Object(body[name]) }
  put(within, rest, value)
  body[name] = within
}

/** Errors by parameter. Each error names its field. */
export function complaintsOf(fields: readonly Field[], values: Values): Record<string, string> {
  const all = fields.flatMap((field) => {
    const complaint = complaintOf(field, valueOf(field, values))
    return complaint === undefined ? [] : [[field.name, complaint] as const]
  })
  return Object.fromEntries(all)
}

export const complaintOf = (field: Field, value: unknown): string | undefined =>
  mistakeOf(field, value) ?? refusalOf(field, value)

/** The error of a value that the session's token may not set. */
function refusalOf(field: Field, value: unknown): string | undefined {
  const { label, admitted, initial } = field
  const sent = isSame(value, initial) ? undefined : sentOf(field, value)
  const part = admitted === undefined || sent === undefined ? undefined : refusedPart(admitted, sent)
  return part === undefined ? undefined : texts.forms.barredValue(label, part)
}

function mistakeOf(field: Field, value: unknown): string | undefined {
  const words = texts.forms
  const { label } = field
  if (isEmpty(value) || (Array.isArray(value) && value.length === 0))
    return field.required ? words.missing(label) : undefined
  switch (field.kind) {
    case 'number': {
      const { min = -Infinity, max = Infinity } = field
      if (field.fraction ? !Number.isFinite(Number(value)) : !Number.isSafeInteger(Number(value)))
        return field.fraction ? words.noFraction(label) : words.noNumber(label)
      if (Number(value) < min) return words.tooSmall(label, min)
      return Number(value) > max ? words.tooLarge(label, max) : undefined
    }
    case 'size':
      return parseSize(String(value)) === undefined ? words.noSize(label) : undefined
    case 'json':
      return jsonOf(value) === undefined ? words.noJson(label) : undefined
    case 'ranges':
      return rangesComplaint(field, value)
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
      return choiceOf(value)
    case 'text': {
      const text = String(value).trim()
      return field.quoted && text === EMPTY_TEXT ? '' : text
    }
    case 'ranges':
      return boundsOf(field, value)
    default:
      return value
  }
}

/** Users type this for an empty text, if an empty field means something else. */
export const EMPTY_TEXT = '""'

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
