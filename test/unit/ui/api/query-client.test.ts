// The cache keeps answers of the server, and asks again.
import { environmentManager, QueryObserver } from '@tanstack/react-query'
import { Problem } from '../../../../ui/src/api/problem'
import { createQueryClient } from '../../../../ui/src/api/query-client'
import { MEASURED } from '../../../../ui/src/parts/charts/measured'

beforeEach(() => {
  jest.useFakeTimers()
  // Servers repeat nothing by themselves; this stands for a browser.
  environmentManager.setIsServer(() => false)
})
afterEach(() => {
  environmentManager.setIsServer(() => true)
  jest.useRealTimers()
})

test.each([
  [403, undefined],
  [409, 'seen'],
])('what was seen is still shown or not when the server refuses it with %i', async (status, displayed) => {
  const client = createQueryClient()
  const answers: (() => Promise<string>)[] = [
    () => Promise.resolve('seen'),
    () => Promise.reject(new Problem(status, 'no')),
  ]
  const queryFn = () => (answers.shift() ?? (() => Promise.reject(new Error('asked too often'))))()
  const observer = new QueryObserver(client, { queryKey: ['nodes', 'list'], queryFn })
  const leave = observer.subscribe(() => undefined)
  await jest.advanceTimersByTimeAsync(0)
  expect(observer.getCurrentResult().data).toBe('seen')
  await client.invalidateQueries()
  expect(observer.getCurrentResult()).toMatchObject({
    data: displayed,
    error: new Problem(status, 'no'),
    status: 'error',
  })
  leave()
})

test('measured values are asked for again each minute', async () => {
  const client = createQueryClient()
  let times = 0
  const queryFn = () => Promise.resolve(++times)
  const leave = new QueryObserver(client, { queryKey: ['metrics', 'node', 'node1'], queryFn, ...MEASURED }).subscribe(
    () => undefined,
  )
  await jest.advanceTimersByTimeAsync(5 * 60_000)
  expect(times).toBe(6)
  leave()
})
