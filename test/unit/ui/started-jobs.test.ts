// What was begun in the console stays in sight until it has ended well or its user has seen how it failed.
import { ECODE } from '../../../src/model/errors'
import { begunStore, JOBS_MAX } from '../../../ui/src/parts/started-jobs'
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
  for (let id = 1; id <= JOBS_MAX; id++) store.addJob({ ...job(id), again: () => undefined })
  store.hideJob(7)
  const ids = store.get().jobs.map(({ id }) => id)
  expect(ids).toHaveLength(JOBS_MAX - 1)
  expect(begunStore(tab).get().jobs).toEqual(ids.map(job))
})

test('what was typed for a job is forgotten when it has ended well, and kept for another try until then', () => {
  const store = begunStore(undefined)
  for (const id of [1, 2]) store.addJob({ ...job(id), again: () => undefined })
  store.noteSuccess(1)
  expect(store.get().jobs.map(({ id, again }) => [id, again === undefined])).toEqual([
    [1, true],
    [2, false],
  ])
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
  const reported = Object.values(ECODE).map((code) =>
    adviceForJob({ class: 'OpPrereqError', message: '', args: ['', code] }),
  )
  const otherwise = adviceForJob({ class: 'Unheard', message: '', args: [] })
  expect(new Set([...reported, otherwise]).size).toBe(reported.length + 1)
  expect(adviceForJob({ class: 'OpExecError', message: '', args: ['x'] })).not.toBe(otherwise)
})
