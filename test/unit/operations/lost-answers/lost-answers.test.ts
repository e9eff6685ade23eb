// Every unit, while the answer of each of its changes and of each of its orders to nodes is lost. Then the configuration, the volumes,
// minors, guests and files agree, or the job or verify names what does not; and verify removes no disk's only copy.
import { opcodeIds } from '../../../../src/opcodes/index'
import { callOf } from '../../../../src/rpc/node/calls'
import type { FakeCluster } from '../../../support/fake-cluster'
import { audited, differences, prepared } from './audit'
import { SCENARIOS, WITHOUT } from './scenarios'

/**
 * A change whose answer is lost once, or with wconfd itself, or that cannot be written, and so are all later ones; an order that is lost
 * before or after the node has carried it out.
 */
type First = 'once' | 'for good' | 'not written' | 'before' | 'after'
type Second =
  | 'nothing'
  | 'the next change'
  | 'no change is written'
  | 'the next order'
  | 'the answer to the next order'
  | 'its node'

const TRIED: Record<Step['kind'], Partial<Record<First, readonly Second[]>>> = {
  change: {
    once: ['nothing', 'the next change', 'the next order', 'the answer to the next order'],
    'for good': ['nothing', 'the answer to the next order'],
    'not written': ['nothing', 'the next order'],
  },
  order: {
    before: ['nothing', 'the next change', 'no change is written', 'the next order', 'its node'],
    after: ['nothing', 'the next change', 'no change is written', 'the answer to the next order', 'its node'],
  },
}

/** A change or an order to a node, in the order in which the job makes them. */
interface Step {
  readonly kind: 'change' | 'order'
  readonly name: string
}

const isOrder = (call: string): boolean => callOf(call as never).kind === 'order' && call !== 'hooks_runner'

/** The steps of a job, of which some get lost. */
class Losses {
  readonly steps: Step[] = []
  private lost: { readonly at: number; readonly node?: string } | undefined
  private second = false

  constructor(cluster: FakeCluster, at?: number, how: First = 'once', afterwards: Second = 'nothing') {
    const isNext = (kind: Second) =>
      this.lost !== undefined && !this.second && afterwards === kind && (this.second = true)
    cluster.isUnreachable = () => how === 'for good' && this.lost !== undefined
    let change = -1
    cluster.refuses = (changes) => {
      if (changes.length === 0) return false
      change = this.steps.push({ kind: 'change', name: changes.map(([name]) => name).join() }) - 1
      if (change === at) this.lost = { at: change }
      return this.lost !== undefined && (how === 'not written' || afterwards === 'no change is written')
    }
    cluster.losesAnswer = (changes) => changes.length > 0 && (change === at || isNext('the next change'))
    cluster.losing = (node, call) => {
      if (!isOrder(call)) return this.lost?.node === node && afterwards === 'its node' ? 'before' : undefined
      const next = isNext('the next order') ? 'before' : isNext('the answer to the next order') ? 'after' : undefined
      const dead = this.lost?.node === node && afterwards === 'its node' ? 'before' : undefined
      const step = this.steps.push({ kind: 'order', name: `${call} on ${node}` }) - 1
      if (step !== at) return next ?? dead
      this.lost = { at: step, node }
      return how === 'before' ? 'before' : 'after'
    }
  }
}

const entriesOf = (tried: Partial<Record<First, readonly Second[]>>) =>
  Object.entries(tried) as [First, readonly Second[]][]

test.each(SCENARIOS.map((one) => [one.op, JSON.stringify(one.params).slice(0, 90), one] as const))(
  '%s %s',
  async (_op, _params, scenario) => {
    const whole = await prepared(scenario)
    const { steps } = new Losses(whole.cluster)
    await whole.cluster.run(scenario.op, scenario.params)
    expect(differences(whole)).toEqual([])
    expect(steps).not.toEqual([])
    const problems: string[] = []
    for (const [at, { kind, name }] of steps.entries())
      for (const [how, seconds] of entriesOf(TRIED[kind]))
        for (const afterwards of seconds) {
          const one = await prepared(scenario)
          new Losses(one.cluster, at, how, afterwards)
          const what = `${name} ${at} ${how}, then ${afterwards}`
          problems.push(...(await audited(one, scenario, what, afterwards === 'its node')))
        }
    expect(problems).toEqual([])
  },
)

test('every unit has a scenario, or there is a reason why not', () => {
  const covered = new Set<string>(SCENARIOS.map(({ op }) => op))
  expect(opcodeIds.filter((id) => covered.has(id) === (WITHOUT[id] !== undefined))).toEqual([])
})
