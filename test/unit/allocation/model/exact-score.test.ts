// A shortcut of the score has no rounding of its own.
import { Col, buildModel } from '../../../../src/allocation/model/cluster-model'
import { type Changed, ExactScore, changedNode } from '../../../../src/allocation/model/exact-score'
import { Score } from '../../../../src/allocation/model/score'
import { parseClusterText } from '../../../../src/allocation/sources/text-format'
import { seededRandom } from '../../../../src/lib/random'
import { alikeClusterOf } from '../../../support/htools'

test('alike targets counted together score to the last bit what each scores alone, also where one of them is changed itself', () => {
  const chance = seededRandom(1)
  const model = buildModel(parseClusterText(alikeClusterOf(1, 30, 131, 'drbd')))
  const exact = new ExactScore(model, new Score(model, [...model.nodes.keys()]))
  const empty = [...model.nodes.keys()].slice(15)
  const [first = -1, ...others] = empty
  /** About half of what it contributes is something else. */
  const changed = (node: number): Changed => {
    const { spreads, counted } = changedNode(model, node, model.rows, node * Col.Width)
    return { node, counted, spreads: spreads.map((one) => (chance.below(2) === 0 ? one : chance.below(1000) / 999)) }
  }
  let differing = 0
  for (let tries = 0; tries < 50; tries++) {
    const sources = [changed(chance.below(15)), ...(tries % 2 === 0 ? [] : [changed(first)])]
    const target = changed(first)
    const expected = others.map((node) => exact.after([...sources, { ...target, node }], 0, true))
    // The counts are kept for the next time.
    for (let time = 0; time < 2; time++) {
      const [, ...together] = exact.among(sources, target, 0, { index: 0, nodes: empty })
      expect(together).toEqual(expected)
    }
    differing += new Set(expected).size - 1
  }
  // Rounding tells their scores apart.
  expect(differing).toBeGreaterThan(0)
})
