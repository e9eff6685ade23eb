// How long ago something was: it goes on by itself, and the time is told with its date and zone.
import { createElement, type FunctionComponent } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { ticker } from '../../../../ui/src/parts/ticker'
import { consoleModule } from '../../../support/console-actions'

const { Ago } = consoleModule<{ Ago: FunctionComponent<{ time: string | null }> }>('parts/ago.tsx')
const drawn = (time: string | null) => renderToStaticMarkup(createElement(Ago, { time }))

beforeEach(() => jest.useFakeTimers({ now: Date.parse('2026-05-04T12:00:00Z') }))
afterEach(() => jest.useRealTimers())

test('the time is there for programs, and for people with its date and zone', () => {
  const time = '2026-05-04T10:00:00Z'
  const [, title = ''] = /title="([^"]*)"/.exec(drawn(time)) ?? []
  expect(drawn(time)).toContain(`<time dateTime="${time}"`)
  expect(drawn(time)).toContain('2 h ago')
  expect(title).toMatch(/^2026-05-0\d \d\d:\d\d:00 \S+$/)
  expect(drawn(null)).toBe('–')
})

test('one timer ticks for all that is shown, and stops with the last of them', () => {
  const told: string[] = []
  const leave = ['a', 'b'].map((name) => ticker.subscribe(() => told.push(`${name} ${drawn('2026-05-04T11:59:00Z')}`)))
  expect(jest.getTimerCount()).toBe(1)
  jest.advanceTimersByTime(60_000)
  expect(told.map((text) => text.replaceAll(/<.*?>/g, ''))).toEqual([
    ...['a 2 min ago', 'b 2 min ago'],
    ...['a 2 min ago', 'b 2 min ago'],
  ])
  for (const one of leave) one()
  expect(jest.getTimerCount()).toBe(0)
})
