// The answers for `/3` and `gnt allocation`: steps of a balance, places for instances, capacity.
import * as fc from 'fast-check'
import { ALLOC_DEFAULTS } from '../../../../src/allocation/model/options'
import { BALANCE_DEFAULTS, type BalanceAnswer } from '../../../../src/allocation/questions/balance-plan'
import type { ClusterData } from '../../../../src/allocation/model/cluster-data'
import { buildModel } from '../../../../src/allocation/model/cluster-model'
import { fromParts, toParts } from '../../../../src/allocation/questions/question-parts'
import { type Question, answerQuestion } from '../../../../src/allocation/questions/questions'
import { replay } from '../../../../src/allocation/questions/replay'
import { Score } from '../../../../src/allocation/model/score'
import { specifiedInstance } from '../../../../src/allocation/questions/specification'
import { parseClusterText } from '../../../../src/allocation/sources/text-format'
import type { Capacity, WhatIf } from '../../../../src/model/allocation'
import { clusterOf } from '../../../support/htools'
import { checkProperty } from '../../../support/effort'

const BALANCE = { ...BALANCE_DEFAULTS, groups: ['group'], maxMoves: Infinity, maxOpcodes: 1000 }
const NO_N1 = { ...ALLOC_DEFAULTS, capacity: false }
const SPEC = { disk_template: 'drbd', memory_mib: 1024, vcpus: 1, disks_mib: [1024] }

const balanced = (data: ClusterData, more: object = {}) =>
  answerQuestion(data, { ...BALANCE, ...more }, ALLOC_DEFAULTS) as BalanceAnswer
const whatIf = (data: ClusterData, more: object) =>
  answerQuestion(
    data,
    { kind: 'what-if', dead: [], arriving: [], nodes: null, explain: false, ...more },
    NO_N1,
  ) as WhatIf
const capacity = (data: ClusterData, more: object = {}, spec = SPEC) => {
  const instance = specifiedInstance(spec, 'drbd', [])
  const question: Question = {
    ...{ kind: 'capacity', instance, groups: ['group'], nodes: null, most: null, explain: false },
    ...more,
  }
  return answerQuestion(data, question, NO_N1) as Capacity
}

const cluster = fc
  .record({ seed: fc.nat(10_000), nodes: fc.integer({ min: 3, max: 12 }), each: fc.integer({ min: 1, max: 8 }) })
  .map(({ seed, nodes, each }) => parseClusterText(clusterOf(seed, nodes, nodes * each)))
const few = parseClusterText(clusterOf(5, 8, 40))

/** One group of small nodes, written out: `name|instance memory` beside what is fixed. */
function small(...instances: string[]): ClusterData {
  const nodes = ['a', 'b', 'c'].map((name) => `${name}|8192|0|8192|100000|100000|4|N|uuid-1|1||N|0|1|1.0`)
  const lines = [['g|uuid-1|preferred||'], nodes, instances, [], []]
  const data = parseClusterText(lines.map((section) => section.map((line) => `${line}\n`).join('')).join('\n'))
  const used = (at: number) => data.instances.reduce((sum, one) => sum + (one.primary === at ? one.memory : 0), 0)
  return { ...data, nodes: data.nodes.map((node, at) => ({ ...node, freeMemory: node.freeMemory - used(at) })) }
}
const vm = (name: string, memory: number, where: string, template: string) =>
  `${name}|${memory}|1024|1|running|Y|${where}|${template}||1|-|N`

test('the steps of a balance follow each other, and end where its score says', () => {
  checkProperty(
    fc.property(cluster, (data) => {
      const { steps, groups, ops } = balanced(data)
      const where = new Map(data.instances.map(({ name, primary, secondary }) => [name, [primary, secondary]]))
      const at = new Map(data.nodes.map(({ name }, index) => [name, index]))
      let [score, next] = [groups[0]?.score_before ?? NaN, 0]
      for (const step of steps) {
        const from = (where.get(step.instance) ?? []).filter((node) => node >= 0)
        expect(step.from.map((name) => at.get(name))).toEqual(from)
        expect(step.score_before).toBe(score)
        expect(step.score_after).toBeLessThan(score)
        expect(step.first_op).toBe(next)
        for (const op of ops.slice(next, next + step.op_count)) expect(op['instance_name']).toBe(step.instance)
        where.set(
          step.instance,
          step.to.map((name) => at.get(name) ?? -1),
        )
        ;[score, next] = [step.score_after, next + step.op_count]
      }
      expect(next).toBe(ops.length)
      expect(groups).toEqual([expect.objectContaining({ score_after: score })])
    }),
    { numRuns: 20 },
  )
})

