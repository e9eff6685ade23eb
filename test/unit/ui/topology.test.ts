// The picture of the cluster in the console: its groups, what happens to nodes, and the question of what-if.
import { moveName } from '../../../src/allocation/balance/jobs'
import type { MoveKind } from '../../../src/allocation/balance/move-kinds'
import type { ClusterModel } from '../../../src/allocation/model/cluster-model'
import {
  groupsOf,
  happeningOf,
  happeningOfWhatIf,
  joined,
  memoryShare,
  shortNames,
  stepOf,
  tagsOf,
} from '../../../ui/src/pages/topology/cluster-picture'
import { dyingNames, isSameQuestion, whatIfRequest } from '../../../ui/src/pages/topology/what-if-draft'
import { consoleModule } from '../../support/console-actions'
import { standardSpec } from '../../../ui/src/parts/standard-spec'

const node = (name: string, more: object = {}) => ({ name, ...more })

test('nodes are drawn by group, in the order in which people count', () => {
  const groups = groupsOf([node('n10', { group: 'b' }), node('n9', { group: 'b' }), node('x', { group: 'a' })])
  expect(groups.map(({ name, nodes }) => [name, ...nodes.map((one) => one.name)])).toEqual([
    ['a', 'x'],
    ['b', 'n9', 'n10'],
  ])
})

test('each kind of move has words of its own', () => {
  const { topologyTexts } = consoleModule<{ topologyTexts: { balance: { kinds: Readonly<Record<string, string>> } } }>(
    'texts/topology.ts',
  )
  const kinds: Readonly<Record<MoveKind, true>> = {
    ...{ failover: true, 'failover-to-any': true, 'replace-secondary': true, 'replace-primary': true },
    ...{ 'replace-and-failover': true, 'failover-and-replace': true },
  }
  const names = Object.keys(kinds).flatMap((kind) =>
    ['running', 'ADMIN_down'].map((status) => {
      const model = { instances: [{ data: { status } }] } as unknown as ClusterModel
      return moveName(model, { kind: kind as MoveKind, instance: 0 })
    }),
  )
  expect(names.filter((name) => topologyTexts.balance.kinds[name] === undefined)).toEqual([])
})

test('names lose their domain only where the hosts differ', () => {
  expect([...shortNames(['a.one', 'b.one']).values()]).toEqual(['a', 'b'])
  expect([...shortNames(['a.one', 'a.two']).values()]).toEqual(['a.one', 'a.two'])
})

test('memory is shown as a share, and not at all where it is not known', () => {
  expect(memoryShare({ mfree: 256, mtotal: 1024 })).toBe(0.75)
  expect(memoryShare({ mfree: 2048, mtotal: 1024 })).toBe(0)
  expect(memoryShare({ mfree: null, mtotal: 1024 })).toBe(undefined)
  expect(memoryShare({ mfree: 0, mtotal: 0 })).toBe(undefined)
})

test('tags are counted, so that a rack can be chosen', () => {
  expect(tagsOf([node('a', { tags: ['rack:2', 'rack:10'] }), node('b', { tags: ['rack:2'] }), node('c')])).toEqual([
    ['rack:2', 2],
    ['rack:10', 1],
  ])
})

test('a move takes from the node that is left and gives to the one that is new', () => {
  const { marks, arrows } = happeningOf([{ from: ['a', 'b'], to: ['c', 'b'] }])
  expect(arrows).toEqual([{ from: 'a', to: 'c', count: 1 }])
  expect(marks.get('a')).toMatchObject({ gives: { instances: 1, mirrors: 0 }, gains: { instances: 0, mirrors: 0 } })
  expect(marks.get('c')).toMatchObject({ gives: { instances: 0, mirrors: 0 }, gains: { instances: 1, mirrors: 0 } })
  expect(marks.has('b')).toBe(false)
})

test('an instance that fails over to its mirror goes there, and its new mirror is a second way', () => {
  expect(happeningOf([{ from: ['a', 'b'], to: ['b', 'a'] }]).arrows).toEqual([{ from: 'a', to: 'b', count: 1 }])
  expect(happeningOf([{ from: ['a', 'b'], to: ['b', 'c'] }]).arrows).toEqual([
    { from: 'a', to: 'b', count: 1 },
    { from: 'a', to: 'c', count: 1 },
  ])
})

test('ways between the same nodes are one line, the widest first', () => {
  const to = (name: string) => ({ from: ['a'], to: [name] })
  expect(happeningOf([to('b'), to('c'), to('c')]).arrows).toEqual([
    { from: 'a', to: 'c', count: 2 },
    { from: 'a', to: 'b', count: 1 },
  ])
})

test('what-if marks the dead, those that gain, and those without reserve', () => {
  const reported: Parameters<typeof happeningOfWhatIf>[0] = {
    ...{ dead: ['a'], lost: [], unmirrored: [], already_down: [], refused: [], groups: [] },
    restored: [
      { instance: 'i', from: ['a'], to: ['b'] },
      { instance: 'm', from: ['a', 'c'], to: ['c'] },
    ],
    mirrored: [{ instance: 'm', from: ['c', 'a'], to: ['c', 'b'] }],
    placed: [{ entry: 0, nodes: ['b'] }],
    without_reserve: ['b'],
  }
  const { marks, arrows } = happeningOfWhatIf(reported)
  const none = { instances: 0, mirrors: 0 }
  // The failing node has two instances, and they are two.
  expect(marks.get('a')).toEqual({ dead: true, noReserve: false, gains: none, gives: { instances: 2, mirrors: 0 } })
  expect(marks.get('b')).toEqual({ dead: false, noReserve: true, gains: { instances: 2, mirrors: 1 }, gives: none })
  expect(marks.get('c')?.gains).toEqual({ instances: 1, mirrors: 0 })
  expect(arrows).toEqual([
    { from: 'a', to: 'b', count: 2 },
    { from: 'a', to: 'c', count: 1 },
  ])
})

