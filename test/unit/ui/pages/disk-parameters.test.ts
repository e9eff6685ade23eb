// The page of an instance tells the parameters of its disks, and which level sets them.
import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement, type FunctionComponent } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { consoleModule } from '../../../support/console-actions'
import { consoleServer } from '../../../support/console-server'

consoleServer(() => [200, {}])

const { Disks } = consoleModule<{ Disks: FunctionComponent<{ instance: object }> }>('pages/instances/devices.tsx')

test('each disk has its own', () => {
  const parameters = [
    [
      { name: 'stripes', value: 2, source: 'disk' },
      { name: 'stripe-size', value: 64, source: 'group' },
    ],
    [],
  ]
  const instance = { name: 'web1', 'disk.sizes': [64, 32], 'disk.names': [null, 'data'], 'disk.parameters': parameters }
  const card = createElement(Disks, { instance })
  const within = createElement(QueryClientProvider, { client: new QueryClient() }, card)
  const drawn = renderToStaticMarkup(createElement(MantineProvider, null, within))
  const rows = (drawn.split('<tbody')[1] ?? '').split('<tr').slice(1)
  expect(rows.map((row) => row.includes('stripes 2 (of this disk), stripe-size 64 (of the group)'))).toEqual([
    true,
    false,
  ])
})
