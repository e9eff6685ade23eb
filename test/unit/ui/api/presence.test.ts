// Which requests of a page tell the server that somebody is there.
import { Presence } from '../../../../ui/src/api/presence'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

function pageThatTells() {
  const reported: boolean[] = []
  const presence: Presence = new Presence(() => void reported.push(isUse()))
  const isUse = () => {
    const headers = new Headers()
    presence.mark(headers)
    return headers.get('X-Unattended') === null
  }
  return { presence, isUse, told: reported }
}

test('the first request of a page, and the first after each gesture, are use; all others are its own', () => {
  const { presence, isUse } = pageThatTells()
  expect([isUse(), isUse(), isUse()]).toEqual([true, false, false])
  presence.use()
  presence.use()
  expect([isUse(), isUse()]).toEqual([true, false])
})

test('whoever does nothing that asks for something is told of after a while, and nobody else', () => {
  const { presence, isUse, told: reported } = pageThatTells()
  isUse()
  jest.advanceTimersByTime(600_000)
  expect(reported).toEqual([])
  presence.use()
  jest.advanceTimersByTime(30_000)
  presence.use()
  jest.advanceTimersByTime(30_000)
  expect(reported).toEqual([true])
  presence.use()
  expect(isUse()).toBe(true)
  jest.advanceTimersByTime(600_000)
  expect(reported).toEqual([true])
})

test('gestures are those of people, not of scripts', () => {
  const { presence, isUse } = pageThatTells()
  isUse()
  const received = new Map<string, (event: Pick<Event, 'isTrusted'>) => void>()
  const listen = (type: string, hear: (event: Pick<Event, 'isTrusted'>) => void) => void received.set(type, hear)
  presence.watch({ addEventListener: listen })
  for (const isTrusted of [false, true])
    for (const hear of received.values()) {
      hear({ isTrusted })
      expect(isUse()).toBe(isTrusted)
    }
  expect([...received.keys()]).toEqual(['pointerdown', 'keydown', 'wheel'])
})
