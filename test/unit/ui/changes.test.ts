// How often what a page shows is asked for anew while events come.
import { Changes } from '../../../ui/src/api/changes'

/** Lists take `took_ms` to be answered. */
function pageWith(took_ms: Readonly<Record<string, number>> = {}) {
  const asked: string[] = []
  const busy = new Set<string>()
  const client = {
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
  expect(asked.toSorted()).toEqual(['instances/list', 'instances/one/web1', 'tags/list'])
  await after(10_000)
  expect(asked).toHaveLength(3)
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
