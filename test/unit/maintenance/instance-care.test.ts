// maintd starts what has ended by itself as soon as it hears of it, and looks after everything from time to time.
import { silentLog as log } from '../../../src/lib/log'
import { InstanceCare } from '../../../src/maintenance/instance-care'
import { type Group, GroupBusy, type GroupOptions } from '../../../src/maintenance/watcher/group-run'
import { CARE_AGAIN_S } from '../../../src/model/limits/maintenance'
import { WATCHER_EVERY_S } from '../../../src/model/limits/watcher'
import type { ClusterEvent, EventPage } from '../../../src/rpc/luxi/gantry'
import type { WatcherReport } from '../../../src/rpc/luxi/watcher-report'
import { SteppedClock } from '../../support/stepped-clock'

const GROUPS: Group[] = ['g1', 'g2'].map((uuid) => ({ uuid, name: uuid, known: ['g1', 'g2'] }))
const event = (type: ClusterEvent['type'], data: Record<string, unknown>): ClusterEvent => ({
  ...{ id: 'e-1', type, time: 0, objects: [], data },
})
const crashed = (instance: string) => event('instance', { instance, change: 'crashed', cause: null })

function start() {
  const clock = new SteppedClock()
  const probes: { group: string; options: GroupOptions; end: (error?: Error) => void }[] = []
  const reported: string[] = []
  let answer: (page: EventPage) => void = () => undefined
  const care = new InstanceCare({
    ...{ clock, log, groups: () => GROUPS, groupOf: (name) => (name.startsWith('x') ? 'g2' : 'g1') },
    events: () => new Promise((resolve) => (answer = resolve)),
    watch: ({ uuid }, options) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error ? reject(error) : resolve({ name: uuid } as WatcherReport))
        probes.push({ group: uuid, options, end })
      }),
    tell: async ({ name }) => reported.push(name),
  })
  care.start()
  const hear = async (...events: ClusterEvent[]) => {
    answer({ events, last: 'e-1', gap: null })
    await clock.pass(0)
  }
  const next = () => probes.shift()
  return { care, clock, looks: probes, told: reported, hear, next }
}

/** Without the looks with which it begins. */
async function begun() {
  const started = start()
  await started.clock.pass(0)
  for (const { end } of started.looks.splice(0)) end()
  await started.clock.pass(0)
  return started
}

test('all groups are looked after at first, and from then on as often as by the watcher', async () => {
  const { looks: probes, clock, care, told: reported } = start()
  await clock.pass(0)
  expect(probes.map(({ group, options }) => [group, options.only, options.verifyDisks])).toEqual([
    ['g1', undefined, true],
    ['g2', undefined, true],
  ])
  for (const { end } of probes.splice(0)) end()
  await clock.pass(WATCHER_EVERY_S)
  expect(probes.map(({ group }) => group)).toEqual(['g1', 'g2'])
  expect(reported).toEqual(['g1', 'g2'])
  care.close()
})

test('a crash is looked after at once, alone; crashes meanwhile are the next look', async () => {
  const { hear, next, looks: probes, care } = await begun()
  await hear(crashed('a'))
  const first = next()
  expect(first).toMatchObject({ group: 'g1', options: { only: ['a'], verifyDisks: false } })
  await hear(crashed('b'), crashed('x1'))
  await hear(crashed('c'))
  expect(next()).toMatchObject({ group: 'g2', options: { only: ['x1'] } })
  expect(probes).toEqual([])
  first?.end()
  await hear()
  expect(next()).toMatchObject({ group: 'g1', options: { only: ['b', 'c'] } })
  care.close()
})

test('so is what a user has shut down, and a call of the watcher; not what jobs stop, or runs of the watcher', async () => {
  const { hear, next, looks: probes, care } = await begun()
  await hear(
    event('instance', { instance: 'a', change: 'stopped', cause: { job: 1 } }),
    event('watcher', { change: 'ran' }),
  )
  expect(probes).toEqual([])
  await hear(event('instance', { instance: 'a', change: 'stopped', cause: null }))
  expect(next()).toMatchObject({ options: { only: ['a'] } })
  await hear(event('watcher', { change: 'called', why: 'node node2 is back' }))
  expect(next()).toMatchObject({ group: 'g2', options: { why: 'node node2 is back' } })
  care.close()
})

test('where another run looks and one waits, it is tried again', async () => {
  const { hear, next, clock, looks: probes, care } = await begun()
  await hear(crashed('a'))
  next()?.end(new GroupBusy('taken'))
  await hear(crashed('b'))
  expect(probes).toEqual([])
  await clock.pass(CARE_AGAIN_S)
  expect(next()).toMatchObject({ options: { only: ['a', 'b'] } })
  care.close()
})

test('the instances of a node that comes and goes wait for a regular look', async () => {
  const { hear, next, clock, looks: probes, care } = await begun()
  const onNode2 = event('instance', { instance: 'a', change: 'crashed', cause: null, now: { node: 'node2' } })
  await hear(event('watcher', { change: 'flapping', node: 'node2' }), onNode2)
  expect(probes).toEqual([])
  await clock.pass(WATCHER_EVERY_S)
  for (const { end } of probes.splice(0)) end()
  await hear(onNode2)
  expect(next()).toMatchObject({ options: { only: ['a'] } })
  care.close()
})
