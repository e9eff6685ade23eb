// Whether the clock of a node can be relied on, from what its programs print.
import { clock } from '../../../../src/collectors/node/clock'
import { mismatch } from '../../../../src/collectors/shapes'
import type { CandidateClock } from '../../../../src/rpc/confd/clocks'
import { nodeSources } from '../../../support/node-sources'

const near = (server: string): CandidateClock => ({ server, ahead_s: 0 })
const away = (server: string, ahead_s: number): CandidateClock => ({ server, ahead_s })
const silent = (server: string): CandidateClock => ({ server, ahead_s: undefined })

test.each<[what: string, clocks: readonly CandidateClock[], code: number, message: string]>([
  ['all are near', [near('a'), near('b')], 0, ''],
  ['some are down', [near('a'), silent('b'), silent('c')], 0, ''],
  ['all are down', [silent('a'), silent('b')], 2, 'no master candidate answers'],
  ['there is none', [], 2, 'no master candidate answers'],
  [
    'one of them is away',
    ...([[near('a'), away('b', 3600), silent('c')], 4] as const),
    '\nthe clock of b is some 60 minutes ahead of that of this node',
  ],
  [
    'this node is away, and its own confd answers it',
    ...([[near('a'), away('b', -7200), away('c', -7200)], 4] as const),
    '\nmost candidates have another time than this node: its clock must be set' +
      '\nthe clock of c is some 120 minutes behind that of this node\nthe clock of b is some 120 minutes behind that of this node',
  ],
])('%s', async (_, clocks, code, message) => {
  const data = await clock.open(nodeSources({ clocks }), {}).collect()
  expect(mismatch(clock.shape, data)).toBeUndefined()
  expect(data).toMatchObject({ status: { code, message } })
})
