// Whatever the cluster, squeezing it leaves every instance a place.
import * as fc from 'fast-check'
import { type ClusterData, NO_NODE } from '../../../../src/allocation/model/cluster-data'
import { type ClusterModel, buildModel } from '../../../../src/allocation/model/cluster-model'
import {
  STANDBY_TAG,
  everyNodeTakes,
  nodesToOffline,
  nodesToOnline,
  offlineCandidates,
  onlineCandidates,
  spareInstance,
  switchNodes,
} from '../../../../src/allocation/evacuation/squeeze'
import { parseClusterText } from '../../../../src/allocation/sources/text-format'
import { clusterOf } from '../../../support/htools'
import { checkProperty } from '../../../support/effort'

const clusters = fc
  .tuple(fc.nat(10_000), fc.integer({ min: 3, max: 7 }))
  .map(([seed, size]) => onSharedDisks(parseClusterText(clusterOf(seed, size, 3 * size))))

/** Nothing holds an instance on its node but memory and processors. */
const onSharedDisks = (data: ClusterData): ClusterData => ({
  ...data,
  nodes: data.nodes.map((node, at) => ({ ...node, offline: false, master: at === 0 })),
  instances: data.instances.map((one) => ({ ...one, template: 'rbd', secondary: NO_NODE })),
})

const homes = ({ data, primary }: ClusterModel): number[] => data.instances.map((_, at) => primary[at] ?? NO_NODE)

test('nodes that are switched off leave every instance on a node that is on, and room on all', () => {
  checkProperty(
    fc.property(clusters, fc.constantFrom(1, 8, 40), (data, factor) => {
      const spare = spareInstance(data.policy.standard, factor)
      const candidates = offlineCandidates(data)
      expect(candidates).not.toContain(0)
      const off = nodesToOffline(data, candidates, spare)
      expect(candidates.filter((node) => off.includes(node))).toEqual(off)
      if (off.length === 0) return
      const { model } = switchNodes(data, off, true)
      for (const node of homes(model)) expect(off).not.toContain(node)
      expect(everyNodeTakes(model, spare)).toBe(true)
      expect(everyNodeTakes(buildModel(data), spareInstance(data.policy.standard, 1e6))).toBe(false)
    }),
    { numRuns: 40 },
  )
})

test('the fewest standby nodes are switched on that are enough, and none when all are not', () => {
  checkProperty(
    fc.property(clusters, fc.constantFrom(1, 60, 200, 1e6), (data, factor) => {
      const spare = spareInstance(data.policy.standard, factor)
      const standby = data.nodes.length - 1
      const nodes = data.nodes.map((node, at) =>
        at === standby ? { ...node, offline: true, tags: [STANDBY_TAG] } : node,
      )
      const asleep = { ...data, nodes }
      expect(onlineCandidates(asleep)).toEqual([standby])
      const on = nodesToOnline(asleep, [standby], spare)
      const enough = (switched: readonly number[]) => {
        const { model } = switchNodes(asleep, switched, false)
        return everyNodeTakes(model, spare) && homes(model).every((node) => model.nodes[node]?.offline === false)
      }
      expect(on).toEqual(enough([]) ? [] : enough([standby]) ? [standby] : undefined)
    }),
    { numRuns: 40 },
  )
})