test('the parts of the score add up to what a step gains', () => {
  const { steps } = balanced(few)
  expect(steps.length).toBeGreaterThan(5)
  for (const { components, score_before, score_after } of steps) {
    const change = components.reduce((sum, { before, after }) => sum + after - before, 0)
    expect(change).toBeCloseTo(score_after - score_before, 6)
  }
})

test('an explained step was the best of its candidates, and explaining changes nothing', () => {
  const { steps } = balanced(few, { explain: true })
  expect(steps.map((step) => ({ ...step, candidates: null }))).toEqual(balanced(few).steps)
  for (const { candidates, score_before, score_after, to, from } of steps) {
    expect(candidates).toHaveLength(few.nodes.length)
    const changes = (candidates ?? []).flatMap(({ score_change }) => score_change ?? [])
    expect(Math.min(...changes)).toBeCloseTo(score_after - score_before, 8)
    const rejected = (candidates ?? []).filter(({ accepted }) => !accepted)
    expect(rejected.every(({ reject, reason }) => reject !== null && reason !== null)).toBe(true)
    const moved = to.filter((node) => !from.includes(node))
    expect(moved.every((node) => candidates?.find((one) => one.node === node)?.accepted)).toBe(true)
  }
})

test('a balance stops at as many moves or opcodes as it may have, and says that there are more', () => {
  const whole = balanced(few)
  const two = balanced(few, { maxMoves: 2 })
  expect([two.steps, two.more, whole.more]).toEqual([whole.steps.slice(0, 2), true, false])
  const { ops, more } = balanced(few, { maxOpcodes: 3 })
  expect(ops.length).toBeLessThanOrEqual(3)
  expect(more).toBe(true)
})

test('only what may be touched is moved, and only there', () => {
  const names = few.nodes.slice(0, 5).map(({ name }) => name)
  const instances = few.instances.slice(0, 20).map(({ name }) => name)
  const { steps } = balanced(few, { nodes: names, instances })
  expect(steps.length).toBeGreaterThan(0)
  for (const { instance, to, from } of steps) {
    expect(instances).toContain(instance)
    expect(names).toEqual(expect.arrayContaining([...to, ...from]))
  }
})

test.each([
  ['replace-secondary', ['a', 'c']],
  ['migrate', ['b', 'a']],
  ['migrate-and-replace', ['b', 'c']],
  ['replace-and-migrate', ['c', 'a']],
  ['replace-primary', ['c', 'b']],
])('what somebody else has planned for a mirrored instance is a %s', (kind, to) => {
  const model = buildModel(small(vm('m', 1024, 'a|b', 'drbd')))
  const limits = { maxMoves: 1, maxOpcodes: 10, diskMoves: true, groups: ['g'] }
  const { steps, ops } = replay(model, [{ instance: 'm', from: ['a', 'b'], to }], limits)
  expect(steps).toMatchObject([{ kind, to, op_count: ops.length }])
})

test('places that take a move that was not wanted are told of each node', () => {
  const { steps } = balanced(few, { diskMoves: false, explain: true })
  const reasons = steps.flatMap(({ candidates }) => (candidates ?? []).flatMap(({ reject }) => reject ?? []))
  expect(reasons).toContain('not wanted')
})

test('moves that copy disks are planned, with how much each copies', () => {
  const { steps, ops } = balanced(few)
  const copying = steps.filter(({ copied_mib }) => copied_mib > 0)
  expect(copying.length).toBeGreaterThan(0)
  for (const { instance, first_op, op_count, copied_mib } of steps) {
    const replaced = ops
      .slice(first_op, first_op + op_count)
      .filter(({ OP_ID }) => OP_ID === 'OP_INSTANCE_REPLACE_DISKS')
    const size = few.instances.find(({ name }) => name === instance)?.disk ?? 0
    expect(copied_mib).toBe(replaced.length * size)
  }
})

test('as many instances fit into a group as can be added to it one by one', () => {
  const data = small()
  const { fits, groups } = capacity(data, { groups: ['g'], explain: true }, { ...SPEC, memory_mib: 3000 })
  expect(fits).toBe(groups[0]?.nodes.length)
  expect(groups[0]).toMatchObject({ group: 'g', alloc_policy: 'preferred' })
  expect(groups[0]?.reason).toMatch(/^no node fits: \d lack/)
  expect(groups[0]?.candidates?.map(({ accepted }) => accepted)).toEqual([false, false, false])
  expect(capacity(data, { groups: ['g'], most: 1 })).toMatchObject({ fits: 1, groups: [{ reason: null }] })
})

