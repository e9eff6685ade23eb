// A page asks again and again while no events come.
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import type { Connection } from '../../../../ui/src/api/event-stream'
import { askWithoutEvents } from '../../../../ui/src/api/without-events'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

const SHOWN = {
  group: ['groups', 'list'],
  'job at work': ['jobs', 'one', '1'],
  'ended job': ['jobs', 'one', '2'],
  'begun for many': ['jobs', 'list', 'bulk', 'x'],
}

function pageWith(connection: Connection, isSeen = true) {
  const page = { connection, isSeen, isSignedIn: true }
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } })
  const times: Record<string, number> = {}
  const leave = Object.entries(SHOWN).map(([name, queryKey]) => {
    const queryFn = () => {
      times[name] = (times[name] ?? -1) + 1
      return Promise.resolve({ ended: name === 'ended job' ? '2026-01-01T00:00:00Z' : null })
    }
    return new QueryObserver(client, { queryKey, queryFn }).subscribe(() => undefined)
  })
  const stop = askWithoutEvents(client, {
    connection: () => page.connection,
    isSeen: () => page.isSeen,
    isSignedIn: () => page.isSignedIn,
  })
  return {
    ...{ page, times },
    /** How often each was asked for, beside the first time. */
    async during(ms: number) {
      for (const name of Object.keys(times)) times[name] = 0
      await jest.advanceTimersByTimeAsync(ms)
      return times
    },
    close: () => [stop, ...leave].forEach((end) => end()),
  }
}

test('nothing is asked for while events come, nor by a page that nobody looks at', async () => {
  const live = pageWith('live')
  expect(Object.values(await live.during(600_000))).toEqual([0, 0, 0, 0])
  live.close()
  const unseen = pageWith('denied', false)
  expect(Object.values(await unseen.during(600_000))).toEqual([0, 0, 0, 0])
  unseen.close()
})

test('nothing is asked for after the session is over, and all again when somebody has signed in', async () => {
  const { page, during, close } = pageWith('denied')
  page.isSignedIn = false
  expect(Object.values(await during(600_000))).toEqual([0, 0, 0, 0])
  page.isSignedIn = true
  expect(await during(60_000)).toMatchObject({ group: 2, 'job at work': 12 })
  close()
})

test('jobs that somebody waits for are, while there are none, and no longer when they are back', async () => {
  const { page, during, close } = pageWith('live')
  page.connection = 'lost'
  expect(await during(60_000)).toEqual({
    ...{ group: 0, 'job at work': 12, 'ended job': 0, 'begun for many': 12 },
  })
  page.connection = 'live'
  expect(Object.values(await during(60_000))).toEqual([0, 0, 0, 0])
  close()
})

test('who may not see events gets all that is shown anew now and then', async () => {
  const { during, close } = pageWith('denied')
  expect(await during(60_000)).toEqual({ group: 2, 'job at work': 12, 'ended job': 2, 'begun for many': 12 })
  close()
})
