// Instances that shrink, beside the same done the slow way: each size is looked at.
import * as fc from 'fast-check'
import { ALLOC_DEFAULTS } from '../../../../src/allocation/model/options'
import type { InstanceData } from '../../../../src/allocation/model/cluster-data'
import { type ClusterModel, buildModel } from '../../../../src/allocation/model/cluster-model'
import { failCounts } from '../../../../src/allocation/model/fail-modes'
import { Filling } from '../../../../src/allocation/places/filling'
import type { Verdict } from '../../../../src/allocation/model/placement'
import { shrunk, stepsOf } from '../../../../src/allocation/places/shrink'
import { parseClusterText } from '../../../../src/allocation/sources/text-format'
import { fillTiers } from '../../../../src/allocation/places/tiers'
import { clusterOf, newInstanceOf } from '../../../support/htools'
import { checkProperty } from '../../../support/effort'

const all = (list: readonly unknown[]): number[] => list.map((_, at) => at)

/** Their sizes and nodes. */
const displayed = (model: ClusterModel, added: readonly number[]) =>
  added.map((at) => {
    const { memory, disk, vcpus } = model.instances[at]?.data ?? {}
    return [memory, disk, vcpus, model.primary[at], model.secondary[at]].join(' ')
  })

function slowly(filling: Filling, spec: InstanceData): number[] {
  const { added, failures } = filling.fill(spec, undefined)
  const lacking = failCounts(failures).sort(([, one], [, other]) => one - other)
  const [worst] = lacking.slice(-1)
  if (worst !== undefined && stepsOf(spec, worst[2]) > 0) {
    const more = slowly(filling, shrunk(spec, worst[2], 1))
    if (more.length > 0) return [...added, ...more]
  }
  for (const [, , verdict] of lacking.reverse()) {
    const enough = firstThatFits(filling, spec, verdict)
    if (enough !== undefined) return [...added, ...slowly(filling, enough)]
  }
  return [...added]
}

/** As long as that is lacking; the last unit but one is the least. */
function firstThatFits(filling: Filling, spec: InstanceData, verdict: Verdict): InstanceData | undefined {
  for (let steps = 0; steps < stepsOf(spec, verdict); steps++) {
    const smaller = shrunk(spec, verdict, steps)
    const { fits, failures } = filling.look(smaller)
    if (fits) return smaller
    if ((failures[verdict] ?? 0) === 0) return undefined
  }
  return undefined
}

test('no size that is passed over would have fitted', () => {
  const cases = fc.record({
    seed: fc.integer({ min: 1, max: 1e6 }),
    nodes: fc.integer({ min: 2, max: 6 }),
    instances: fc.integer({ min: 0, max: 20 }),
    template: fc.constantFrom('drbd' as const, 'plain' as const, 'rbd' as const),
    capacity: fc.boolean(),
    size: fc.record({
      memory: fc.integer({ min: 16, max: 40 }),
      disk: fc.integer({ min: 20, max: 60 }),
      vcpus: fc.integer({ min: 1, max: 40 }),
    }),
  })
  checkProperty(
    fc.property(cases, ({ seed, nodes, instances, template, capacity, size }) => {
      // A unit is a large part of these nodes.
      const text = clusterOf(seed, nodes, instances).replaceAll(/^(node.*)$/gm, smaller)
      const spec = newInstanceOf(template, { ...size, memory: 64 * size.memory, disk: 256 * size.disk })
      const [one, other] = [buildModel(parseClusterText(text)), buildModel(parseClusterText(text))]
      const usable = all(one.nodes).filter((node) => one.nodes[node]?.offline === false)
      const filling = (model: ClusterModel) =>
        new Filling(model, usable, all(model.nodes), { ...ALLOC_DEFAULTS, capacity })
      const fast = fillTiers(filling(one), spec, undefined)
      expect(displayed(one, fast.added)).toEqual(displayed(other, slowly(filling(other), spec)))
    }),
    { numRuns: 60 },
  )
})

/** A tenth of the memory and disk that is free. */
function smaller(line: string): string {
  const fields = line.split('|')
  const tenth = (text = '0') => String(Math.floor(Number(text) / 10))
  const [name = '', total = '0', own = '0', free = '0', disk = '0', freeDisk = '0', ...rest] = fields
  if (rest.length < 5) return line
  const [lessFree, lessDisk] = [tenth(free), tenth(freeDisk)]
  const lost = (whole: string, from: string, to: string) => String(Number(whole) - Number(from) + Number(to))
  return [name, lost(total, free, lessFree), own, lessFree, lost(disk, freeDisk, lessDisk), lessDisk, ...rest].join('|')
}
