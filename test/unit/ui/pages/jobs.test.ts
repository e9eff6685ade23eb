// What the console's page of a job tells beside its state.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement, type FunctionComponent } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { allOpcodes } from '../../../../src/opcodes/all'
import { jobList, multiAllocation } from '../../../../src/opcodes/types'
import { consoleModule } from '../../../support/console-actions'
import { dependenciesOf, reasonsOf, tokenOf, userOf } from '../../../../ui/src/pages/jobs/trail'
import { submittedOf } from '../../../../ui/src/parts/submitted'
import { ownersOf, pendingOf, waitingFor } from '../../../../ui/src/pages/jobs/waits'

type Job = Parameters<typeof userOf>[0]

const job = (input: object, result: unknown = null) =>
  ({ id: 9, ops: [{ OP_ID: 'OP_TEST_DELAY', input, result }] }) as unknown as Job

test('the reason trail tells who has submitted a job, with which token, and why', () => {
  const reason = [
    ['gantry:user', 'anna', 1],
    ['gantry:token', 't1', 1],
    ['gnt:user', 'new disk', 2],
    ['gnt:opcode:test_delay', 'job=9;index=0', 3],
  ]
  const reported = job({ reason })
  expect([userOf(reported), tokenOf(reported), reasonsOf(reported)]).toEqual(['anna', 't1', ['new disk']])
  expect([userOf(job({})), tokenOf(job({ reason: 'nonsense' })), reasonsOf(job({ reason: [1] }))]).toEqual([
    ...[undefined, undefined, []],
  ])
})

test('dependencies are told once, and numbers that count from the job itself are left out', () => {
  const depends = [[3, ['success']], [3, ['success']], [-1, []], [4, []], 'nonsense']
  expect(dependenciesOf(job({ depends }))).toEqual([
    { job: 3, statuses: ['success'] },
    { job: 4, statuses: [] },
  ])
})

test('jobs that an opcode has submitted are told, and those that were refused are not', () => {
  const jobs = [
    [true, 10],
    [false, 'the queue is full'],
    [true, 11],
  ]
  expect(submittedOf(job({}, { jobs }))).toEqual([10, 11])
  expect(submittedOf(job({}, ['other']))).toEqual([])
})

test('owners and those who wait are jobs by their numbers, and others by their names', () => {
  const lock = {
    owner: ['7', '"watcher"'],
    pending: [
      ['exclusive', ['9']],
      ['shared', ['"luxid"', 'no JSON']],
    ],
  }
  expect(ownersOf(lock)).toEqual([7, 'watcher'])
  expect(pendingOf(lock)).toEqual([
    { mode: 'exclusive', holders: [9] },
    { mode: 'shared', holders: ['luxid', 'no JSON'] },
  ])
  expect(waitingFor(lock)).toEqual([9, 'luxid', 'no JSON'])
  expect([ownersOf({}), waitingFor({ pending: null })]).toEqual([[], []])
})

test('the jobs about an object are asked for by it, and not sought among the last of all', () => {
  type Recent = { recentFilter(desired: { about?: string; status?: string[] }): string | undefined }
  const { recentFilter } = consoleModule<Recent>('pages/jobs/recent-jobs.tsx')
  expect(recentFilter({})).toBe(undefined)
  expect(JSON.parse(recentFilter({ about: 'node/n1', status: ['error'] }) ?? '')).toEqual([
    ...['&', ['=[]', 'objects', 'node/n1'], ['|', ['==', 'status', 'error']]],
  ])
})

const { submits } = consoleModule<{ submits(job: object): boolean }>('parts/outcome.ts')
const { ListedOutcome } = consoleModule<{ ListedOutcome: FunctionComponent<{ job: object }> }>('parts/use-outcome.tsx')

const lists: readonly unknown[] = [jobList, multiAllocation]

test('the console knows all jobs that submit others', () => {
  const all = [...allOpcodes.values()].filter(({ testOnly }) => !testOnly)
  const known = all.filter(({ id }) => submits({ ops: [{ summary: `${id.slice(3)}(x)` }] }))
  const theirs = all.filter(({ result }) => lists.includes(result))
  expect(known.map(({ id }) => id).sort()).toEqual(theirs.map(({ id }) => id).sort())
})

test('a list says how far an evacuation is, and not only that its first job has ended', () => {
  const evacuation = { id: 1, status: 'success', ops: [{ summary: 'NODE_EVACUATE(node1)' }] }
  const jobs = [2, 3].map((id) => [true, id])
  const displayed = (...statuses: readonly string[]) => {
    const client = new QueryClient()
    const put = (id: number, data: object) => client.setQueryData(['jobs', 'one', String(id)], data)
    put(1, { ...evacuation, ops: [{ ...evacuation.ops[0], result: { jobs } }] })
    statuses.forEach((status, at) => put(at + 2, { id: at + 2, status, ops: [] }))
    const outcome = createElement(ListedOutcome, { job: evacuation })
    return renderToStaticMarkup(createElement(QueryClientProvider, { client }, outcome)).replaceAll(/<[^>]*>/g, '')
  }
  expect(displayed('success', 'running')).toBe('1 of 2 moved')
  expect(displayed('success', 'error')).toBe('1 of 2 failed')
  expect(displayed('success', 'success')).toBe('Done: 2 of 2 moved')
  expect(displayed()).toBe('Done')
})