test('where storage is exclusive, an instance fits as long as there are physical volumes for its disks', () => {
  const plain = small()
  const nodes = plain.nodes.map((node) => ({ ...node, exclusiveStorage: true, spindles: 4, freeSpindles: 4 }))
  const data = { ...plain, nodes }
  const spec = { ...SPEC, disk_template: 'plain', disks_mib: [1024, 1024] }
  const fitting = (disks_spindles?: number[]) =>
    capacity(data, { groups: ['g'] }, { ...spec, ...(disks_spindles && { disks_spindles }) }).fits
  expect([fitting([1, 1]), fitting([2, 1]), fitting([4, 1]), fitting()]).toEqual([6, 3, 0, 0])
})

test('who asks for no instance is told of each node how good it is for the first one', () => {
  const [group] = capacity(small(), { groups: ['g'], most: 0, explain: true }).groups
  expect(group).toMatchObject({ fits: 0, nodes: [], reason: null })
  expect(group?.candidates?.map(({ node }) => node)).toEqual(['a', 'b', 'c'])
  const changes = new Map(group?.candidates?.map(({ node, score_change }) => [node, score_change ?? Infinity]))
  const [first = ''] = capacity(small(), { groups: ['g'], most: 1 }).groups[0]?.nodes[0] ?? []
  expect(changes.get(first)).toBe(Math.min(...changes.values()))
})

test('a mirrored instance comes back on its secondary and gets another mirror; a local one is lost', () => {
  const data = small(vm('m', 1024, 'a|b', 'drbd'), vm('s', 1024, 'a|', 'rbd'), vm('l', 1024, 'a|', 'plain'))
  const answer = whatIf(data, { dead: ['a'] })
  expect(answer).toMatchObject({
    dead: ['a'],
    restored: [
      { instance: 'm', from: ['a', 'b'], to: ['b'] },
      { instance: 's', from: ['a'] },
    ],
    lost: [{ instance: 'l', nodes: ['a'], reason: 'its disks (plain) are only on the node that is down' }],
    mirrored: [{ instance: 'm', from: ['b', 'a'], to: ['b', 'c'] }],
    unmirrored: [],
  })
})

test('an instance on a node that was offline before is none that can run, whatever dies', () => {
  const data = small(vm('m', 1024, 'a|b', 'drbd'), vm('s', 1024, 'c|', 'rbd'), vm('d', 1024, 'b|', 'rbd'))
  const why = { a: 'offline', b: 'drained', c: 'no answer' }
  const nodes = data.nodes.map((node) => ({ ...node, offline: true, unusable: Reflect.get(why, node.name) as string }))
  const { already_down: down } = whatIf({ ...data, nodes }, { dead: ['c'] })
  expect(down).toEqual([{ instance: 'm', nodes: ['a', 'b'], reason: 'its node, a, is offline', candidates: null }])
  expect(whatIf({ ...data, nodes }, {}).already_down.map(({ instance }) => instance)).toEqual(['m', 's'])
})

test('an instance that cannot come back has its reason, and that of each node', () => {
  const data = small(
    vm('m', 1024, 'a|b', 'drbd'),
    vm('big', 6000, 'a|', 'rbd'),
    vm('x', 4000, 'b|', 'plain'),
    vm('y', 4000, 'c|', 'plain'),
  )
  expect(whatIf(data, { dead: ['a', 'b'] }).lost).toEqual(
    expect.arrayContaining([
      { instance: 'm', nodes: ['a', 'b'], reason: 'both of its nodes are down', candidates: null },
    ]),
  )
  const { lost, restored } = whatIf(data, { dead: ['a'], explain: true })
  expect(restored.map(({ instance }) => instance)).toEqual(['m'])
  expect(lost).toEqual([
    {
      ...{ instance: 'big', nodes: ['a'] },
      reason: 'no node fits: 2 lack memory (largest free 4,192 MiB on c, 6,000 needed)',
      // The node that it was on is none that it could come back on.
      candidates: ['b', 'c'].map((node): unknown => expect.objectContaining({ node, reject: 'FailMem', needed: 6000 })),
    },
  ])
})