test('steps of one instance are one move, and a mirror that moves alone is no instance', () => {
  const steps = [
    { instance: 'i', from: ['a', 'b'], to: ['b', 'a'] },
    { instance: 'i', from: ['b', 'a'], to: ['b', 'c'] },
    { instance: 'm', from: ['a', 'b'], to: ['a', 'c'] },
  ]
  const { marks } = happeningOf(joined(steps))
  expect(marks.get('a')?.gives).toEqual({ instances: 1, mirrors: 0 })
  expect(marks.get('b')).toMatchObject({ gives: { instances: 0, mirrors: 1 }, gains: { instances: 1, mirrors: 0 } })
  expect(marks.get('c')?.gains).toEqual({ instances: 0, mirrors: 2 })
})

test('a plan is no longer shown when its job has ended well, and is while the job runs or if it failed', () => {
  type Run = { plan: { plan: string }; state: { status: string } | undefined }
  type Panel = { isCarriedOut(plan: { plan: string } | undefined, run: Run | undefined): boolean }
  const { isCarriedOut } = consoleModule<Panel>('pages/topology/balance-panel.tsx')
  const run = (status?: string) => ({ plan: { plan: 'p1' }, state: status === undefined ? undefined : { status } })
  const [plan, next] = [{ plan: 'p1' }, { plan: 'p2' }]
  expect([isCarriedOut(plan, run('success')), isCarriedOut(undefined, run('success'))]).toEqual([true, true])
  expect([undefined, run(), run('running'), run('error')].map((one) => isCarriedOut(plan, one))).toEqual(
    Array.from({ length: 4 }, () => false),
  )
  expect(isCarriedOut(next, run('success'))).toBe(false)
})

test('not all instances can run while one is on a node that was offline before', () => {
  type Result = { fineText(reported: { dead: string[]; already_down: object[] }): string }
  const { fineText } = consoleModule<Result>('pages/topology/what-if-result.tsx')
  expect([
    ...[fineText({ dead: ['a'], already_down: [] }), fineText({ dead: ['a'], already_down: [{}] })],
    fineText({ dead: [], already_down: [{}] }),
  ]).toEqual([
    ...['All instances can run.', 'All instances of the failing nodes can run.', 'All new instances find a node.'],
  ])
})

test.each([
  ['ArrowRight', 0, 1],
  ['ArrowLeft', 0, 0],
  ['ArrowDown', 1, 4],
  ['ArrowDown', 5, 5],
  ['ArrowUp', 4, 1],
  ['ArrowUp', 2, 2],
  ['End', 0, 6],
  ['Home', 6, 0],
])('%s leads from tile %d to tile %d of seven in rows of three', (key, from, to) => {
  expect(stepOf(key, from, 7, 3)).toBe(to)
})

test('other keys lead nowhere', () => {
  expect(stepOf('a', 0, 7, 3)).toBe(undefined)
})

const ARRIVING = { count: '', memory: '2g', vcpus: 2, disk: '10g', disk_template: 'drbd', group: '' }

test('there is no question before something happens', () => {
  expect(whatIfRequest({ dying: [], tag: '', arriving: ARRIVING })).toBe(undefined)
})

test('what dies and what arrives is asked in the words of the API', () => {
  expect(whatIfRequest({ dying: ['a'], tag: 'rack:1', arriving: { ...ARRIVING, count: 3, group: 'g' } })).toEqual({
    nodes: ['a'],
    node_tag: 'rack:1',
    instances: [
      { spec: { disk_template: 'drbd', memory_mib: 2048, vcpus: 2, disks_mib: [10240] }, group: 'g', count: 3 },
    ],
  })
})

test('an instance without disks asks for none', () => {
  const requested = whatIfRequest({
    dying: [],
    tag: '',
    arriving: { ...ARRIVING, count: 1, disk_template: 'diskless' },
  })
  expect(requested?.instances?.[0]?.spec).toEqual({ disk_template: 'diskless', memory_mib: 2048, vcpus: 2 })
})

test('those with the tag die with those that are chosen, each once', () => {
  const nodes = [node('a', { tags: ['r'] }), node('b', { tags: ['r'] }), node('c')]
  expect(dyingNames({ dying: ['c', 'a'], tag: 'r', arriving: {} }, nodes)).toEqual(['c', 'a', 'b'])
})

test('an answer is known to be one to another question', () => {
  expect(isSameQuestion({ nodes: ['a'] }, { nodes: ['a'] })).toBe(true)
  expect(isSameQuestion({ nodes: ['a'] }, undefined)).toBe(false)
})

test('the standard size is that of the policy, on storage that is there', () => {
  const std = { 'memory-size': 128, 'cpu-count': 2, 'disk-size': 2048 }
  expect(standardSpec({ ipolicy: { std }, enabled_disk_templates: ['diskless', 'file'] })).toEqual({
    ...{ disk_template: 'file', memory_mib: 128, vcpus: 2, disks_mib: [2048] },
  })
  expect(standardSpec({ ipolicy: {}, enabled_disk_templates: ['diskless'] })).toEqual({
    ...{ disk_template: 'diskless', memory_mib: 1024, vcpus: 1 },
  })
})
