// Times, and how long ago they were, which goes on by itself: each is told with its date and zone.
import { readFileSync } from 'node:fs'
import * as path from 'node:path'
import { createElement, type FunctionComponent } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { ticker } from '../../../../ui/src/parts/ticker'
import { consoleFiles, consoleModule, UI } from '../../../support/console-actions'

type Component = FunctionComponent<{ time: string | null }>
const { Ago, Clock, Time } = consoleModule<Record<'Ago' | 'Clock' | 'Time', Component>>('parts/time.tsx')
const drawn = (time: string | null, how = Ago) => renderToStaticMarkup(createElement(how, { time }))

beforeEach(() => jest.useFakeTimers({ now: Date.parse('2026-05-04T12:00:00Z') }))
afterEach(() => jest.useRealTimers())

test('the time is there for programs, and for people with its date and zone', () => {
  const time = '2026-05-04T10:00:00Z'
  for (const how of [Ago, Clock, Time]) {
    const [, title = ''] = /title="([^"]*)"/.exec(drawn(time, how)) ?? []
    expect(drawn(time, how)).toContain(`<time dateTime="${time}"`)
    expect(title).toMatch(/^2026-05-0\d \d\d:\d\d:00 \S+$/)
    expect(drawn(null, how)).toBe('–')
  }
  expect(drawn(time)).toContain('>2 h ago<')
  expect(drawn(time, Clock)).toMatch(/>\d\d:\d\d:00</)
})

test('one timer ticks for all that is shown, and stops with the last of them', () => {
  const reported: string[] = []
  const leave = ['a', 'b'].map((name) =>
    ticker.subscribe(() => reported.push(`${name} ${drawn('2026-05-04T11:59:00Z')}`)),
  )
  expect(jest.getTimerCount()).toBe(1)
  jest.advanceTimersByTime(60_000)
  expect(reported.map((text) => text.replaceAll(/<.*?>/g, ''))).toEqual([
    ...['a 2 min ago', 'b 2 min ago'],
    ...['a 2 min ago', 'b 2 min ago'],
  ])
  for (const one of leave) one()
  expect(jest.getTimerCount()).toBe(0)
})

/** The component itself, and texts that the console does not draw as parts of a page. */
const WITHOUT = ['format/time.ts', 'parts/time.tsx', 'parts/charts/plot.tsx', 'pages/maintenance/maintenance-page.tsx']

test('no page shows a time in another way', () => {
  const odd = consoleFiles().filter((file) =>
    /\b(timeText|agoText|secondText)\(/.test(readFileSync(path.join(UI, file), 'utf8')),
  )
  expect(odd.sort()).toEqual([...WITHOUT].sort())
})