test('an instance that has lost one node is told why the other one does not take over', () => {
  const data = small(vm('m', 1024, 'a|b', 'drbd'), vm('s', 1024, 'a|', 'rbd'))
  const unusable = (why: string): ClusterData => ({
    ...data,
    nodes: data.nodes.map((node) => (node.name === 'a' ? node : { ...node, offline: true, unusable: why })),
  })
  const reasons = (more: object, requested = data) => whatIf(requested, more).lost.map(({ reason }) => reason)
  expect(reasons({ dead: ['a'] }, unusable('drained'))).toEqual([
    'its other node, b, is drained',
    'no node fits: 2 are drained',
  ])
  expect(reasons({ dead: ['a', 'b', 'c'] })).toEqual(['both of its nodes are down', 'no node fits: 2 are offline'])
})

test('nothing is told of nodes that a caller does not see', () => {
  const data = small(...['a', 'b', 'c'].map((node) => vm(`on-${node}`, 5000, `${node}|`, 'rbd')))
  const reported = (nodes: string[] | null) => JSON.stringify(whatIf(data, { dead: ['a'], nodes, explain: true }).lost)
  expect(reported(null)).toContain('2 lack memory (largest free 3,192 MiB on b')
  expect(reported(['a', 'c'])).toContain('1 lacks memory (largest free 3,192 MiB on c')
  expect(reported(['a', 'c'])).not.toMatch(/"b"|on b/)
  const arriving = [{ instance: specifiedInstance(SPEC, 'drbd', []), count: 1 }]
  const requested: Question = { kind: 'what-if', dead: [], arriving, nodes: ['b', 'c'], explain: true }
  const { refused } = answerQuestion(data, requested, ALLOC_DEFAULTS) as WhatIf
  expect(refused[0]?.reason).toMatch(/dies \(also without it, if b of group \w+ or 1 more dies\)/)
})

test('instances arrive until none fits, and the rest is refused with the reason', () => {
  const instance = specifiedInstance({ ...SPEC, memory_mib: 3000 }, 'drbd', [])
  const { placed, refused } = whatIf(small(), { arriving: [{ instance, count: 50 }], explain: true })
  expect(placed.length).toBeGreaterThan(1)
  expect(refused).toEqual([
    { entry: 0, count: 50 - placed.length, reason: expect.stringMatching(/lack/), candidates: expect.any(Array) },
  ])
})

test('the same question has the same answer, also on its way through a thread', async () => {
  const question: Question = {
    kind: 'what-if',
    dead: [few.nodes[1]?.name ?? ''],
    arriving: [],
    nodes: null,
    explain: true,
  }
  const parts: unknown[] = []
  for await (const part of toParts({ data: few, question, options: ALLOC_DEFAULTS })) parts.push(structuredClone(part))
  const { data, question: requested, options } = fromParts(parts)
  expect(data).toEqual(few)
  expect(answerQuestion(data, requested, options)).toEqual(answerQuestion(few, question, ALLOC_DEFAULTS))
})

test('after any death nothing is placed where it does not fit', () => {
  checkProperty(
    fc.property(cluster, fc.nat(), (data, which) => {
      const victim = data.nodes[which % data.nodes.length]?.name ?? ''
      const { restored, lost, mirrored, unmirrored } = whatIf(data, { dead: [victim] })
      const home = (at: number) => data.nodes[at]?.name
      const gone = data.instances.filter(({ primary }) => home(primary) === victim).map(({ name }) => name)
      expect([...restored, ...lost].map(({ instance }) => instance).sort()).toEqual([...gone].sort())
      for (const { to } of [...restored, ...mirrored]) expect(new Set(to).size).toBe(to.length)
      for (const { to } of mirrored) expect(to).not.toContain(victim)
      const waiting = new Set(unmirrored.map(({ instance }) => instance))
      const memory = new Map(data.nodes.map(({ name, freeMemory }) => [name, freeMemory]))
      for (const { instance, to } of restored) {
        const one = data.instances.find(({ name }) => name === instance)
        const target = to[0] ?? ''
        expect(target).not.toBe(victim)
        if (!waiting.has(instance)) expect(to).not.toContain(victim)
        if (one?.status === 'running') memory.set(target, (memory.get(target) ?? 0) - one.memory)
        if (one?.status === 'running') expect(memory.get(target)).toBeGreaterThan(0)
      }
    }),
    { numRuns: 40 },
  )
})

test('the scores are those of the groups before and after', () => {
  const { groups } = whatIf(few, { dead: [few.nodes[0]?.name ?? ''] })
  const all = few.nodes.map((_, at) => at)
  expect(groups[0]?.score_before).toBe(new Score(buildModel(few), all).value())
  expect(groups[0]?.score_after).not.toBe(groups[0]?.score_before)
})
