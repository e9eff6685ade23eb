// How often what a page shows is asked for anew while events come.
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { Changes, WITHOUT_INSTANCES } from '../../../../ui/src/api/changes'

/** Lists take `took_ms` to be answered. */
function pageWith(took_ms: Readonly<Record<string, number>> = {}) {
  const requested: string[] = []
  const busy = new Set<string>()
  const client = {
    getQueryCache: () => ({ findAll: () => [] }),
    isFetching: ({ queryKey: [resource] }: { queryKey: [string] }) => (busy.has(resource) ? 1 : 0),
    invalidateQueries: async ({ queryKey }: { queryKey?: [string, string, string?] }) => {
      if (queryKey === undefined) return
      requested.push(queryKey.filter(Boolean).join('/'))
      await new Promise((resolve) => setTimeout(resolve, took_ms[queryKey[0]] ?? 0))
    },
  }
  const changes = new Changes(client as unknown as ConstructorParameters<typeof Changes>[0])
  return { asked: requested, busy, changes }
}

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

const after = (ms: number) => jest.advanceTimersByTimeAsync(ms)

test('an object and the lists that it is in are asked for soon after its event, once for many events', async () => {
  const { asked: requested, changes } = pageWith()
  for (let n = 0; n < 50; n++) changes.note({ type: 'config', objects: ['instance/web1'] })
  await after(249)
  expect(requested).toEqual([])
  await after(1)
  expect(requested.toSorted()).toEqual([
    'events/list',
    'groups/list',
    'instances/list',
    'instances/one/web1',
    'nodes/list',
    'tags/list',
  ])
  await after(10_000)
  expect(requested).toHaveLength(6)
  changes.note({ type: 'job', objects: ['job/1'] })
  await after(10_000)
  expect(requested.slice(6).toSorted()).toEqual(['jobs/list', 'jobs/one/1', 'locks/list', 'locks/list'])
})

test('a list that changes all the time is asked for at most each second, and a slow one less often', async () => {
  const { asked: requested, changes } = pageWith({ instances: 2000 })
  const ends = setInterval(() => changes.note({ type: 'config', objects: ['instance/web1', 'node/node1'] }), 5)
  await after(20_000)
  clearInterval(ends)
  const times = (name: string) => requested.filter((one) => one === name).length
  expect(times('nodes/list')).toBe(20)
  // Two seconds of work, and six of rest.
  expect(times('instances/list')).toBe(3)
  changes.close()
})

test('the last change is not forgotten, and a list that is being asked for is let end first', async () => {
  const { asked: requested, busy, changes } = pageWith()
  busy.add('groups')
  changes.note({ type: 'config', objects: ['group/default'] })
  await after(2000)
  expect(requested).not.toContain('groups/list')
  busy.delete('groups')
  await after(1000)
  expect(requested).toContain('groups/list')
  changes.note({ type: 'config', objects: ['group/default'] })
  await after(1000)
  expect(requested.filter((one) => one === 'groups/list')).toHaveLength(2)
})

test('locks are asked for again a while after an event of a job, which requests its locks only then', async () => {
  const { asked: requested, changes } = pageWith()
  const locks = () => requested.filter((one) => one === 'locks/list').length
  changes.note({ type: 'job', objects: ['job/1'] })
  await after(2999)
  expect(locks()).toBe(1)
  await after(1000)
  expect(locks()).toBe(2)
  await after(60_000)
  expect(locks()).toBe(2)
})

test('nothing is asked for by a page that is closed', async () => {
  const { asked: requested, changes } = pageWith()
  changes.note({ type: 'config', objects: ['instance/web1'] })
  changes.close()
  await after(10_000)
  expect(requested).toEqual([])
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
  const requested: string[] = []
  const show = (name: string, answer: () => Promise<string>) => {
    const queryFn = () => {
      requested.push(name)
      return answer()
    }
    return new QueryObserver(client, { queryKey: [name, 'list'], queryFn }).subscribe(() => undefined)
  }
  const leave = [
    show('nodes', () => Promise.resolve('there')),
    show('groups', () => (requested.length > 2 ? Promise.resolve('there') : Promise.reject(new Error('away')))),
  ]
  await after(0)
  const changes = new Changes(client)
  changes.noteReturn()
  await after(0)
  expect([requested, client.getQueryData(['groups', 'list'])]).toEqual([['nodes', 'groups', 'groups'], 'there'])
  for (const end of leave) end()
})

