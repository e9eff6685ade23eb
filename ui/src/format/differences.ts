// Readable values, and differences between an old and a new value.
import { sizeText } from './size'
import { texts } from '../texts'

type Record_ = Readonly<Record<string, unknown>>

export interface Difference {
  readonly name: string
  readonly before: string
  readonly after: string
}

/** Compares nested objects value by value. */
export function differences(before: Record_ | null, after: Record_ | null, textOf = parameterText): Difference[] {
  const [old, now] = [flat(before ?? {}, textOf), flat(after ?? {}, textOf)]
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  return names
    .filter((name) => old[name] !== now[name])
    .map((name) => ({ name, before: old[name] ?? '', after: now[name] ?? '' }))
}

function flat(record: Record_, textOf: typeof parameterText, prefix = ''): Record<string, string> {
  const entries = Object.entries(record).flatMap(([name, value]): (readonly [string, string])[] =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(flat(value as Record_, textOf, `${prefix}${name}.`))
      : [[`${prefix}${name}`, textOf(name, value)]],
  )
  return Object.fromEntries(entries)
}

/** Undefined for an unknown value. */
export function yesOrNo(value: boolean): string
export function yesOrNo(value: boolean | null | undefined): string | undefined
export function yesOrNo(value: boolean | null | undefined): string | undefined {
  return typeof value === 'boolean' ? (value ? texts.forms.yes : texts.forms.no) : undefined
}

/** Parameters that are sizes in MiB. A test compares them with the document. The sizes of disks are a list. */
export const SIZES: ReadonlySet<string> = new Set(['maxmem', 'minmem', 'memory-size', 'disk-size', 'disk.sizes'])

/** A readable value, with a unit if the parameter has one. */
export function parameterText(name: string, value: unknown): string {
  if (!SIZES.has(name)) return valueText(value)
  const numbers = Array.isArray(value) ? value : [value]
  return numbers.every((one) => typeof one === 'number')
    ? numbers.map((one) => sizeText(one)).join(', ')
    : valueText(value)
}

export const valueText = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : Array.isArray(value) && value.every((one) => typeof one !== 'object')
      ? value.join(', ')
      : typeof value === 'string'
        ? value
        : JSON.stringify(value)
