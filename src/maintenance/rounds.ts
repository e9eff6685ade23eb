// Rounds of maintenance: a plan is written down, then submitted, then followed to its end. A daemon that dies in
// between finds its jobs by their reason, so nothing is done twice.
import type { Clock } from '../lib/clock'
import { nanoseconds, seconds } from '../lib/clock'
import type { Log } from '../lib/log'
import type { Random } from '../lib/random'
import { isObject } from '../lib/shapes/shape'
import { TAKE_OVER_S } from '../model/limits/maintenance'
import { MAINTD_SOURCE, type MaintenanceSettings, OUTLOOK_KEY, type Round, type RoundJob } from '../model/maintenance'
import type { WireOpCode } from '../rpc/luxi/calls'
import type { Master } from '../rpc/luxi/master'
import { failureIn } from './job-failure'
import {
  afterRound,
  begun,
  type Failures,
  hasEnded,
  hasFailure,
  type Statuses,
  withJob,
  withNote,
} from './event-lifecycle'
import type { Claims } from './claims'
import type { FailedMoves } from './failed-moves'
import type { StateStore, Remembered } from './state-store'
import type { RoundPlan } from './plan-round'
import type { PlannedJob } from './planned-job'
import { TASK_ID } from './plan-repairs'

export interface RoundsOptions {
  readonly memory: StateStore
  readonly master: Pick<Master, 'queryJobs' | 'submitManyJobs'>
  readonly clock: Clock
  readonly random: Pick<Random, 'uuid'>
  readonly log: Log
  readonly claims: Claims
  readonly failedMoves: Pick<FailedMoves, 'note'>
  /** Plans a round for the current cluster. */
  plan(remembered: Remembered, settings: MaintenanceSettings): Promise<RoundPlan>
  /** The tags of an instance. */
  tagsOf(instance: string): readonly string[]
}

/**
 * `waits`: jobs are running. `acted`: the next step may have something to do. `failed`: the same, after a pause.
 * `idle`: there is nothing to do.
 */
export type Stepped = 'waits' | 'acted' | 'failed' | 'idle'

export class Rounds {
  constructor(private readonly options: RoundsOptions) {}

  async step(): Promise<Stepped> {
    const { memory } = this.options
    const remembered = memory.read()
    if (remembered.round === null) return this.begin(remembered)
    this.options.claims.keepForRound(instancesOf(remembered.round))
    const round = remembered.round.resolved ? remembered.round : await this.findJobs(remembered.round)
    if (!round.tagged) await this.tell(round)
    const statuses = await this.statuses(round)
    if (!hasEnded(round, statuses)) return 'waits'
    const failures = await this.failures(statuses)
    for (const one of round.jobs)
      if (one.kind === 'balance' && (one.job === null || statuses.get(one.job) !== 'success'))
        this.options.failedMoves.note(one)
    await memory.update((now) => ({
      events: afterRound(now.events, round, { statuses, failures }, this.now_s()),
      round: null,
    }))
    this.options.claims.keepForRound([])
    this.options.log.info({ round: round.id, jobs: jobsOf(round) }, 'a round of maintenance has ended')
    return hasFailure(round, statuses) ? 'failed' : 'acted'
  }

  private async begin(remembered: Remembered): Promise<Stepped> {
    const { memory, plan, log, claims } = this.options
    claims.keepForRound([])
    const settings = memory.settings()
    const planned = await plan(remembered, settings)
    const notes = new Map(planned.notes)
    if (settings.dry_run) {
      await memory.put(
        OUTLOOK_KEY,
        planned.jobs.map(({ text }) => text),
      )
      const would = new Map(planned.jobs.map(({ event, text }) => [event, `dry run, else: ${text}`]))
      await this.writeNotes(new Map([...notes].map(([id, note]) => [id, would.get(id) ?? note])))
      return 'idle'
    }
    await memory.put(OUTLOOK_KEY, null)
    if (planned.jobs.length === 0) {
      await this.writeNotes(notes)
      return 'idle'
    }
    const jobs = planned.jobs.map((job) => named(job, this.options.random.uuid()))
    // Planned before the work of another one began, at the same instance.
    if (!claims.takeForRound(instancesOf({ jobs }))) return 'acted'
    const round = await this.intend(jobs, notes, remembered)
    if (round === undefined) return 'acted'
    log.info({ round: round.id, jobs: jobs.map(({ text }) => text) }, 'a round of maintenance begins')
    await this.submit(round, jobs)
    return 'waits'
  }

