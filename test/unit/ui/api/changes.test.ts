// How often what a page shows is asked for anew while events come.
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { Changes } from '../../../../ui/src/api/changes'

/** Lists take `took_ms` to be answered. */
function pageWith(took_ms: Readonly<Record<string, number>> = {}) {
  const asked: string[] = []
  const busy = new Set<string>()
  const client = {
    getQueryCache: () => ({ findAll: () => [] }),
    isFetching: ({ queryKey: [resource] }: { queryKey: [string] }) => (busy.has(resource) ? 1 : 0),
    invalidateQueries: async ({ queryKey }: { queryKey?: [string, string, string?] }) => {
      if (queryKey === undefined) return
      asked.push(queryKey.filter(Boolean).join('/'))
      await new Promise((resolve) => setTimeout(resolve, took_ms[queryKey[0]] ?? 0))
    },
  }
  const changes = new Changes(client as unknown as ConstructorParameters<typeof Changes>[0])
  return { asked, busy, changes }
}

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

const after = (ms: number) => jest.advanceTimersByTimeAsync(ms)

test('an object and the lists that it is in are asked for soon after its event, once for many events', async () => {
  const { asked, changes } = pageWith()
  for (let n = 0; n < 50; n++) changes.note('config', ['instance/web1'])
  await after(249)
  expect(asked).toEqual([])
  await after(1)
  expect(asked.toSorted()).toEqual(['events/list', 'instances/list', 'instances/one/web1', 'tags/list'])
  await after(10_000)
  expect(asked).toHaveLength(4)
  changes.note('log', ['job/1'])
  await after(10_000)
  expect(asked.slice(4).toSorted()).toEqual(['jobs/list', 'jobs/one/1', 'locks/list'])
})

test('a list that changes all the time is asked for at most each second, and a slow one less often', async () => {
  const { asked, changes } = pageWith({ instances: 2000 })
  const ends = setInterval(() => changes.note('config', ['instance/web1', 'node/node1']), 5)
  await after(20_000)
  clearInterval(ends)
  const times = (name: string) => asked.filter((one) => one === name).length
  expect(times('nodes/list')).toBe(20)
  // Two seconds of work, and six of rest.
  expect(times('instances/list')).toBe(3)
  changes.close()
})

test('the last change is not forgotten, and a list that is being asked for is let end first', async () => {
  const { asked, busy, changes } = pageWith()
  busy.add('groups')
  changes.note('config', ['group/default'])
  await after(2000)
  expect(asked).not.toContain('groups/list')
  busy.delete('groups')
  await after(1000)
  expect(asked).toContain('groups/list')
  changes.note('config', ['group/default'])
  await after(1000)
  expect(asked.filter((one) => one === 'groups/list')).toHaveLength(2)
})

test('nothing is asked for by a page that is closed', async () => {
  const { asked, changes } = pageWith()
  changes.note('config', ['instance/web1'])
  changes.close()
  await after(10_000)
  expect(asked).toEqual([])
})

/** A page with a real cache, which shows one thing; each answer tells how often that was asked for. */
function pageOf(queryKey: readonly string[]) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } })
  const answers: (() => void)[] = []
  const queryFn = () => new Promise<number>((resolve) => answers.push(() => resolve(answers.length)))
  const leave = new QueryObserver(client, { queryKey, queryFn }).subscribe(() => undefined)
  return { client, answers, leave, changes: new Changes(client) }
}

test('after a stream has begun, what was asked for before is asked for again, also what is on the way', async () => {
  const { client, answers, leave, changes } = pageOf(['groups', 'list'])
  changes.noteAll()
  await after(0)
  expect(answers).toHaveLength(1)
  answers[0]?.()
  await after(0)
  expect(answers).toHaveLength(2)
  answers[1]?.()
  await after(0)
  expect(client.getQueryData(['groups', 'list'])).toBe(2)
  changes.noteAll()
  await after(0)
  expect(answers).toHaveLength(3)
  leave()
})

test('when the server is back, what failed is asked for again, and nothing else', async () => {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity, retry: false } } })
  const asked: string[] = []
  const show = (name: string, answer: () => Promise<string>) => {
    const queryFn = () => {
      asked.push(name)
      return answer()
    }
    return new QueryObserver(client, { queryKey: [name, 'list'], queryFn }).subscribe(() => undefined)
  }
  const leave = [
    show('nodes', () => Promise.resolve('there')),
    show('groups', () => (asked.length > 2 ? Promise.resolve('there') : Promise.reject(new Error('away')))),
  ]
  await after(0)
  const changes = new Changes(client)
  changes.noteReturn()
  await after(0)
  expect([asked, client.getQueryData(['groups', 'list'])]).toEqual([['nodes', 'groups', 'groups'], 'there'])
  for (const end of leave) end()
})

test('an object that changes while it is asked for is asked for once more, however often it changed', async () => {
  const { answers, leave, changes } = pageOf(['nodes', 'one', 'node1'])
  for (let n = 0; n < 3; n++) {
    changes.note('config', ['node/node1'])
    await after(250)
  }
  expect(answers).toHaveLength(1)
  answers[0]?.()
  await after(250)
  expect(answers).toHaveLength(2)
  answers[1]?.()
  await after(10_000)
  expect(answers).toHaveLength(2)
  changes.close()
  leave()
})
