// The quick scheduler starts what a simple one would start.
import * as fc from 'fast-check'
import { type Job, newJob, jobPriority, withPriority } from '../../../src/jobs/job'
import { Scheduler } from '../../../src/jobs/scheduler'
import { checkProperty } from '../../support/effort'

const job = (id: number, priority: number): Job =>
  newJob(id, [{ OP_ID: 'OP_TEST_DELAY', duration: 1, reason: [], priority }], [1, 1])

type Event =
  | { kind: 'add'; priority: number; depends: number[] }
  | { kind: 'start'; room: number }
  | { kind: 'end'; nth: number }
  | { kind: 'remove'; nth: number }
  | { kind: 'priority'; nth: number; priority: number }

const nth = fc.nat(30)
const priority = fc.integer({ min: -20, max: 19 })
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('add' as const), priority, depends: fc.array(nth, { maxLength: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('start' as const), room: fc.integer({ min: 0, max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), nth }) },
  fc.record({ kind: fc.constant('remove' as const), nth }),
  fc.record({ kind: fc.constant('priority' as const), nth, priority }),
)

/** The same rules, written to be obviously right: every event looks at every job. */
class Model {
  queued = new Map<number, { job: Job; blockers: Set<number> }>()
  running = new Set<number>()

  next(room: number): number[] {
    const ready = [...this.queued.values()].filter(({ blockers }) => blockers.size === 0)
    ready.sort((a, b) => jobPriority(a.job) - jobPriority(b.job) || a.job.id - b.job.id)
    const chosen = ready.slice(0, room).map(({ job: { id } }) => id)
    for (const id of chosen) {
      this.queued.delete(id)
      this.running.add(id)
    }
    return chosen
  }

  ended(id: number): void {
    this.running.delete(id)
    for (const { blockers } of this.queued.values()) blockers.delete(id)
  }
}

test('the heap starts the same jobs as looking at all of them, and in the end every job has started once', () => {
  checkProperty(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const scheduler = new Scheduler()
      const model = new Model()
      let last = 0
      for (const one of events) step(one, scheduler, model, () => ++last)
      for (let round = 0; round < 100 && model.queued.size + model.running.size > 0; round++) {
        for (const id of [...model.running]) end(id, scheduler, model)
        expect(scheduler.next(7, [], []).start.map(({ id }) => id)).toEqual(model.next(7))
      }
      expect(scheduler.size).toBe(0)
      expect(model.queued.size).toBe(0)
    }),
    { numRuns: 300 },
  )
})

function end(id: number, scheduler: Scheduler, model: Model): void {
  scheduler.ended(id)
  model.ended(id)
}

function step(one: Event, scheduler: Scheduler, model: Model, nextId: () => number): void {
  const queued = [...model.queued.keys()]
  if (one.kind === 'add') {
    const id = nextId()
    const open = [...queued, ...model.running]
    const blockers = one.depends.flatMap((n) => open[n] ?? [])
    scheduler.add(job(id, one.priority), blockers)
    model.queued.set(id, { job: job(id, one.priority), blockers: new Set(blockers) })
  } else if (one.kind === 'start') {
    expect(scheduler.next(one.room, [], []).start.map(({ id }) => id)).toEqual(model.next(one.room))
  } else if (one.kind === 'end') {
    const id = [...model.running][one.nth]
    if (id !== undefined) end(id, scheduler, model)
  } else {
    const entry = model.queued.get(queued[one.nth] ?? -1)
    if (entry === undefined) return
    if (one.kind === 'priority') {
      entry.job = withPriority(entry.job, one.priority)
      scheduler.update(entry.job)
      return
    }
    expect(scheduler.remove(entry.job.id)).toBe(true)
    model.queued.delete(entry.job.id)
    end(entry.job.id, scheduler, model)
  }
}
