import * as fc from 'fast-check'
import { firstFit, type CandidateGroup, type CandidateNode } from '../../../src/allocation/first-fit'

const group: CandidateGroup = { uuid: 'g', name: 'default', policy: 'preferred' }
const node = (name: string, fields: Partial<CandidateNode> = {}): CandidateNode => ({
  uuid: name,
  name,
  group: 'g',
  offline: false,
  drained: false,
  vmCapable: true,
  live: { memoryFree_mib: 1000 },
  promised_mib: 0,
  ...fields,
})
const demand = { memory_mib: 100, disk_mib: 0 }

test('the node with the most free memory is chosen; names decide between equals', () => {
  const nodes = [node('b'), node('a'), node('c', { live: { memoryFree_mib: 900 } })]
  expect(firstFit(nodes, [group], demand)).toMatchObject({ ok: true, node: { name: 'a' } })
})

test('memory that is promised does not count as free', () => {
  const nodes = [node('a', { promised_mib: 950 }), node('b', { live: { memoryFree_mib: 200 } })]
  expect(firstFit(nodes, [group], demand)).toMatchObject({ ok: true, node: { name: 'b' } })
})

test('preferred groups come first, unallocable ones only when they are named', () => {
  const groups: CandidateGroup[] = [
    { uuid: 'last', name: 'last', policy: 'last_resort' },
    { uuid: 'never', name: 'never', policy: 'unallocable' },
    group,
  ]
  const nodes = [
    node('a', { group: 'last' }),
    node('b', { group: 'never' }),
    node('c', { live: { memoryFree_mib: 150 } }),
  ]
  expect(firstFit(nodes, groups, demand)).toMatchObject({ node: { name: 'c' } })
  expect(firstFit(nodes.slice(0, 2), groups, demand)).toMatchObject({ node: { name: 'a' } })
  expect(firstFit(nodes.slice(1, 2), groups, demand)).toMatchObject({ ok: false })
  expect(firstFit(nodes, groups, { ...demand, group: 'never' })).toMatchObject({ node: { name: 'b' } })
})

test('when none fits, each reason is told with its number of nodes', () => {
  const { live: _, ...silent } = node('silent')
  const nodes = [
    node('a', { offline: true }),
    node('b', { offline: true }),
    node('c', { drained: true }),
    node('d', { vmCapable: false }),
    node('e', { live: { memoryFree_mib: 10 } }),
    node('f', { live: { memoryFree_mib: 1000, diskFree_mib: 10 } }),
    silent,
    node('h'),
  ]
  expect(firstFit(nodes, [group], { ...demand, disk_mib: 20, exclude: ['h'] })).toEqual({
    ok: false,
    why: 'No suitable node among 8; offline: 2, drained: 1, not vm_capable: 1, not enough memory: 1, not enough disk space: 1, no answer: 1, excluded: 1',
  })
})

test('whatever the nodes are, the choice has room and may be used', () => {
  const anyNode = fc.record({
    offline: fc.boolean(),
    drained: fc.boolean(),
    vmCapable: fc.boolean(),
    memory: fc.nat(2000),
    disk: fc.nat(2000),
    promised_mib: fc.nat(500),
  })
  fc.assert(
    fc.property(fc.array(anyNode, { maxLength: 12 }), fc.nat(1500), fc.nat(1500), (given, memory_mib, disk_mib) => {
      const nodes = given.map(({ memory, disk, ...fields }, index) =>
        node(`n${index}`, { ...fields, live: { memoryFree_mib: memory, diskFree_mib: disk } }),
      )
      const placement = firstFit(nodes, [group], { memory_mib, disk_mib })
      const fits = (one: CandidateNode) =>
        !one.offline &&
        !one.drained &&
        one.vmCapable &&
        (one.live?.memoryFree_mib ?? 0) - one.promised_mib >= memory_mib &&
        (one.live?.diskFree_mib ?? 0) >= disk_mib
      if (placement.ok) expect(fits(placement.node)).toBe(true)
      else expect(nodes.some(fits)).toBe(false)
    }),
  )
})
