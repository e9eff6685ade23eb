// What openapi/rapi.json says of the parameters of a request, and the fields that a form has for them.
import { texts } from '../texts'

export interface Schema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly (string | number)[]
  readonly nullable?: boolean
  /** `MiB`: a size. */
  readonly 'x-unit'?: string
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
  /** The parameter's name; of one within another, a name that no other field of the form has. */
  readonly name: string
  readonly label: string
  readonly text?: string
  readonly required?: boolean
  /** What holds when nothing is typed. */
  readonly placeholder?: string
  /** Sent when it was something, and is emptied. */
  readonly cleared?: unknown
  /** Where the request has it, if not by its name: `['hvparams', 'kvm', 'acpi']`. */
  readonly at?: readonly string[]
  /** The heading under which it stands, with others that follow each other. */
  readonly section?: string
}

/** One end of a range by the name of what it limits, as it is typed. */
export type Bounds = Readonly<Record<string, string>>

export interface Range {
  readonly min: Bounds
  readonly max: Bounds
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
        /** It need not be whole. */
        readonly fraction?: boolean
      }
    /** Typed as `10g`, sent in MiB. */
    | { readonly kind: 'size'; readonly initial: string }
    | {
        readonly kind: 'text'
        readonly initial: string
        readonly source?: Source
        readonly hidden?: boolean
        readonly long?: boolean
        /** `""` is typed for an empty one, because nothing typed is what holds otherwise. */
        readonly quoted?: boolean
      }
    | { readonly kind: 'choice'; readonly initial: string; readonly choices: readonly (string | Choice)[] }
    /** Several of those that there are, in the order in which they were chosen. */
    | { readonly kind: 'choices'; readonly initial: readonly string[]; readonly choices: readonly string[] }
    | { readonly kind: 'words'; readonly initial: readonly string[]; readonly source?: Source }
    | {
        readonly kind: 'pairs'
        readonly initial: Readonly<Record<string, unknown>>
        readonly names?: readonly string[]
        readonly hidden?: boolean
      }
    /** Least and most of several things together; `start` is how a new one begins. */
    | {
        readonly kind: 'ranges'
        readonly initial: readonly Range[]
        readonly limits: readonly { readonly name: string; readonly label: string; readonly size: boolean }[]
        readonly start: Range
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

/** A description that only repeats the label says nothing. */
const newWords = (description: string | undefined, label: string): string | undefined =>
  description?.toLowerCase().replace(/\.$/, '') === label.toLowerCase() ? undefined : description

export function fieldOf({ properties, required }: BodySchema, name: string, wording: Wording = {}): Field {
  const schema = properties[name]
  if (schema === undefined) throw new Error(`The request has no parameter ${name}`)
  const { label = labelOf(name), placeholder, cleared } = wording
  // Who has words of his own for it says all that is to be said.
  const text = wording.label === undefined ? (wording.text ?? newWords(schema.description, label)) : wording.text
  const base = { name, label, text, placeholder, cleared, required: wording.required ?? required.includes(name) }
  const initial = wording.initial ?? schema.default
  if (wording.size) return { ...base, kind: 'size', initial: textOf(initial) }
  const choices = wording.choices ?? schema.enum?.map(String)
  if (choices !== undefined) return { ...base, kind: 'choice', initial: textOf(initial), choices }
  switch (schema.type) {
    case 'boolean':
      return schema.nullable === true && initial === undefined
        ? { ...base, kind: 'choice', initial: '', choices: texts.forms.yesOrNo }
        : { ...base, kind: 'switch', initial: initial === true }
    case 'integer':
    case 'number':
      return {
        ...base,
        ...{ kind: 'number', initial: typeof initial === 'number' ? initial : '', unit: wording.unit },
        ...{ min: schema.exclusiveMinimum ? (schema.minimum ?? 0) + 1 : schema.minimum, max: schema.maximum },
        fraction: schema.type === 'number',
      }
    case 'string':
      return { ...base, kind: 'text', initial: textOf(initial), source: wording.source, hidden: wording.hidden }
    case 'array':
      if (schema.items?.enum !== undefined)
        return { ...base, kind: 'choices', initial: wordsOf(initial), choices: schema.items.enum.map(String) }
      if (schema.items?.type === 'string' || wording.source !== undefined)
        return { ...base, kind: 'words', initial: wordsOf(initial), source: wording.source }
      return { ...base, kind: 'json', initial: '' }
    case 'object':
      return { ...base, kind: 'pairs', initial: {}, hidden: wording.hidden }
    default:
      return { ...base, kind: 'json', initial: '' }
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

export const wordsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

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
