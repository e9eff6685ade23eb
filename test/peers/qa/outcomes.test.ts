// The lists of what the tests of Ganeti's QA give here and with Ganeti itself, and what is made of them.
import { differences, readOutcomes, sideBySide, unexplained } from './outcomes'

const ran = (test: string, outcome: 'passes' | 'fails') => ({ test, outcome, seconds: 1 })

test('each test that passes with Ganeti passes here, or a reason is given', () => {
  const [theirs, ours] = [readOutcomes('ganeti'), readOutcomes('gantry')]
  expect(theirs.passes.length).toBeGreaterThan(0)
  expect(unexplained(theirs, ours)).toEqual([])
  expect(Object.entries(ours.fails).filter(([, reason]) => reason === '')).toEqual([])
})

test('one that has no reason to fail, or an empty one, is named', () => {
  const theirs = { passes: ['a', 'b', 'c', 'd'], fails: {} }
  const named = unexplained(theirs, { passes: ['a'], fails: { b: 'another release', c: '' } })
  expect(named.map((line) => line.split(' ')[0])).toEqual(['c', 'd'])
})

test('the list has what a test gives there and here, and why it fails here', () => {
  const theirs = { passes: ['a', 'b'], fails: { c: 'Error' } }
  const ours = { passes: ['a', 'c'], fails: { b: 'another release' } }
  const results = [ran('a', 'passes'), ran('b', 'fails'), ran('c', 'passes'), ran('d', 'passes')]
  expect(sideBySide(theirs, ours, results).slice(1)).toEqual([
    'passes  passes  a',
    'passes  fails   b: another release',
    'fails   passes  c',
    '-       passes  d',
  ])
  expect(differences(ours, results, false)).toEqual(['d passes, and is not in gantry-outcomes.json. '])
  expect(differences(ours, [ran('a', 'fails')], true)).toEqual(['a fails, and should be: passes. '])
})
