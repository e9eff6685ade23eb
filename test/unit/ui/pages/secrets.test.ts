// What people type that nobody else shall see is neither shown, nor kept for longer than it is needed.
import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement, type FunctionComponent } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { consoleModule } from '../../../support/console-actions'
import { consoleServer } from '../../../support/console-server'

consoleServer(() => [200, {}])

interface Draft {
  readonly form: {
    readonly typed: Readonly<Record<string, unknown>>
    readonly isSecret: boolean
    change(name: string, value: unknown): void
  }
  keep(this: void, key: string): void
  forget(this: void): void
}
const { useDraft } = consoleModule<{ useDraft(source: object, again?: string): Draft }>('pages/instances/use-draft.ts')
const { CopyAs } = consoleModule<{ CopyAs: FunctionComponent<{ request: object; secret: boolean }> }>(
  'parts/copy-as.tsx',
)

/** The form for a new instance, after something was typed into one of its fields. */
function draftWith(typed: Readonly<Record<string, unknown>>, again?: string): Draft {
  const drafts: Draft[] = []
  const Probe = () => {
    const draft = useDraft({ kind: 'new' }, again)
    for (const [name, value] of Object.entries(typed))
      if (draft.form.typed[name] === undefined) draft.form.change(name, value)
    drafts.push(draft)
    return null
  }
  renderToStaticMarkup(createElement(QueryClientProvider, { client: new QueryClient() }, createElement(Probe)))
  const last = drafts.at(-1)
  if (last === undefined) throw new Error('nothing was drawn')
  return last
}

const SECRET = { osparams_secret: { key: 'hunter2' } }

test('a form that is opened again has what was typed in its own first try, until it is submitted', () => {
  draftWith(SECRET).keep('1')
  draftWith({ instance_name: 'web2' }).keep('2')
  expect([draftWith({}, '1').form.typed, draftWith({}, '2').form.typed]).toEqual([SECRET, { instance_name: 'web2' }])
  draftWith({}, '1').forget()
  expect([draftWith({}, '1').form.typed, draftWith({}, '2').form.typed]).toEqual([{}, { instance_name: 'web2' }])
  expect(draftWith({}).form.typed).toEqual({})
})

test('a form says whether something secret was typed', () => {
  expect([{}, { instance_name: 'web1' }, SECRET].map((typed) => draftWith(typed).form.isSecret)).toEqual([
    ...[false, false, true],
  ])
})

test('what is copied for a script is shown beforehand, except where it is secret', () => {
  const request = { method: 'POST', path: '/3/instances', body: SECRET, gnt: 'gnt instance add --secret=hunter2' }
  const drawn = (secret: boolean) =>
    renderToStaticMarkup(createElement(MantineProvider, null, createElement(CopyAs, { request, secret })))
  expect([drawn(false).split('hunter2').length, drawn(true).split('hunter2').length]).toEqual([3, 1])
})
