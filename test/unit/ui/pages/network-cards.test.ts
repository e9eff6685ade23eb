// A network card that does not have the network which its parameters name says so on the page of its instance.
import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement, type FunctionComponent } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { consoleModule } from '../../../support/console-actions'
import { consoleServer } from '../../../support/console-server'

consoleServer(() => [200, {}])

const { Nics } = consoleModule<{ Nics: FunctionComponent<{ instance: object }> }>('pages/instances/devices.tsx')

/** The texts of the table's rows. */
function rows(user_nics: readonly number[] | null): string[] {
  const instance = {
    ...{ name: 'web1', 'nic.macs': ['aa:00:00:00:00:01', 'aa:00:00:00:00:02'], 'nic.ips': [null, null] },
    ...{ 'nic.modes': ['bridged', 'bridged'], 'nic.links': ['br0', 'br1'], user_nics },
  }
  const card = createElement(Nics, { instance })
  const within = createElement(QueryClientProvider, { client: new QueryClient() }, card)
  const drawn = renderToStaticMarkup(createElement(MantineProvider, null, within))
  return (drawn.split('<tbody')[1] ?? '').split('<tr').slice(1)
}

test('only the card that has no network of its node says so', () => {
  const has = (user_nics: readonly number[] | null) => rows(user_nics).map((row) => row.includes('nobody reaches in'))
  expect(has([1])).toEqual([false, true])
  expect(has([])).toEqual([false, false])
  expect(has(null)).toEqual([false, false])
})
