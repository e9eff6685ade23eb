// Which of two sides has the newer data. Both decide for themselves, so they must come to the same.
import * as fc from 'fast-check'
import { type Side, decideResync } from '../../../../src/node/mirror/resync-decision'
import { checkProperty } from '../../../support/effort'

const side = (changes: Partial<Side> = {}): Side => ({
  ...{ current: 'g1', base: '', history: [], consistent: true },
  ...{ primary: false, crashed: false, dual: false, address: 'a', ...changes },
})
const other = (changes: Partial<Side> = {}) => side({ address: 'b', ...changes })

test.each([
  ['both have the same', side(), other(), { kind: 'same' }],
  [
    'nobody has written yet',
    side({ current: '', consistent: false }),
    other({ current: '', consistent: false }),
    { kind: 'same' },
  ],
  ['one is new', side(), other({ current: '', consistent: false }), { kind: 'source', all: true }],
  ['one was left behind', side({ current: 'g2', base: 'g1' }), other(), { kind: 'source', all: false }],
  [
    'one was left behind when it died',
    side({ current: 'g2', base: 'g1' }),
    other({ crashed: true }),
    { kind: 'source', all: true },
  ],
  [
    'one died after it had left the other behind',
    side({ current: 'g2', base: 'g1', crashed: true }),
    other(),
    { kind: 'source', all: true },
  ],
  [
    'one was left behind long ago',
    side({ current: 'g3', base: 'g2', history: ['g1'] }),
    other(),
    { kind: 'source', all: true },
  ],
  ['one died while it was written to', side(), other({ crashed: true }), { kind: 'target', all: true }],
  [
    'one died, and the other is written to now',
    side({ primary: true }),
    other({ crashed: true }),
    { kind: 'source', all: true },
  ],
  ['an overwriting was interrupted', side(), other({ consistent: false }), { kind: 'source', all: true }],
  [
    'both may be written to',
    side({ primary: true, dual: true }),
    other({ primary: true, dual: true }),
    { kind: 'same' },
  ],
  [
    'a new copy is made where it is written to',
    side(),
    other({ current: '', consistent: false, primary: true }),
    { kind: 'source', all: true },
  ],
])('%s', (_, mine, theirs, verdict) => {
  expect(decideResync(mine, theirs)).toEqual(verdict)
})

test.each([
  ['both wrote alone', side({ current: 'g2', base: 'g1' }), other({ current: 'g3', base: 'g1' }), /split brain/],
  [
    'both wrote alone again and again',
    side({ current: 'g4', base: 'g2', history: ['g1'] }),
    other({ current: 'g3', base: 'g1' }),
    /split brain/,
  ],
  ['they have never met', side(), other({ current: 'x' }), /unrelated/],
  ['both are written to', side({ primary: true }), other({ primary: true }), /both nodes write/],
  ['the older one is written to', side({ current: 'g2', base: 'g1' }), other({ primary: true }), /older data/],
  ['the newer one is not complete', side({ current: 'g2', base: 'g1', consistent: false }), other(), /not complete/],
])('they stay apart where %s', (_, mine, theirs, why) => {
  expect(decideResync(mine, theirs)).toEqual({ kind: 'refused', why: expect.stringMatching(why) as string })
})

const generation = fc.constantFrom('', 'g1', 'g2', 'g3', 'g4')
const anySide = fc.record({
  ...{ current: generation, base: generation, history: fc.array(fc.constantFrom('g1', 'g2', 'g3'), { maxLength: 3 }) },
  ...{ consistent: fc.boolean(), primary: fc.boolean(), crashed: fc.boolean(), dual: fc.boolean() },
})
const MIRRORED = { source: 'target', target: 'source', same: 'same', refused: 'refused' } as const

test('both sides come to the same verdict, and nobody overwrites what somebody writes to', () => {
  checkProperty(
    fc.property(anySide, anySide, (one, two) => {
      const [a, b] = [side({ ...one, address: 'a' }), side({ ...two, address: 'b' })]
      const [mine, theirs] = [decideResync(a, b), decideResync(b, a)]
      // Each is the other's base: no two sides can come to that.
      fc.pre(
        !(a.base === b.current && b.base === a.current) &&
          !(a.history.includes(b.current) && b.history.includes(a.current)),
      )
      fc.pre(
        !(a.base === b.current && b.history.includes(a.current)) &&
          !(b.base === a.current && a.history.includes(b.current)),
      )
      expect(theirs.kind).toBe(MIRRORED[mine.kind])
      if (mine.kind === 'target') expect(a.primary && a.current !== '').toBe(false)
      if (mine.kind === 'source' && theirs.kind === 'target') expect(mine.all).toBe(theirs.all)
    }),
  )
})
