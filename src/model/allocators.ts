// Kinds of questions to allocators, each with a list of default allocators of its own, which are asked in order until one finds
// something. A kind without a list has Ganeti's default allocator; the last two, which Ganeti does not have, the built-in one.
import { BUILTIN_IALLOCATOR } from './constants/words'

export const ALLOCATOR_KINDS = [
  'allocate',
  'multi-allocate',
  'relocate',
  'node-evacuate',
  'change-group',
  'balance',
  'capacity',
] as const
export type AllocatorKind = (typeof ALLOCATOR_KINDS)[number]

/** Where they are in gantry.data. */
export const ALLOCATORS_SECTION = 'allocators'

/** Only kinds that have a list. */
export type DefaultAllocators = { readonly [K in AllocatorKind]?: readonly string[] }

export function defaultAllocators(section: Readonly<Record<string, unknown>>): DefaultAllocators {
  return Object.fromEntries(
    ALLOCATOR_KINDS.flatMap((kind) => {
      const list: unknown = section[kind]
      return Array.isArray(list) && list.length > 0 ? [[kind, list.map(String)]] : []
    }),
  )
}

/** Stands for the cluster's default allocators. */
export const DEFAULT_SHORTCUT = '.'

/** To be asked one after the other, until one finds something. */
export type Allocators = readonly [string, ...string[]]

/** Who answers a question that Ganeti does not have. */
export function ownAllocators(lists: DefaultAllocators, kind: 'balance' | 'capacity', given?: string): Allocators {
  if (given !== undefined && given !== DEFAULT_SHORTCUT) return [given]
  const [first = BUILTIN_IALLOCATOR, ...others] = lists[kind] ?? []
  return [first, ...others]
}