  /** Undefined if an event was cancelled meanwhile: then the plan must be made again. */
  private async intend(
    jobs: readonly PlannedJob[],
    notes: ReadonlyMap<string, string | null>,
    planned: Remembered,
  ): Promise<Round | undefined> {
    const now_s = this.now_s()
    const round: Round = {
      ...{ id: this.options.random.uuid(), began: now_s, resolved: false, serial_no: 1 },
      tagged: jobs.every(({ tagLater }) => tagLater === undefined),
      jobs: jobs.map(({ ops: _, ...job }, key) => ({ ...job, key, job: null })),
    }
    const acted = new Set(jobs.map(({ event }) => event))
    const known = new Map(planned.events.map(({ id, serial_no }) => [id, serial_no]))
    const after = await this.options.memory.update((now) => {
      const serials = new Map(now.events.map(({ id, serial_no }) => [id, serial_no]))
      const isStale = [...acted].some((id) => id !== null && serials.get(id) !== known.get(id))
      if (isStale || now.round !== null) return now
      const events = now.events.map((event) => {
        if (acted.has(event.id)) return withNote(begun(event, now_s), notes.get(event.id) ?? null, now_s)
        return withNote(event, notes.has(event.id) ? (notes.get(event.id) ?? null) : event.note, now_s)
      })
      return { events, round }
    })
    return after.round === round ? round : undefined
  }

  private async submit(round: Round, jobs: readonly PlannedJob[]): Promise<void> {
    const now_ns = nanoseconds(this.options.clock)
    const all = jobs.map(({ ops }, key) =>
      ops.map((op): WireOpCode => ({ ...op, reason: [[MAINTD_SOURCE, reasonOf(round, key), now_ns]] })),
    )
    const answers = await this.options.master.submitManyJobs(all)
    answers.forEach(([good, text], key) => {
      if (!good) this.options.log.warn({ job: round.jobs[key]?.text, reason: text }, 'a job of maintenance was refused')
    })
    const resolved = await this.resolve(round, new Map(answers.flatMap(([good, id], key) => (good ? [[key, id]] : []))))
    if (!resolved.tagged) await this.tell(resolved)
  }

  /** After a crash in between: finds the round's jobs in the queue. */
  private async findJobs(round: Round): Promise<Round> {
    await this.options.clock.sleep(TAKE_OVER_S * 1000)
    const rows = await this.options.master.queryJobs(null, ['id', 'ops'])
    const found = new Map<number, number>()
    for (const row of rows) {
      const key = keyIn(round, row?.[1])
      if (key !== undefined && typeof row?.[0] === 'number') found.set(key, row[0])
    }
    this.options.log.info({ round: round.id, found: [...found.values()] }, 'a round was taken over')
    return this.resolve(round, found)
  }

  private async resolve(round: Round, ids: ReadonlyMap<number, number>): Promise<Round> {
    const jobs = round.jobs.map((one): RoundJob => ({ ...one, job: ids.get(one.key) ?? null }))
    const resolved: Round = { ...round, jobs, resolved: true, serial_no: round.serial_no + 1 }
    await this.options.memory.update((now) => ({
      events: now.events.map((event) =>
        jobs.reduce(
          (one, { event: id, job }) => (id === one.id && job !== null ? withJob(one, job, this.now_s()) : one),
          event,
        ),
      ),
      round: now.round?.id === round.id ? resolved : now.round,
    }))
    return resolved
  }

