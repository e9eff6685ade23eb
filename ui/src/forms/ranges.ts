// Validates typed ranges, and converts them for a request.
import { parseSize, sizeWord } from '../format/size'
import { texts } from '../texts'
import type { Bounds, Field, Range } from './schema'

type Ranges = Field & { kind: 'ranges' }
export type Limit = Ranges['limits'][number]
export type End = keyof Range

export const ENDS: readonly End[] = ['min', 'max']

export const rangesOf = (value: unknown): readonly Range[] => (Array.isArray(value) ? (value as readonly Range[]) : [])

const numberOf = ({ size }: Limit, typed: string | undefined): number | undefined => {
  const text = (typed ?? '').trim()
  if (size) return parseSize(text)
  return /^\d+$/.test(text) ? Number(text) : undefined
}

/** The bounds of a range as texts for the form. */
export const typedBounds = (limits: readonly Limit[], values: Readonly<Record<string, unknown>>): Bounds =>
  Object.fromEntries(
    limits.map(({ name, size }) => {
      const value = values[name]
      return [name, typeof value === 'number' ? (size ? sizeWord(value) : String(value)) : '']
    }),
  )

export function isWrong(limit: Limit, range: Range, end: End): boolean {
  const [least, most] = [numberOf(limit, range.min[limit.name]), numberOf(limit, range.max[limit.name])]
  return (end === 'min' ? least : most) === undefined || (end === 'max' && least !== undefined && Number(most) < least)
}

/** The first error, with its place. */
export function rangesComplaint({ label, limits }: Ranges, value: unknown): string | undefined {
  const words = texts.forms
  for (const [at, range] of rangesOf(value).entries())
    for (const limit of limits)
      for (const end of ENDS) {
        if (!isWrong(limit, range, end)) continue
        const place = `${label} ${at + 1}, ${words.ends[end]}: ${limit.label}`
        if (numberOf(limit, range[end][limit.name]) !== undefined) return words.lessThanLeast(place)
        return limit.size ? words.noSize(place) : words.noNumber(place)
      }
  return undefined
}

export const boundsOf = ({ limits }: Ranges, value: unknown): unknown =>
  rangesOf(value).map((range) =>
    Object.fromEntries(
      ENDS.map((end) => [
        end,
        Object.fromEntries(limits.map((limit) => [limit.name, numberOf(limit, range[end][limit.name])])),
      ]),
    ),
  )
