// Makes form fields from the schemas of request parameters in openapi/rapi.json.
import { texts } from '../texts'

export interface Schema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  /** With null where the parameter may be null. */
  readonly enum?: readonly (string | number | null)[]
  /** `MiB`: a size. */
  readonly 'x-unit'?: string
  readonly 'x-within-scope'?: Within
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly anyOf?: readonly Schema[]
}

/** A JSON schema of the values that a token with a scope may set; `false` admits none. */
export type Within =
  | boolean
  | {
      readonly enum?: readonly unknown[]
      readonly properties?: Readonly<Record<string, Within>>
      readonly additionalProperties?: Within
    }

export interface BodySchema {
  readonly properties: Readonly<Record<string, Schema>>
  readonly required: readonly string[]
}

export interface Choice {
  readonly value: string
  readonly label: string
}

/** The kind of objects whose names a field suggests. */
export type Source = 'nodes' | 'groups' | 'networks' | 'instances' | 'os'

interface FieldBase {
  /** The parameter's name. A nested parameter has a name that is unique in the form. */
  readonly name: string
  readonly label: string
  readonly text?: string
  readonly required?: boolean
  /** The value that holds for an empty field. */
  readonly placeholder?: string
  /** Sent if the field had a value and was emptied. */
  readonly cleared?: unknown
  /** The path in the request, if it is not the name: `['hvparams', 'kvm', 'acpi']`. */
  readonly at?: readonly string[]
  /** The heading. Consecutive fields with the same heading share it. */
  readonly section?: string
  /** A token with a scope may also name objects that those in its scope use. */
  readonly usedToo?: boolean
  /** The values that a token with a scope may set. */
  readonly within?: Within
  /** The same, but present only if the session has such a token. */
  readonly admitted?: Within
  /** Why the session may not set the field at all. */
  readonly barred?: string
}

/** One end of a range: typed values by the name of the resource. */
export type Bounds = Readonly<Record<string, string>>

export interface Range {
  readonly min: Bounds
  readonly max: Bounds
}

/** A parameter of a request. The initial value holds without it, and is not sent. */
export type Field = FieldBase &
  (
    | { readonly kind: 'switch'; readonly initial: boolean }
    | {
        readonly kind: 'number'
        readonly initial: number | ''
        readonly min?: number
        readonly max?: number
        readonly unit?: string
        /** Fractions are allowed. */
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
        /** Users type `""` for an empty text, because an empty field means the default. */
        readonly quoted?: boolean
      }
    | { readonly kind: 'choice'; readonly initial: string; readonly choices: readonly (string | Choice)[] }
    /** Several choices, in the order in which they were chosen. */
    | { readonly kind: 'choices'; readonly initial: readonly string[]; readonly choices: readonly string[] }
    | {
        readonly kind: 'words'
        readonly initial: readonly string[]
        readonly source?: Source
        /** Suggested beside the names of the source. */
        readonly known?: () => readonly string[]
      }
    | {
        readonly kind: 'pairs'
        readonly initial: Readonly<Record<string, unknown>>
        readonly names?: readonly string[]
        readonly hidden?: boolean
      }
    /** Ranges with a minimum and a maximum for each resource. `start` is the initial range when the user adds one. */
    | {
        readonly kind: 'ranges'
        readonly initial: readonly Range[]
        readonly limits: readonly { readonly name: string; readonly label: string; readonly size: boolean }[]
        readonly start: Range
      }
    /** JSON, for parameters that have no better input. They are among the advanced options. */
    | { readonly kind: 'json'; readonly initial: string }
  )

export type Values = Readonly<Record<string, unknown>>

/** Texts and properties that replace those of the schema. */
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

/** The description, unless it only repeats the label. */
const newWords = (description: string | undefined, label: string): string | undefined =>
  description?.toLowerCase().replace(/\.$/, '') === label.toLowerCase() ? undefined : description

export function fieldOf({ properties, required }: BodySchema, name: string, wording: Wording = {}): Field {
  const schema = properties[name]
  if (schema === undefined) throw new Error(`The request has no parameter ${name}`)
  const { label = labelOf(name), placeholder, cleared, usedToo } = wording
  // A custom label replaces the description, too.
  const text = wording.label === undefined ? (wording.text ?? newWords(schema.description, label)) : wording.text
  const base = {
    ...{ name, label, text, placeholder, cleared, usedToo, within: schema['x-within-scope'] },
    required: wording.required ?? required.includes(name),
  }
  const initial = wording.initial ?? schema.default
  if (wording.size) return { ...base, kind: 'size', initial: textOf(initial) }
  const choices = wording.choices ?? (schema.enum && choicesOf(schema.enum))
  if (choices !== undefined) return { ...base, kind: 'choice', initial: textOf(initial), choices }
  switch (schema.type) {
    case 'boolean':
      return !base.required && initial === undefined
        ? { ...base, kind: 'choice', initial: '', choices: texts.forms.yesOrNo }
        : { ...base, kind: 'switch', initial: initial === true }
    case 'integer':
    case 'number':
      return {
        ...base,
        ...{ kind: 'number', initial: typeof initial === 'number' ? initial : '', unit: wording.unit },
        ...{ min: schema.minimum, max: schema.maximum },
        fraction: schema.type === 'number',
      }
    case 'string':
      return { ...base, kind: 'text', initial: textOf(initial), source: wording.source, hidden: wording.hidden }
    case 'array':
      if (schema.items?.enum !== undefined)
        return { ...base, kind: 'choices', initial: wordsOf(initial), choices: choicesOf(schema.items.enum) }
      if (schema.items?.type === 'string' || wording.source !== undefined)
        return { ...base, kind: 'words', initial: wordsOf(initial), source: wording.source }
      return { ...base, kind: 'json', initial: '' }
    case 'object':
      return { ...base, kind: 'pairs', initial: {}, hidden: wording.hidden }
    default:
      return { ...base, kind: 'json', initial: '' }
  }
}

export const choicesOf = (values: readonly (string | number | null)[]): string[] =>
  values.flatMap((value) => (value === null ? [] : String(value)))

/** The value of a choice in requests. */
export const choiceOf = (value: unknown): unknown => (value === 'true' ? true : value === 'false' ? false : value)

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

export const wordsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

/** Left out: uuids, because forms use names, and old spellings of parameters. */
const LEFT_OUT = /_uuids?$|^live$|^use_locking$/

/** Fields for all parameters that the form does not show elsewhere. */
export const otherFields = (
  schema: BodySchema,
  displayed: readonly string[],
  wordings: Readonly<Record<string, Wording>> = {},
): Field[] =>
  Object.keys(schema.properties)
    .filter((name) => !displayed.includes(name) && !LEFT_OUT.test(name))
    .map((name) => fieldOf(schema, name, wordings[name]))
