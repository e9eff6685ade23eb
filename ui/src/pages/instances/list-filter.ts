// Filters of the list of instances: as search parameters of the address, and as conditions of the query language.
import { allOf, nameLike } from '../../api/conditions'

export interface InstanceFilters {
  readonly q?: string
  readonly status?: string
  readonly group?: string
  readonly node?: string
  readonly tag?: string
  readonly os?: string
}

export type FilterName = keyof InstanceFilters

/** An OS without a variant matches all of its variants. */
const osIs = (os: string): unknown[] =>
  os.includes('+') ? ['==', 'os', os] : ['|', ['==', 'os', os], ['=~', 'os', `^${escaped(os)}\\+`]]

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

const CONDITIONS: Readonly<Record<FilterName, (value: string) => unknown[]>> = {
  q: (letters) => nameLike(letters),
  status: (status) => ['==', 'status', status],
  group: (group) => ['==', 'pnode.group', group],
  node: (node) => ['==', 'pnode', node],
  tag: (tag) => ['=[]', 'tags', tag],
  os: osIs,
}

export const FILTERS = Object.keys(CONDITIONS) as readonly FilterName[]

/** The active filters. */
export const activeFilters = (search: InstanceFilters): (readonly [FilterName, string])[] =>
  FILTERS.flatMap((name) => (search[name] ? [[name, search[name]] as const] : []))

export const filterOf = (search: InstanceFilters): string | undefined =>
  allOf(activeFilters(search).map(([name, value]) => CONDITIONS[name](value)))
