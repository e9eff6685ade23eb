// The page of an instance tells the parameters of its disks, and which level sets them.
import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement, type FunctionComponent } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { type Body, type ConsoleAction, consoleModule, type FormField } from '../../../support/console-actions'
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

const { ADD_DISK, CHANGE_DISK, rareDiskFields } = consoleModule<{
  ADD_DISK: ConsoleAction
  CHANGE_DISK: ConsoleAction
  rareDiskFields(template: string): readonly FormField[]
}>('pages/instances/actions/disks.ts')
const { bodyOf } = consoleModule<{ bodyOf(fields: readonly FormField[], values: Body): Body }>('forms/values.ts')
const mirrored = {
  ...{ name: 'db1', disk_template: 'drbd', 'disk.sizes': [64, 64] },
  'disk.parameters': [
    [],
    [
      { name: 'resync-rate', value: 2048, source: 'disk' },
      { name: 'data-stripes', value: 2, source: 'disk' },
      { name: 'c-max-rate', value: 4096, source: 'group' },
    ],
  ],
}
const fieldsOf = (fields: ConsoleAction['fields'], subject: unknown) =>
  typeof fields === 'function' ? fields(subject) : (fields ?? [])

test('a new disk has fields for the parameters of its template', () => {
  expect(rareDiskFields('plain').map(({ name }) => name)).toEqual(['vg', 'spindles', 'adopt', 'stripes', 'stripe-size'])
  expect(rareDiskFields('sharedfile').map(({ name }) => name)).toEqual(['spindles'])
  const fields = [...fieldsOf(ADD_DISK.fields, mirrored), ...fieldsOf(ADD_DISK.others, mirrored)]
  const body = bodyOf(fields, { size: '1g', 'resync-rate': 4096, 'dynamic-resync': 'true', hotplug: false })
  const request = ADD_DISK.request?.(mirrored, body)
  expect(request?.body).toMatchObject({
    disks: [['add', -1, { size: 1024, 'resync-rate': 4096, 'dynamic-resync': true }]],
  })
  expect(request?.gnt).toContain('--disk add:size=1024,dynamic-resync=true,resync-rate=4096')
})

test('a disk is changed from its own values, which go back to those of the group, and not in how it was made', () => {
  const disk = { instance: mirrored, index: 1, name: null, size: 64 }
  const fields = [...fieldsOf(CHANGE_DISK.fields, disk), ...fieldsOf(CHANGE_DISK.others, disk)]
  const initial = Object.fromEntries(fields.map((field) => [field.name, field.initial]))
  expect(initial).toMatchObject({ 'resync-rate': 2048, 'c-max-rate': '', protocol: '' })
  expect(Object.keys(initial).filter((name) => name.includes('stripe'))).toEqual([])
  const request = CHANGE_DISK.request?.(disk, bodyOf(fields, { 'resync-rate': '', protocol: 'A' }))
  expect(request?.body).toEqual({ disks: [['modify', 1, { 'resync-rate': 'default', protocol: 'A' }]] })
})
