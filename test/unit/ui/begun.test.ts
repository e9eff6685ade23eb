// What was begun in the console stays in sight until it has ended well or its user has seen how it failed.
import { ECODE } from '../../../src/model/errors'
import { begunStore } from '../../../ui/src/parts/begun'
import { BulkRun, LOOKED_AT_MAX, REASONS_MAX } from '../../../ui/src/pages/instances/bulk-run'
import { consoleModule } from '../../support/console-actions'

function storage() {
  const kept = new Map<string, string>()
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => void kept.set(key, text),
  }
}

const job = (id: number) => ({ id, label: `Job ${id}`, user: 'anna' })

test('no job is pushed out by those that follow, and all are there when the page is loaded again', () => {
  const tab = storage()
  const store = begunStore(tab)
  for (let id = 1; id <= 20; id++) store.addJob({ ...job(id), again: () => undefined })
  store.hideJob(7)
  const ids = store.get().jobs.map(({ id }) => id)
  expect(ids).toHaveLength(19)
  expect(begunStore(tab).get().jobs).toEqual(ids.map(job))
})

test('a window that keeps nothing, or something else, shows what is begun from now on', () => {
  const broken = { getItem: () => '{"odd": [', setItem: () => { throw new Error('full') } } // prettier-ignore
  for (const kept of [broken, undefined]) {
    const store = begunStore(kept)
    store.addJob(job(1))
    expect(store.get().jobs).toEqual([job(1)])
  }
})

test('a job that failed says the way out for every kind of refusal', () => {
  type Failure = { adviceForJob(error: object): string }
  const { adviceForJob } = consoleModule<Failure>('parts/job-failure.tsx')
  const told = Object.values(ECODE).map((code) =>
    adviceForJob({ class: 'OpPrereqError', message: '', args: ['', code] }),
  )
  const otherwise = adviceForJob({ class: 'Unheard', message: '', args: [] })
  expect(new Set([...told, otherwise]).size).toBe(told.length + 1)
  expect(adviceForJob({ class: 'OpExecError', message: '', args: ['x'] })).not.toBe(otherwise)
})

type Job = Awaited<ReturnType<ConstructorParameters<typeof BulkRun>[1]['jobs']>>[number]

const WORDS = { failed: 'Failed', canceled: 'Cancelled' }

/** Jobs are numbered as they are submitted; `ends` says how each is. */
function runOver(count: number, ends: (id: number) => string) {
  const looks: number[][] = []
  const reasons: number[] = []
  let submitted = 0
  const run = new BulkRun(
    Array.from({ length: count }, (_, at) => `vm${at}`),
    {
      submit: async (name) => {
        if (name === 'vm0') throw new Error('not so')
        return ++submitted
      },
      jobs: async (ids) => (looks.push([...ids]), ids.map((id) => ({ id, status: ends(id) }) as Job)),
      reason: async (id) => (reasons.push(id), id === 2 ? undefined : `why ${id}`),
    },
    WORDS,
  )
  return { run, looks, reasons }
}

test('a run over thousands asks once in a look, and never again for what has ended', async () => {
  const { run, looks } = runOver(3 * LOOKED_AT_MAX, (id) => (id <= 600 ? 'success' : 'running'))
  await run.start()
  expect([looks.length, run.get()]).toMatchObject([1, { submitted: true, over: false, done: 600 }])
  await run.look()
  const [first = [], second = []] = looks
  expect([first.length, second.length, second[0]]).toEqual([LOOKED_AT_MAX, LOOKED_AT_MAX, 601])
  expect(run.get()).toMatchObject({ done: 600, total: 3 * LOOKED_AT_MAX, failures: [{ name: 'vm0', why: 'not so' }] })
})

test('a run tells why each has failed, as far as that can be asked for, and when it is over', async () => {
  const { run, reasons } = runOver(REASONS_MAX + 9, (id) => (id === 1 ? 'canceled' : 'error'))
  const seen: number[] = []
  run.subscribe(() => seen.push(run.get().failures.length))
  await run.start()
  const { over, failures } = run.get()
  expect([over, failures.length, reasons.length]).toEqual([true, REASONS_MAX + 9, REASONS_MAX])
  expect(failures.slice(0, 3).map(({ why }) => why)).toEqual(['not so', 'why 1', 'Failed'])
  expect(failures.at(-1)).toMatchObject({ job: REASONS_MAX + 8, why: 'Failed' })
  expect(seen.at(-1)).toBe(failures.length)
})
