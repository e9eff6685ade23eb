// Names of objects for fields that suggest names. They contain the typed letters.
import { useQuery } from '@tanstack/react-query'
import { WITHOUT_INSTANCES } from '../api/changes'
import { request } from '../api/client'
import { allOf, nameLike } from '../api/conditions'
import type { Source } from './schema'

const SUGGESTED_MAX = '50'

export function useNames(source: Source | undefined, typed: string): string[] {
  const { data } = useQuery({
    queryKey: [source, 'list', 'names', typed],
    meta: WITHOUT_INSTANCES,
    queryFn: () => namesOf(source ?? 'nodes', typed),
    enabled: source !== undefined,
    placeholderData: (before) => before,
  })
  return data ?? []
}

async function namesOf(source: Source, typed: string): Promise<string[]> {
  const desired: Record<string, string | undefined> =
    source === 'os'
      ? { fields: 'name,variants' }
      : { fields: 'name', limit: SUGGESTED_MAX, filter: allOf(typed === '' ? [] : [nameLike(typed)]) }
  const words = Object.entries(desired).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const { items } = (await request('GET', `/3/${source}?${new URLSearchParams(words).toString()}`)) as {
    items: readonly { name: string; variants?: readonly string[] | null }[]
  }
  return items.flatMap(({ name, variants }) =>
    variants && variants.length > 0 ? variants.map((variant) => `${name}+${variant}`) : [name],
  )
}
