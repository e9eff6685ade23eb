// Whatever is reported, the jobs of a round do not get in each other's way.
import * as fc from 'fast-check'
import { ALLOC_DEFAULTS } from '../../../src/allocation/model/options'
import type { ClusterData } from '../../../src/allocation/model/cluster-data'
import { parseClusterText } from '../../../src/allocation/sources/text-format'
import { planRound, type RoundQuestion } from '../../../src/maintenance/plan-round'
import type { PlannedJob } from '../../../src/maintenance/planned-job'
import { seededRandom } from '../../../src/lib/random'
import {
  MAINTENANCE_DEFAULTS,
  READY_TAG,
  REPAIR_ACTIONS,
  REPAIR_STATUSES,
  type RepairEvent,
} from '../../../src/model/maintenance'
import { checkProperty } from '../../support/effort'
import { variedClusterOf } from '../../support/htools-varied'

const ON = { ...MAINTENANCE_DEFAULTS, evacuation: true, live_repair: true, harep: true, balance: true }

/** A cluster with events in all states, nodes that are drained, and instances that may be repaired. */
function situation(seed: number): { data: ClusterData; question: RoundQuestion } {
  const chance = seededRandom(seed)
  const raw = parseClusterText(variedClusterOf(seed))
  const nodes = raw.nodes.map((node) => {
    const drained = !node.offline && chance.below(4) === 0
    const unusable = node.offline ? 'offline' : drained ? 'drained' : undefined
    return { ...node, offline: node.offline || drained, ...(unusable !== undefined && { unusable }) }
  })
  const tagged = chance.below(2) === 0 ? ['ganeti:watcher:autorepair:failover'] : []
  const instances = raw.instances.map((one) => ({ ...one, tags: [...one.tags, ...tagged] }))
  const events = Array.from({ length: chance.below(6) }, (_, n): RepairEvent => {
    const action = REPAIR_ACTIONS[chance.below(3)] ?? 'evacuate'
    const status = REPAIR_STATUSES[chance.below(5)] ?? 'noted'
    return {
      ...{ id: `e${n}`, node: `uuid-${nodes[chance.below(nodes.length)]?.name}`, action, status },
      ...{
        original: { status: action, command: chance.below(2) === 0 ? 'mend' : '' },
        jobs: chance.below(2) ? [1] : [],
      },
      ...{ tag: `${READY_TAG}e${n}`, tagged: status === 'completed', note: null, ctime: n, mtime: n, serial_no: 1 },
    }
  })
  const names = Object.fromEntries(nodes.map(({ name }) => [`uuid-${name}`, name]))
  const data = { ...raw, nodes, instances }
  return {
    data,
    question: { events, names, settings: ON, now_s: 100, jobs: [], loads: null, busy: [], resting: [], master: '' },
  }
}

const seeds = fc.integer({ min: 1, max: 1_000_000 })
const touched = ({ nodes, instances }: PlannedJob) => [
  ...nodes.map((one) => `n/${one}`),
  ...instances.map((one) => `i/${one}`),
]

test('no two jobs of a round touch the same node or instance', () => {
  checkProperty(
    fc.property(seeds, (seed) => {
      const { data, question } = situation(seed)
      const all = planRound(data, question, ALLOC_DEFAULTS).jobs.flatMap(touched)
      expect(new Set(all).size).toBe(all.length)
    }),
  )
})

test('nothing is done for an event that was canceled or has ended, but the tag of a failure', () => {
  checkProperty(
    fc.property(seeds, (seed) => {
      const { data, question } = situation(seed)
      for (const job of planRound(data, question, ALLOC_DEFAULTS).jobs) {
        const event = question.events.find(({ id }) => id === job.event)
        if (event === undefined) continue
        expect(['noted', 'pending', 'failed']).toContain(event.status)
        if (event.status === 'failed') expect(job.kind).toBe('tag')
      }
    }),
  )
})

test('a node with an active event gets no instance, and one with a failed event none by balancing', () => {
  checkProperty(
    fc.property(seeds, (seed) => {
      const { data, question } = situation(seed)
      const named = (...statuses: string[]) =>
        question.events.filter(({ status }) => statuses.includes(status)).map(({ node }) => question.names[node])
      const [active, failed] = [named('noted', 'pending'), named('failed')]
      for (const job of planRound(data, question, ALLOC_DEFAULTS).jobs) {
        const own =
          job.event !== null ? [question.names[question.events.find(({ id }) => id === job.event)?.node ?? '']] : []
        // A mirror may leave another node that has one too.
        const get = job.kind === 'copy' ? job.nodes.slice(-1) : job.nodes.filter((one) => !own.includes(one))
        for (const node of get) expect(active).not.toContain(node)
        if (job.kind === 'balance') for (const node of job.nodes) expect(failed).not.toContain(node)
      }
    }),
  )
})

test('each active event has a job or a reason why not, unless its node has a more invasive one', () => {
  checkProperty(
    fc.property(seeds, (seed) => {
      const { data, question } = situation(seed)
      const { jobs, notes } = planRound(data, question, ALLOC_DEFAULTS)
      const reported = new Map(notes)
      const nodes = new Set(
        question.events.filter(({ status }) => ['noted', 'pending'].includes(status)).map(({ node }) => node),
      )
      for (const node of nodes) {
        const own = question.events.filter((event) => event.node === node).map(({ id }) => id)
        expect(own.some((id) => jobs.some(({ event }) => event === id) || typeof reported.get(id) === 'string')).toBe(
          true,
        )
      }
    }),
  )
})

test('the same input gives the same plan', () => {
  checkProperty(
    fc.property(seeds, (seed) => {
      const [one, other] = [situation(seed), situation(seed)]
      expect(planRound(one.data, one.question, ALLOC_DEFAULTS)).toEqual(
        planRound(other.data, other.question, ALLOC_DEFAULTS),
      )
    }),
    { numRuns: 30 },
  )
})

test('where everything is off nothing is done', () => {
  checkProperty(
    fc.property(seeds, (seed) => {
      const { data, question } = situation(seed)
      const { jobs } = planRound(data, { ...question, settings: MAINTENANCE_DEFAULTS }, ALLOC_DEFAULTS)
      expect(jobs.filter(({ kind }) => kind !== 'tag')).toEqual([])
      for (const { event } of jobs) expect(question.events.find(({ id }) => id === event)?.status).toBe('failed')
    }),
  )
})
