// A list that is shown does not flicker when it is asked for again, and is not asked for by whoever may not see it.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { consoleModule } from '../../../support/console-actions'

interface List {
  readonly rows: readonly unknown[]
  readonly loading: boolean
  readonly hasMore: boolean
  readonly more?: () => void
  readonly refusal?: string
}
const { useList } = consoleModule<{ useList(request: object): List }>('parts/list-query.ts')
type Store = { readonly sessionStore: { open(session: object): void; forget(): void } }
const { sessionStore } = consoleModule<Store>('api/session-store.ts')

function displayed(client: QueryClient): List | undefined {
  let list: List | undefined
  const Probe = () => {
    list = useList({ resource: 'networks', query: {} })
    return null
  }
  renderToStaticMarkup(createElement(QueryClientProvider, { client }, createElement(Probe)))
  return list
}

function signIn(...permissions: string[]): void {
  sessionStore.forget()
  sessionStore.open({ user: 'anna', token: null, permissions, beyond_scope: [], empty_kinds: [], scope: null })
}

test('while rows are asked for again, they are no less there, and their number is as known as before', () => {
  signIn('networks.list')
  const client = new QueryClient()
  expect(displayed(client)).toMatchObject({ rows: [], loading: true, hasMore: false })
  client.setQueryData(['networks', 'list', {}], {
    pages: [{ items: [{ name: 'a' }], next: 'a' }],
    pageParams: [undefined],
  })
  expect(displayed(client)).toMatchObject({ rows: [{ name: 'a' }], loading: false, more: expect.any(Function) })
})

test('who may not see the list is told why, and it is not asked for', () => {
  signIn('nodes.list')
  const list = displayed(new QueryClient())
  expect(list).toMatchObject({ rows: [], loading: false, refusal: 'You need the permission networks.list' })
})
