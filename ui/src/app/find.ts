// Finds objects by a part of their name, by an address or by a UUID, a few of each kind. The server searches; each kind is asked for by itself.
import type { QueryClient } from '@tanstack/react-query'
import { request } from '../api/client'
import { clusterQuery } from '../api/cluster'
import { addressLike, allOf, anyOf, hasValue, nameLike, uuidLike } from '../api/conditions'
import { actionText, type Rule, ruleLike, whenText, whyText } from '../pages/rules/rule'
import type { Found } from './found'

type Item = Readonly<Record<string, unknown>>
type Query = Readonly<Record<string, string | undefined>>

interface FoundKindOf {
  readonly permission: string
  /** The server asks all nodes, so it is asked only when the typing pauses. */
  readonly asksNodes?: true
  readonly find: (letters: string, client: QueryClient) => Promise<readonly Found[]>
}

const FOUND_MAX = 6

/** A kind of objects with names. `addresses` are fields that have addresses. */
const named = (path: string, permission: string, addresses: readonly string[] = []): FoundKindOf => ({
  permission,
  async find(letters) {
    const fields = ['name', 'uuid', ...addresses]
    const filter = allOf([
      anyOf([
        nameLike(letters),
        ...uuidLike(letters),
        ...addresses.flatMap((field) => addressLike(letters, field, path === 'networks')),
      ]),
    ])
    const items = await list(path, { fields: fields.join(','), filter })
    return items.map((item) => {
      const name = textOf(item['name'])
      return {
        id: name,
        label: name,
        note: noteOf(
          name,
          letters,
          [...addresses, 'uuid'].map((field) => item[field]),
        ),
      }
    })
  },
})

/** What of an object fits, if its name does not. */
function noteOf(name: string, letters: string, values: readonly unknown[]): string | undefined {
  const fits = (text: string) => text.toLowerCase().includes(letters.toLowerCase())
  if (fits(name)) return undefined
  const words = values.flatMap((value) => textOf(value).split(' '))
  // A network is also found by an address within.
  return words.find(fits) ?? words[0]
}

export const FOUND_KINDS = {
  instances: named('instances', 'instances.list', ['nic.addresses']),
  nodes: named('nodes', 'nodes.list', ['pip', 'sip']),
  groups: named('groups', 'groups.list'),
  networks: named('networks', 'networks.list', ['addresses']),
  os: {
    ...{ permission: 'os.list', asksNodes: true },
    async find(letters) {
      const items = await list('os', { fields: 'name', filter: allOf([nameLike(letters)]) })
      return items.map(({ name }) => ({ id: textOf(name), label: textOf(name) }))
    },
  },
  exports: {
    ...{ permission: 'exports.list', asksNodes: true },
    async find(letters) {
      // A node that does not answer has an item without an export, which passes each other filter.
      const filter = allOf([nameLike(letters, 'export'), hasValue('export')])
      const items = await list('exports', { filter })
      return items.map((item) => {
        const [name, node] = [textOf(item['export']), textOf(item['node'])]
        return { id: `${node}/${name}`, label: name, note: node }
      })
    },
  },
  tags: {
    permission: 'tags.get',
    async find(letters) {
      return (await list('tags', { like: letters })).map(({ tag }) => ({ id: textOf(tag), label: textOf(tag) }))
    },
  },
  rules: {
    permission: 'filter.list',
    async find(letters) {
      const query = { filter: allOf([ruleLike(letters)]), sort: 'priority' }
      const rules = (await list('filters', query)) as readonly Rule[]
      return rules.map((rule) => {
        const uuid = rule.uuid ?? ''
        return { id: uuid, label: `${actionText(rule)}: ${whenText(rule)}`, note: whyText(rule), target: uuid }
      })
    },
  },
  tokens: {
    permission: 'tokens.list',
    async find(letters) {
      const items = await list('tokens', { like: letters })
      return items.map(({ id, name, user }) => ({ id: textOf(id), label: textOf(name), note: textOf(user) }))
    },
  },
  settings: {
    permission: 'cluster.info',
    async find(letters, client) {
      const [{ settingsFor }, cluster] = await Promise.all([
        import('./find-settings'),
        client.query({ ...clusterQuery, staleTime: 'static' }),
      ])
      return settingsFor(letters, cluster, FOUND_MAX)
    },
  },
} as const satisfies Readonly<Record<string, FoundKindOf>>

export type FoundKind = keyof typeof FOUND_KINDS

async function list(path: string, query: Query): Promise<readonly Item[]> {
  const input = Object.entries({ ...query, limit: String(FOUND_MAX) })
  const words = input.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const answer = await request('GET', `/3/${path}?${new URLSearchParams(words).toString()}`)
  return (answer as { items: readonly Item[] }).items
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
