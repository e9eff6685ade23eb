// What openapi/rapi.json says of the parameters of a request, and the fields that a form has for them.
import { texts } from '../texts'

export interface Schema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly (string | number)[]
  readonly nullable?: boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: boolean
  readonly minLength?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: unknown
  readonly anyOf?: readonly Schema[]
}

export interface BodySchema {
  readonly properties: Readonly<Record<string, Schema>>
  readonly required: readonly string[]
}

export interface Choice {
  readonly value: string
  readonly label: string
}

/** Where the names come from that can be chosen: objects of the cluster. */
export type Source = 'nodes' | 'groups' | 'networks' | 'instances' | 'os'

interface FieldBase {
  /** The parameter's name. */
  readonly name: string
  readonly label: string
  readonly text?: string
  readonly required?: boolean
  /** What holds when nothing is typed. */
  readonly placeholder?: string
  /** What is sent when it was something, and is emptied. */
  readonly cleared?: unknown
  /** The parameter of the request that has this one among its values. */
  readonly within?: string
}

/** A parameter of a request. The initial value is what holds without it, and is not sent. */
export type Field = FieldBase &
  (
    | { readonly kind: 'switch'; readonly initial: boolean }
    | {
        readonly kind: 'number'
        readonly initial: number | ''
        readonly min?: number
        readonly max?: number
        readonly unit?: string
      }
    /** Typed as `10g`, sent in MiB. */
    | { readonly kind: 'size'; readonly initial: string }
    | {
        readonly kind: 'text'
        readonly initial: string
        readonly source?: Source
        readonly hidden?: boolean
        readonly long?: boolean
      }
    | { readonly kind: 'choice'; readonly initial: string; readonly choices: readonly (string | Choice)[] }
    | { readonly kind: 'words'; readonly initial: readonly string[]; readonly source?: Source }
    | {
        readonly kind: 'pairs'
        readonly initial: Readonly<Record<string, unknown>>
        readonly names?: readonly string[]
        readonly hidden?: boolean
      }
    /** For what has no better form: JSON, among what is for advanced users. */
    | { readonly kind: 'json'; readonly initial: string }
  )

export type Values = Readonly<Record<string, unknown>>

/** What a form says of a field instead of what the schema says. */
export type Wording = Partial<Omit<FieldBase, 'name'>> & {
  readonly source?: Source
  readonly initial?: unknown
  readonly unit?: string
  readonly choices?: readonly (string | Choice)[]
  readonly size?: boolean
  readonly hidden?: boolean
}

/** `ignore_offline_nodes`: Ignore offline nodes */
export const labelOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')

export function fieldOf({ properties, required }: BodySchema, name: string, wording: Wording = {}): Field {
  const schema = properties[name]
  if (schema === undefined) throw new Error(`The request has no parameter ${name}`)
  const { label = labelOf(name), placeholder, cleared } = wording
  // Who has words of his own for it says all that is to be said.
  const text = wording.label === undefined ? (wording.text ?? schema.description) : wording.text
  const base = { name, label, text, placeholder, cleared, required: wording.required ?? required.includes(name) }
  const initial = wording.initial ?? schema.default
  if (wording.size) return { ...base, kind: 'size', initial: textOf(initial) }
  const choices = wording.choices ?? schema.enum?.map(String)
  if (choices !== undefined) return { ...base, kind: 'choice', initial: textOf(initial), choices }
  switch (schema.type) {
    case 'boolean':
      return schema.nullable === true && initial === undefined
        ? { ...base, kind: 'choice', initial: '', choices: YES_NO }
        : { ...base, kind: 'switch', initial: initial === true }
    case 'integer':
    case 'number':
      return {
        ...base,
        ...{ kind: 'number', initial: typeof initial === 'number' ? initial : '', unit: wording.unit },
        ...{ min: schema.exclusiveMinimum ? (schema.minimum ?? 0) + 1 : schema.minimum, max: schema.maximum },
      }
    case 'string':
      return { ...base, kind: 'text', initial: textOf(initial), source: wording.source, hidden: wording.hidden }
    case 'array':
      if (schema.items?.type === 'string' || wording.source !== undefined)
        return {
          ...base,
          kind: 'words',
          initial: Array.isArray(initial) ? initial.map(String) : [],
          source: wording.source,
        }
      return { ...base, kind: 'json', initial: '' }
    case 'object':
      return { ...base, kind: 'pairs', initial: {}, hidden: wording.hidden }
    default:
      return { ...base, kind: 'json', initial: '' }
  }
}

/** Whether it is so, is not so, or stays as it is. */
const YES_NO = [
  { value: 'true', label: texts.forms.yes },
  { value: 'false', label: texts.forms.no },
]

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

/** Objects are named by name, and what is kept for older clients has newer spellings. */
const LEFT_OUT = /_uuids?$|^live$|^use_locking$/

/** Fields for all parameters that the form does not show by itself. */
export const otherFields = (
  schema: BodySchema,
  shown: readonly string[],
  wordings: Readonly<Record<string, Wording>> = {},
): Field[] =>
  Object.keys(schema.properties)
    .filter((name) => !shown.includes(name) && !LEFT_OUT.test(name))
    .map((name) => fieldOf(schema, name, wordings[name]))
