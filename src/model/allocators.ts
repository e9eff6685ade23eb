// Kinds of questions to allocators, each with a list of default allocators of its own, which are asked in order until one finds
// something. A kind without a list has Ganeti's default allocator.
export const ALLOCATOR_KINDS = ['allocate', 'multi-allocate', 'relocate', 'node-evacuate', 'change-group'] as const
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
