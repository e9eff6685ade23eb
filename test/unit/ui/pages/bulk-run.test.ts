// A run of the same action over many instances: what it asks for, what it waits for, and what it tells.
import {
  BulkRun,
  type Doors,
  FAILURES_TOLD_MAX,
  type Looked,
  LOOKED_AT_MAX,
} from '../../../../ui/src/pages/instances/bulk-run'

const WORDS = { failed: 'Failed', canceled: 'Cancelled', gone: 'Unknown' }

const namesOf = (count: number) => Array.from({ length: count }, (_, at) => `vm${at}`)

/** Jobs are numbered as they are submitted; `ends` says how each is. */
function runOver(count: number, ends: (id: number) => Omit<Looked, 'id'>, others: Partial<Doors> = {}) {
  const probes: number[][] = []
  let submitted = 0
  const doors: Doors = {
    submit: async (name) => {
      if (name === 'vm0') throw new Error('not so')
      return ++submitted
    },
    cleared: () => undefined,
    jobs: async (ids) => (probes.push([...ids]), ids.map((id) => ({ id, ...ends(id) }))),
    job: async () => undefined,
    ...others,
  }
  return { run: new BulkRun(namesOf(count), doors, WORDS), looks: probes }
}

test('a run over thousands asks once in a look, and never again for what has ended', async () => {
  const { run, looks: probes } = runOver(3 * LOOKED_AT_MAX, (id) => ({ status: id <= 600 ? 'success' : 'running' }))
  await run.start()
  expect([probes.length, run.get()]).toMatchObject([1, { over: false, done: 600 }])
  await run.look()
  const [first = [], second = []] = probes
  expect([first.length, second.length, second[0]]).toEqual([LOOKED_AT_MAX, LOOKED_AT_MAX, 601])
  expect(run.get()).toMatchObject({ done: 600, total: 3 * LOOKED_AT_MAX, failures: [{ name: 'vm0', why: 'not so' }] })
})

test('a run tells why the first have failed, how many the others are, and when it is over', async () => {
  const count = FAILURES_TOLD_MAX + 9
  const { run } = runOver(count, (id) =>
    id === 1 ? { status: 'canceled' } : { status: 'error', why: id === 2 ? undefined : `why ${id}` },
  )
  await run.start()
  const { over, failed, failures } = run.get()
  expect([over, failed, failures.length]).toEqual([true, count, FAILURES_TOLD_MAX])
  expect(failures.slice(0, 4).map(({ why }) => why)).toEqual(['not so', 'Cancelled', 'Failed', 'why 3'])
  expect(failures[3]).toMatchObject({ job: 3 })
})

test('a run tells of itself once for all that happens in a moment', async () => {
  const { run } = runOver(2000, () => ({ status: 'success' }))
  let times = 0
  const reported = new Promise<number>((resolve) => run.subscribe(() => (times++, resolve(run.get().done))))
  await run.start()
  await reported
  expect([times, run.get().done]).toEqual([1, LOOKED_AT_MAX])
})

test('jobs that were archived before anybody looked are asked for one by one, and end also when nobody knows how', async () => {
  const requested: number[] = []
  const { run } = runOver(5, () => ({ status: 'running' }), {
    jobs: async (ids) => ids.filter((id) => id === 1).map((id) => ({ id, status: 'success' })),
    job: async (id) => (requested.push(id), id === 4 ? undefined : { id, status: id === 2 ? 'success' : 'running' }),
  })
  await run.start()
  expect(requested).toEqual([2, 3, 4])
  expect(run.get()).toMatchObject({ over: false, done: 2, failed: 2 })
  expect(run.get().failures.at(-1)).toMatchObject({ job: 4, why: 'Unknown' })
})

test('what is in the way of all is waited for, and each is then submitted with the key that it had', async () => {
  const sent: (readonly [name: string, key: string])[] = []
  let clear: () => void = () => undefined
  const way = new Promise<void>((resolve) => (clear = resolve))
  const { run } = runOver(6, () => ({ status: 'success' }), {
    submit: async (name, key) => {
      sent.push([name, key])
      if (sent.length <= 4) throw new Error('away')
      if (name === 'vm1') throw new Error('not so')
      return sent.length
    },
    cleared: ({ message }: Error) => (message === 'away' ? way : undefined),
  })
  const running = run.start()
  await new Promise(setImmediate)
  expect([sent.length, run.get()]).toMatchObject([4, { done: 0, failed: 0, obstacle: 'away' }])
  clear()
  await running
  expect(run.get()).toMatchObject({
    over: true,
    done: 5,
    failures: [{ name: 'vm1', why: 'not so' }],
    obstacle: undefined,
  })
  const keys = sent.map(([name, key]) => `${name} ${key}`)
  expect([sent.length, new Set(keys).size, new Set(sent.map(([, key]) => key)).size]).toEqual([10, 6, 6])
})
