// Whatever the cluster, nodes that are rebooted together hold no instance between them.
import * as fc from 'fast-check'
import { buildModel } from '../../../../src/allocation/model/cluster-model'
import { colorings } from '../../../../src/allocation/evacuation/coloring'
import { NoRoom, nodeColorings, nodeGraph, rebootGroups } from '../../../../src/allocation/evacuation/reboot-groups'
import { parseClusterText } from '../../../../src/allocation/sources/text-format'
import { clusterOf } from '../../../support/htools'
import { checkProperty } from '../../../support/effort'

test('neighbours never have the same colour, and every vertex has one', () => {
  const graphs = fc.integer({ min: 1, max: 12 }).chain((size) =>
    fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: 30 }).map((edges) => {
      const graph: number[][] = Array.from({ length: size }, () => [])
      for (const [a, b] of edges) {
        graph[a]?.push(b)
        graph[b]?.push(a)
      }
      return graph
    }),
  )
  checkProperty(
    fc.property(graphs, (graph) => {
      for (const { classes } of colorings(graph)) {
        expect(classes.flat().sort((a, b) => a - b)).toEqual(graph.map((_, at) => at))
        for (const one of classes) {
          for (const vertex of one)
            expect(graph[vertex]?.filter((other) => other !== vertex && one.includes(other))).toEqual([])
        }
      }
    }),
  )
})

test('nodes rebooted together never hold both copies of an instance, every node is in one group, and nothing else changes', () => {
  checkProperty(
    fc.property(
      fc.nat(10_000),
      fc.integer({ min: 3, max: 10 }),
      fc.boolean(),
      fc.boolean(),
      (seed, size, down, full) => {
        const model = buildModel(parseClusterText(clusterOf(seed, size, 3 * size)))
        const before = model.rows.slice()
        const nodes = model.nodes.flatMap(({ offline }, at) => (offline ? [] : [at]))
        const found = nodeColorings(nodeGraph(model, nodes, down))
        const options = { ignoreNonRedundant: false, fullEvacuation: full }
        let groups
        try {
          groups = rebootGroups(model, found, options)
        } catch (error) {
          expect(error).toBeInstanceOf(NoRoom)
          return
        }
        expect(model.rows).toEqual(before)
        const desired = groups.map((group) => group.nodes.filter((node) => nodes.includes(node)))
        expect(desired.flat().sort((a, b) => a - b)).toEqual(nodes)
        for (const group of desired) {
          for (const { template, primary, secondary } of model.data.instances) {
            if (template === 'drbd') expect(group.includes(primary) && group.includes(secondary)).toBe(false)
          }
        }
        for (const group of groups) {
          for (const { primary } of group.moves) if (!full) expect(group.nodes).not.toContain(primary)
        }
      },
    ),
    { numRuns: 60 },
  )
})
