// Fields for parameters that an object may say itself or inherit: each shows what it says, and behind it what holds when it says nothing.
import { sizeWord } from '../format/size'
import { texts } from '../texts'
import { type Field, labelOf, type Schema, type Wording } from './schema'

type Values = Readonly<Record<string, unknown>>

/** Sets a parameter to what it is without the object. */
export const BACK_TO_DEFAULT = 'default'

/** `own`: what the object says itself; `inherited`: what holds otherwise. */
export function parameterField(
  name: string,
  schema: Schema,
  own: Values,
  inherited: unknown,
  wording: Wording = {},
): Field {
  const base = {
    ...{
      name,
      label: wording.label ?? labelOf(name),
      text: wording.text ?? schema.description,
      cleared: BACK_TO_DEFAULT,
    },
    placeholder: inheritedText(inherited, wording),
  }
  const value = Object.hasOwn(own, name) ? own[name] : ''
  if (wording.size) return { ...base, kind: 'size', initial: typeof value === 'number' ? sizeWord(value) : '' }
  if (schema.type === 'boolean')
    return {
      ...{ ...base, kind: 'choice', initial: value === '' ? '' : String(value) },
      choices: [
        { value: 'true', label: texts.forms.yes },
        { value: 'false', label: texts.forms.no },
      ],
    }
  if (schema.enum !== undefined && schema.type === 'string')
    return {
      ...base,
      kind: 'choice',
      initial: String(value),
      choices: schema.enum.map(String).filter((one) => one !== ''),
    }
  if (schema.type === 'integer')
    return { ...base, kind: 'number', initial: typeof value === 'number' ? value : '', min: schema.minimum }
  return { ...base, kind: 'text', initial: String(value ?? '') }
}

function inheritedText(value: unknown, { size }: Wording): string {
  if (value === undefined || value === null || value === '') return texts.forms.empty
  if (typeof value === 'boolean') return value ? texts.forms.yes : texts.forms.no
  return size && typeof value === 'number' ? sizeWord(value) : String(value)
}

/** Numbers that need not be whole, also where they are now. They are sent as they are typed. */
const FRACTIONS = new Set(['cpu_speed'])

/** One for each parameter of a request's dictionary, of the kind that its value has. `all`: the values that hold now. */
export function fieldsWithin(parameter: string, all: Values, own: Values): Field[] {
  return Object.keys({ ...all, ...own })
    .sort()
    .map((name) => {
      const inherited = Object.hasOwn(own, name) ? texts.forms.inherited : all[name]
      const wording = { label: name, text: texts.forms.parameters[name] }
      const schema = FRACTIONS.has(name) ? { type: 'string' } : schemaOf(own[name] ?? all[name])
      return { ...parameterField(name, schema, own, inherited, wording), within: parameter }
    })
}

/** Values that are no lists and have no parts. */
export const isFlat = (value: unknown): value is Values =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((one) => one === null || typeof one !== 'object')

const schemaOf = (value: unknown): Schema => ({
  type: typeof value === 'boolean' ? 'boolean' : Number.isInteger(value) ? 'integer' : 'string',
})
