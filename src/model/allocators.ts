// Kinds of questions to allocators. Each kind has its own list of default allocators, which are asked in order until
// one finds a solution. A kind without a list uses Ganeti's default allocator. The last two kinds are ours, and use the
// built-in allocator instead.
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

/** The section of gantry.data that holds them. */
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

/** In an opcode: the cluster's default allocators. */
export const DEFAULT_SHORTCUT = '.'

/** Allocators to ask one after the other, until one finds a solution. */
export type Allocators = readonly [string, ...string[]]

/** The allocators for a kind of question that Ganeti does not have. */
export function ownAllocators(lists: DefaultAllocators, kind: 'balance' | 'capacity', input?: string): Allocators {
  if (input !== undefined && input !== DEFAULT_SHORTCUT) return [input]
  const [first = BUILTIN_IALLOCATOR, ...others] = lists[kind] ?? []
  return [first, ...others]
}
