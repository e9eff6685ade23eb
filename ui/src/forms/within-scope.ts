// Limits fields to what a token with a scope may set, as `x-within-scope` in the API's document says. Fields without an admitted value are shown
// as disabled and never sent.
import { texts } from '../texts'
import { choiceOf, type Field, type Schema, type Within } from './schema'

/** The mark of a parameter inside another. */
export function withinOf(whole: Schema | undefined, name: string): Within | undefined {
  const part = whole?.properties?.[name]
  if (part !== undefined) return part['x-within-scope']
  const { 'x-within-scope': all, additionalProperties: others } = whole ?? {}
  if (typeof all === 'object') return all.properties?.[name] ?? all.additionalProperties
  return all ?? (typeof others === 'object' ? others['x-within-scope'] : undefined)
}

/** `empty`: the kinds of objects of which the scope has none. */
export function forScope(field: Field, empty: readonly string[] = []): Field {
  const { within } = field
  const named = scopedSource(field)
  if (named !== undefined && empty.includes(KINDS[named])) return { ...field, barred: texts.forms.noneInScope[named] }
  if (within === undefined) return field
  const own = { ...field, admitted: within }
  if (!isSettable(own, within)) return { ...own, barred: texts.forms.barred }
  if (own.kind !== 'choice') return own
  // The initial choice stays visible, even if an administrator made it.
  return { ...own, choices: own.choices.filter((one) => nameOf(one) === own.initial || isOffered(one, within)) }
}

const KINDS = { nodes: 'node', groups: 'group' } as const

/** The kind of objects that the field names, if they must be in the scope of a token. */
function scopedSource(field: Field): keyof typeof KINDS | undefined {
  const source = 'source' in field ? field.source : undefined
  return field.usedToo !== true && (source === 'nodes' || source === 'groups') ? source : undefined
}

/** Whether the field can be set to a value other than its initial one. */
function isSettable(field: Field, within: Within): boolean {
  if (typeof within === 'boolean') return within
  if (field.kind === 'switch') return refusedPart(within, !field.initial) === undefined
  if (field.kind === 'choice')
    return field.choices.some((one) => nameOf(one) !== field.initial && isOffered(one, within))
  if (within.enum !== undefined) return within.enum.some((value) => value !== field.initial)
  return within.additionalProperties !== false || Object.keys(within.properties ?? {}).length > 0
}

type Offered = (Field & { kind: 'choice' })['choices'][number]

const nameOf = (one: Offered): string => (typeof one === 'string' ? one : one.value)
const isOffered = (one: Offered, within: Within): boolean => refusedPart(within, choiceOf(nameOf(one))) === undefined

/** The name of the first refused entry in the value; empty if the value itself is refused. */
export function refusedPart(within: Within, value: unknown): string | undefined {
  if (typeof within === 'boolean') return within ? undefined : ''
  const { enum: values, properties = {}, additionalProperties: others = true } = within
  if (values !== undefined) return values.includes(value) ? undefined : ''
  const names = Object.entries(typeof value === 'object' && value !== null ? value : {})
  const refused = names.find(([name, one]) => {
    const inside = Object.hasOwn(properties, name) ? properties[name] : others
    return refusedPart(inside ?? true, one) !== undefined
  })
  return refused?.[0]
}
