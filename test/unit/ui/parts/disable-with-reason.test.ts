// A refused button can be reached, and says why it is refused.
import { MantineProvider } from '@mantine/core'
import { createElement, type FunctionComponent } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { consoleModule } from '../../../support/console-actions'

interface Props {
  readonly whyNot: string | undefined
  readonly title?: string
  readonly children?: string
}
const { RefusableButton, RefusableIcon } = consoleModule<Record<string, FunctionComponent<Props>>>(
  'parts/disable-with-reason.tsx',
)

const tagOf = (component: FunctionComponent<Props> | undefined, whyNot?: string): string => {
  if (component === undefined) throw new Error('there is no such button')
  const props = { whyNot, title: 'Removes it', children: 'Remove' }
  const drawn = renderToStaticMarkup(createElement(MantineProvider, null, createElement(component, props)))
  return /<button[^>]*>/.exec(drawn)?.[0] ?? ''
}

test.each([
  ['a button', RefusableButton],
  ['an icon', RefusableIcon],
])('%s that is refused takes the focus, and has the reason', (_, component) => {
  expect(tagOf(component, 'You need the permission x')).toMatch(/aria-description="You need the permission x"/)
  expect(tagOf(component, 'no')).toContain('aria-disabled="true"')
  expect(tagOf(component, 'no')).not.toMatch(/ disabled|title=|tabindex/)
  expect(tagOf(component)).toContain('title="Removes it"')
  expect(tagOf(component)).not.toContain('aria-d')
})