/** A page with a real cache, which shows all of this and is answered at once; what it asks for anew after an event. */
async function askedAfter(
  note: (changes: Changes) => void,
  displayed: readonly (readonly string[])[],
): Promise<readonly string[]> {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } })
  const requested: string[] = []
  const leave = displayed.map((queryKey) => {
    const queryFn = () => requested.push(queryKey.join('/'))
    return new QueryObserver(client, { queryKey, queryFn }).subscribe(() => undefined)
  })
  await after(0)
  requested.length = 0
  const changes = new Changes(client)
  note(changes)
  await after(10_000)
  changes.close()
  for (const end of leave) end()
  return requested.toSorted()
}

test('what happens to a node is asked for where instances are shown, since it gives them their status', async () => {
  const displayed = [
    ['nodes', 'one', 'node1'],
    ['nodes', 'one', 'node2'],
    ['nodes', 'list'],
    ['instances', 'list'],
    ['instances', 'one', 'web1'],
    ['instances', 'one', 'web1', 'snapshots'],
    ['groups', 'one', 'default'],
    ['jobs', 'list'],
  ]
  expect(await askedAfter((changes) => changes.note({ type: 'node', objects: ['node/node1'] }), displayed)).toEqual([
    ...['instances/list', 'instances/one/web1', 'nodes/list', 'nodes/one/node1'],
  ])
  // All nodes have been asked.
  expect(await askedAfter((changes) => changes.note({ type: 'node', objects: ['cluster'] }), displayed)).toEqual([
    ...['instances/list', 'instances/one/web1', 'nodes/list'],
  ])
})

describe('a line of a log', () => {
  const line = (serial: number, message = `line ${serial}`) => ({
    ...{ job: 7, op: 1, serial, time: '2026-01-01T00:00:00Z', type: 'message', message },
  })
  const jobWith = (...serials: number[]) => {
    const log = serials.map((serial) => line(serial))
    return { id: 7, ops: [{ log: log.slice(0, 1) }, { log: log.slice(1) }] }
  }
  const KEY = ['jobs', 'one', '7']

  /** A page with the job and the lists that its lines concern, which counts what is asked for. */
  function page() {
    const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } })
    const requested: string[] = []
    const answers: (() => void)[] = []
    const show = (queryKey: readonly string[]) => {
      const queryFn = () => {
        requested.push(queryKey.join('/'))
        return new Promise((resolve) => answers.push(() => resolve(jobWith(1, 2))))
      }
      return new QueryObserver(client, { queryKey, queryFn }).subscribe(() => undefined)
    }
    for (const key of [KEY, ['jobs', 'list'], ['instances', 'one', 'web1']]) show(key)
    const changes = new Changes(client)
    return {
      ...{ asked: requested, changes },
      async answer() {
        for (const tell of answers.splice(0)) tell()
        await after(0)
        return requested.splice(0)
      },
      log(serial: number, message?: string) {
        changes.note({ type: 'log', objects: ['job/7', 'instance/web1'], line: line(serial, message) })
      },
      messages: () => client.getQueryData<ReturnType<typeof jobWith>>(KEY)?.ops[1]?.log.map(({ message }) => message),
    }
  }

  test('comes with its event: neither the job nor a list is asked for', async () => {
    const { answer, asked: requested, log, messages } = page()
    await answer()
    for (const serial of [2, 3, 4]) log(serial)
    await after(10_000)
    expect([messages(), requested]).toEqual([['line 2', 'line 3', 'line 4'], []])
    log(5)
    await after(10_000)
    expect([messages()?.at(-1), requested]).toEqual(['line 5', []])
  })

  test.each<[string, (log: (serial: number, message?: string) => void) => void]>([
    ['one before it is missing', (log) => log(4)],
    ['it is too long for an event', (log) => log(3, 'x'.repeat(4099))],
  ])('has its job asked for when %s', async (_, happen) => {
    const { answer, asked: requested, log, messages } = page()
    await answer()
    happen(log)
    await after(10_000)
    expect([messages(), requested]).toEqual([['line 2'], ['jobs/one/7']])
  })

  test('that comes while its job is asked for has it asked for once more', async () => {
    const { answer, asked: requested, log } = page()
    log(3)
    await after(1000)
    expect(requested.splice(0)).toEqual(['jobs/one/7', 'jobs/list', 'instances/one/web1'])
    expect(await answer()).toEqual(['jobs/one/7'])
  })
})