  /**
   * A repair's tag names its job, so it is set after the submission; the job waits for it. Setting it twice does no
   * harm.
   */
  private async tell(round: Round): Promise<void> {
    const now_ns = nanoseconds(this.options.clock)
    const jobs = round.jobs.flatMap(({ tagLater, job, instances: [name] }) => {
      if (tagLater === undefined || job === null || name === undefined) return []
      const tag = tagLater.replace('{}', String(job))
      if (this.options.tagsOf(name).includes(tag)) return []
      return [
        [
          {
            OP_ID: 'OP_TAGS_SET',
            kind: 'instance',
            tags: [tag],
            name,
            reason: [[MAINTD_SOURCE, `the tag of job ${job}`, now_ns]],
          },
        ],
      ]
    })
    if (jobs.length > 0) await this.options.master.submitManyJobs(jobs)
    await this.options.memory.update((now) => ({
      events: now.events,
      round:
        now.round?.id === round.id ? { ...now.round, tagged: true, serial_no: now.round.serial_no + 1 } : now.round,
    }))
  }

  private async writeNotes(notes: ReadonlyMap<string, string | null>): Promise<void> {
    if (notes.size === 0) return
    await this.options.memory.update((now) => ({
      ...now,
      events: now.events.map((event) =>
        notes.has(event.id) ? withNote(event, notes.get(event.id) ?? null, this.now_s()) : event,
      ),
    }))
  }

  private async statuses(round: Round): Promise<Statuses> {
    const ids = jobsOf(round)
    if (ids.length === 0) return new Map()
    const rows = await this.options.master.queryJobs(ids, ['status'])
    return new Map(rows.flatMap((row, at) => (typeof row?.[0] === 'string' ? [[ids[at] ?? 0, row[0]] as const] : [])))
  }

  private async failures(statuses: Statuses): Promise<Failures> {
    const failed = [...statuses].flatMap(([id, status]) => (status === 'success' ? [] : [id]))
    const rows = failed.length === 0 ? [] : await this.options.master.queryJobs(failed, ['opresult'])
    return new Map(
      rows.flatMap((row, at) => {
        const [id, text] = [failed[at], failureIn(row?.[0])]
        return id === undefined || text === undefined ? [] : [[id, text] as const]
      }),
    )
  }

  private now_s(): number {
    return seconds(this.options.clock)
  }
}

const jobsOf = ({ jobs }: Pick<Round, 'jobs'>): number[] => jobs.flatMap(({ job }) => job ?? [])

const instancesOf = ({ jobs }: { jobs: readonly Pick<RoundJob, 'instances'>[] }): string[] =>
  jobs.flatMap(({ instances }) => instances)

/** The id of a new repair is part of its tags. */
function named(job: PlannedJob, id: string): PlannedJob {
  const text = JSON.stringify(job)
  // The same object with another text.
  return text.includes(TASK_ID) ? (JSON.parse(text.replaceAll(TASK_ID, id)) as PlannedJob) : job
}

const reasonOf = (round: Round, key: number): string => {
  const { event, text } = round.jobs[key] ?? { event: null, text: '' }
  return `${event === null ? '' : `event ${event}: `}${text} (round ${round.id}/${key})`
}

/** The index in the round of a job with these opcodes. */
function keyIn(round: Round, ops: unknown): number | undefined {
  const first: unknown = Array.isArray(ops) ? ops[0] : undefined
  const reasons = isObject(first) ? first['reason'] : undefined
  const all: readonly unknown[] = Array.isArray(reasons) ? reasons : []
  for (const entry of all) {
    const [source, text] = Array.isArray(entry) ? entry : []
    if (source !== MAINTD_SOURCE) continue
    const [, id, key] = /\(round (\S+)\/(\d+)\)$/.exec(String(text)) ?? []
    if (id === round.id) return Number(key)
  }
  return undefined
}
