// Fields for parameters that an object sets itself or inherits. A field shows the own value. An empty field shows the inherited value.
import { sizeWord } from '../format/size'
import { yesOrNo } from '../format/differences'
import { texts } from '../texts'
import { choicesOf, type Field, labelOf, type Schema, type Wording, wordsOf } from './schema'
import { EMPTY_TEXT, isSame } from './values'
import { withinOf } from './within-scope'

export type Values = Readonly<Record<string, unknown>>

/** Resets a parameter to the inherited value. */
export const BACK_TO_DEFAULT = 'default'

/** `own`: the object's own value; `inherited`: the value without it. */
export function parameterField(
  name: string,
  schema: Schema,
  own: Values,
  inherited: unknown,
  wording: Wording = {},
): Field {
  const base = {
    ...{ name, label: wording.label ?? labelOf(name), text: wording.text ?? schema.description },
    cleared: wording.cleared === undefined ? BACK_TO_DEFAULT : wording.cleared,
    ...{ placeholder: valueWord(inherited, schema), within: schema['x-within-scope'] },
  }
  const isOwn = Object.hasOwn(own, name)
  const value = isOwn ? own[name] : ''
  const number = typeof value === 'number' ? value : undefined
  if (schema['x-unit'] === 'MiB')
    return { ...base, kind: 'size', initial: number === undefined ? '' : sizeWord(number) }
  if (schema.type === 'boolean')
    return { ...base, kind: 'choice', initial: value === '' ? '' : String(value), choices: texts.forms.yesOrNo }
  if (schema.enum !== undefined && schema.type === 'string')
    return {
      ...base,
      kind: 'choice',
      initial: String(value),
      choices: choicesOf(schema.enum).filter((one) => one !== ''),
    }
  if (schema.type === 'integer' || schema.type === 'number')
    return { ...base, kind: 'number', initial: number ?? '', min: schema.minimum, fraction: schema.type === 'number' }
  if (schema.items?.enum !== undefined)
    return { ...base, kind: 'choices', initial: wordsOf(value), choices: choicesOf(schema.items.enum) }
  if (schema.items?.type === 'string') return { ...base, kind: 'words', initial: wordsOf(value) }
  if (schema.type === undefined) return { ...base, kind: 'json', initial: isOwn ? JSON.stringify(value) : '' }
  const quoted = typeof inherited === 'string' && inherited !== ''
  const text = [base.text, quoted ? texts.forms.emptyText : undefined].filter(Boolean).join(' ')
  const initial = isOwn && quoted && value === '' ? EMPTY_TEXT : String(value ?? '')
  return { ...base, text, quoted, kind: 'text', initial }
}

/** A value as the placeholder of an empty field. */
function valueWord(value: unknown, schema: Schema): string {
  if (value === undefined || value === null || value === '') return texts.forms.empty
  if (typeof value === 'boolean') return yesOrNo(value)
  if (typeof value === 'number') return schema['x-unit'] === 'MiB' ? sizeWord(value) : String(value)
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A dictionary of parameters of an object. */
export interface Dictionary {
  /** The path in the request: `['hvparams', 'kvm']`. */
  readonly at: readonly string[]
  /** The schema of the document. A parameter without a schema has a field for the type of its value. */
  readonly schema?: Schema
  readonly own: Values
  /** The values that hold without the object's own values. */
  readonly inherited: Values
  /** The value that removes the object's own value. */
  readonly cleared?: (name: string) => unknown
  readonly section?: string
  readonly words?: Readonly<Record<string, Wording>>
}

/** One field for each parameter, in the order of the document. */
export function parameterFields({ at, schema, own, inherited, cleared, section, words }: Dictionary): Field[] {
  const known = schema?.properties ?? {}
  return [...new Set([...Object.keys(known), ...Object.keys({ ...inherited, ...own }).sort()])].map((name) => {
    const found = known[name] ?? schemaOf(own[name] ?? inherited[name])
    const { label = name, text = texts.forms.parameters[name] ?? found.description } = words?.[name] ?? {}
    // The description names the default, unless the empty field shows it.
    const isShown = !Object.hasOwn(own, name) && isSame(found.default, inherited[name])
    const isSaid = found.default !== undefined && found.default !== '' && !isShown
    const builtIn = isSaid ? texts.forms.builtIn(valueWord(found.default, found)) : undefined
    const wording = { label, text: [text, builtIn].filter(Boolean).join(' '), cleared: cleared?.(name) }
    const field = parameterField(name, found, own, inherited[name], wording)
    return { ...field, name: [...at, name].join('/'), at: [...at, name], section, within: withinOf(schema, name) }
  })
}

/** For nodes and groups. `all` has the effective values, including own ones. For a new object it is empty. */
export function belowOthers(at: readonly string[], schema: Schema, all: Values, own: Values): Dictionary {
  const unseen = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, texts.forms.inherited]))
  const inherited = { ...unseen(Object.keys(schema.properties ?? {})), ...all, ...unseen(Object.keys(own)) }
  return { at, schema, own, inherited }
}

/** For the cluster, which has all values. Values that differ from the defaults count as its own. */
export function ofCluster(at: readonly string[], schema: Schema, values: Values): Dictionary {
  const builtIn = Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, { default: value }]) => [name, value]),
  )
  const own = Object.fromEntries(Object.entries(values).filter(([name, value]) => !isSame(value, builtIn[name])))
  return { at, schema, own, inherited: builtIn, cleared: (name) => builtIn[name] }
}

function schemaOf(value: unknown): Schema {
  if (typeof value === 'boolean') return { type: 'boolean' }
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' }
  return typeof value === 'object' && value !== null ? {} : { type: 'string' }
}
