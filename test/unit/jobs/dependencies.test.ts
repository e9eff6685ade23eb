// How jobs name the jobs that they wait for.
import { resolveRelative } from '../../../src/jobs/dependencies'

const op = (...ids: number[]) => ({ OP_ID: 'OP_TEST_DELAY', depends: ids.map((id) => [id, ['success']]) })

test('a negative number counts back from the job itself', () => {
  expect(resolveRelative(op(-1, -2, 5), 9)).toEqual(op(8, 7, 5))
  expect(() => resolveRelative(op(-9), 9)).toThrow('relative job id -9 in job 9 points before the first job')
})

test('a job 0 is one that does not exist, as the job itself finds out', () => {
  expect(resolveRelative(op(0), 9)).toEqual(op(0))
})