test('lists that count instances follow them, and others of the same kind do not', async () => {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } })
  const requested: string[] = []
  const show = (queryKey: readonly string[], meta?: typeof WITHOUT_INSTANCES) => {
    const queryFn = () => requested.push(queryKey.join('/'))
    return new QueryObserver(client, { queryKey, queryFn, meta }).subscribe(() => undefined)
  }
  const leave = [
    ...[show(['nodes', 'list', 'picture']), show(['nodes', 'list', 'flags'], WITHOUT_INSTANCES)],
    ...[show(['groups', 'list']), show(['groups', 'list', 'names'], WITHOUT_INSTANCES)],
  ]
  await after(0)
  requested.length = 0
  const changes = new Changes(client)
  changes.note({ type: 'instance', objects: ['instance/web1'] })
  await after(10_000)
  expect(requested.toSorted()).toEqual(['groups/list', 'nodes/list/picture'])
  changes.note({ type: 'instance', objects: ['instance/web1'] })
  changes.note({ type: 'node', objects: ['node/node1'] })
  await after(10_000)
  expect(requested.slice(2).toSorted()).toEqual([
    ...['groups/list', 'groups/list/names', 'nodes/list/flags', 'nodes/list/picture'],
  ])
  changes.close()
  for (const end of leave) end()
})

test('a list of which no object is told follows the jobs that change it, and the tokens their events', async () => {
  const displayed = [
    ['exports', 'list'],
    ['tokens', 'list'],
  ]
  const event = (type: string, object: string, ended: readonly string[] = []) =>
    askedAfter((changes) => changes.note({ type, objects: [object], ended }), displayed)
  expect(await event('job', 'job/7', ['OP_BACKUP_REMOVE'])).toEqual(['exports/list'])
  expect(await event('job', 'job/7', ['OP_BACKUP_EXPORT'])).toEqual(['exports/list'])
  expect(await event('job', 'job/7', ['OP_INSTANCE_STARTUP'])).toEqual([])
  expect(await event('config', 'token/a')).toEqual(['tokens/list'])
})

test('all nodes are asked for their reports after events of nodes, and not for each', async () => {
  const displayed = [['monitoring', 'list']]
  const flapping = (type: string, object: string) => (changes: Changes) => {
    const ends = setInterval(() => changes.note({ type, objects: [object] }), 100)
    setTimeout(() => clearInterval(ends), 9000)
  }
  expect(await askedAfter(flapping('node', 'node/node1'), displayed)).toHaveLength(1)
  expect(await askedAfter(flapping('watcher', 'cluster'), displayed)).toHaveLength(1)
  expect(await askedAfter(flapping('gap', ''), displayed)).toHaveLength(1)
  expect(await askedAfter(flapping('job', 'node/node1'), displayed)).toEqual([])
  expect(await askedAfter(flapping('config', 'instance/web1'), displayed)).toEqual([])
})

test('an object that changes while it is asked for is asked for once more, however often it changed', async () => {
  const { answers, leave, changes } = pageOf(['nodes', 'one', 'node1'])
  for (let n = 0; n < 3; n++) {
    changes.note({ type: 'config', objects: ['node/node1'] })
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
