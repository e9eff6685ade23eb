// Events for readers: since a given event or from now on, as far as the caller may see them.
import type { Delta } from '../../config/delta'
import { tokensOf } from '../../jobs/ended-jobs'
import { isFinished } from '../../jobs/job'
import { isObject } from '../../lib/shapes/shape'
import type { ConfigData } from '../../model/config'
import { EVENTS_PAGE_MAX, EVENTS_WAIT_MAX_S } from '../../model/limits/events'
import type { ClusterEvent, EventPage, EventRequest, PastEventsPage, PastEventsRequest } from '../../rpc/luxi/gantry'
import type { Access } from '../access/access'
import { userOf } from '../filter-rules'
import type { EventHistory } from './event-history'
import { configEvents, jobEvents, submitter, type Who } from './event-sources'
import type { InstanceWatch } from './instance-watch'
import type { MasterContext } from '../master-context'

export class EventService {
  private config: ConfigData | undefined

  constructor(
    private readonly context: Pick<MasterContext, 'queue' | 'clock' | 'config'>,
    private readonly history: EventHistory,
    private readonly instances: InstanceWatch,
  ) {
    context.queue.watch((job, before) => {
      for (const event of jobEvents(before, job, this.config)) history.add(event)
      if (this.config !== undefined) instances.job(job, before)
    })
  }

  /** Called at each change of the configuration. */
  follow(config: ConfigData, delta: Delta | null): void {
    for (const event of configEvents(this.config, config, delta, this.who)) this.history.add(event)
    this.instances.follow(this.config, config, delta)
    if (this.config === undefined) this.takeOver()
    this.config = config
  }

  /** Jobs of an earlier luxid may already be working on instances. */
  private takeOver(): void {
    for (const { id, ...known } of this.context.queue.all()) {
      const job = isFinished(known) ? undefined : this.context.queue.job(id)
      if (job !== undefined) this.instances.job(job, undefined)
    }
  }

  private readonly who: Who = (asker) => {
    if (typeof asker === 'string') return userOf(asker)
    const job = this.context.queue.job(asker)
    return job === undefined ? null : submitter(job).user
  }

  /**
   * Waits until there is an event that the caller wants, or the time is over. Checks the caller's rights again after
   * each wait.
   */
  async read(access: () => Access, request: EventRequest): Promise<EventPage> {
    const { clock } = this.context
    const deadline_ms = clock.monotonic_ms() + Math.min(Math.max(request.timeout_s, 0), EVENTS_WAIT_MAX_S) * 1000
    let after = request.after ?? this.history.last
    for (;;) {
      const reader = access()
      const { events, gap } = this.history.since(after)
      if (gap !== null) return { events: [], last: this.history.last, gap }
      const page = events.slice(0, EVENTS_PAGE_MAX)
      const desired = page.filter((event) => this.isFor(reader, request, event))
      after = page.at(-1)?.id ?? after
      const left_s = (deadline_ms - clock.monotonic_ms()) / 1000
      if (desired.length > 0 || left_s <= 0) return { events: desired, last: after, gap: null }
      if (page.length === 0) await this.history.change(left_s)
    }
  }

  /** Past events, newest first, as far as they are kept. */
  past(access: Access, { before, limit, ...desired }: PastEventsRequest): PastEventsPage {
    const found: ClusterEvent[] = []
    for (const event of this.history.back(before)) {
      if (event.type === 'gap' && !desired.types.includes('gap')) continue
      if (!this.isFor(access, desired, event)) continue
      if (found.length === limit) return { events: found, next: found.at(-1)?.id ?? null }
      found.push(event)
    }
    return { events: found, next: null }
  }

  /** Names of an instance's former nodes, the last one first, as far back as events are kept. */
  formerNodes(uuid: string): readonly string[] {
    const nodes = this.history.all().flatMap(({ type, data }) => {
      const { node } = type === 'instance' && data['uuid'] === uuid && isObject(data['before']) ? data['before'] : {}
      return typeof node === 'string' ? [node] : []
    })
    return [...new Set(nodes.reverse())]
  }

  private isFor(
    access: Access,
    { types, objects }: Pick<EventRequest, 'types' | 'objects'>,
    event: ClusterEvent,
  ): boolean {
    // Everybody must learn that events are missing.
    if (event.type === 'gap') return true
    if (types.length > 0 && !types.includes(event.type)) return false
    if (objects.length > 0 && !objects.some((desired) => concerns(event, desired))) return false
    if (!access.limited) return true
    const config = this.context.config()
    if (event.type === 'job' || event.type === 'log') return this.mayFollowJob(access, Number(event.data['job']))
    return event.objects.some((object) => access.seesByFullName(config, object))
  }

  /** A token with a scope follows the jobs that were submitted with it. */
  private mayFollowJob(access: Access, id: number): boolean {
    const job = this.context.queue.known(id)
    return job !== undefined && seesJob(access, job)
  }
}

function concerns(event: ClusterEvent, desired: string): boolean {
  const kind = desired.endsWith('/*') ? desired.slice(0, -1) : undefined
  return event.objects.some((object) => (kind === undefined ? object === desired : object.startsWith(kind)))
}

/** A token with a scope sees the jobs that were submitted with it. */
export const seesJob = (access: Access, job: Parameters<typeof tokensOf>[0]): boolean =>
  !access.limited || (access.identity.token !== null && tokensOf(job).includes(access.identity.token))
