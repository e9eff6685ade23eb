// Starts instances that have ended by themselves, cleans up after those that their users have shut down, and activates disks: within
// seconds after the news, and of everything every few minutes. The decisions, files and locks are the watcher's, so that both have one
// budget of tries, and the watcher finds nothing to do.
import type { Clock, Timer } from '../lib/clock'
import type { Log } from '../lib/log'
import { isObject } from '../lib/shapes/shape'
import { errorText } from '../lib/system-failure'
import { CARE_AGAIN_S, CARE_EVENTS_WAIT_S } from '../model/limits/maintenance'
import { WATCHER_EVERY_S, WATCHER_STRICT_EVERY } from '../model/limits/watcher'
import type { ClusterEvent, EventPage } from '../rpc/luxi/gantry'
import type { WatcherReport } from '../rpc/luxi/watcher-report'
import { type Group, GroupBusy, type GroupOptions } from './watcher/group-run'

export interface CareOptions {
  readonly clock: Clock
  readonly log: Log
  groups(): readonly Group[]
  /** The uuid of the node group of the instance's primary node. */
  groupOf(instance: string): string | undefined
  /** Events after this one, as soon as there are some. */
  events(after: string | null, wait_s: number): Promise<EventPage>
  /** A look at a node group, under the watcher's locks. Undefined if nothing may be done now. Rejects with GroupBusy. */
  watch(group: Group, options: GroupOptions): Promise<WatcherReport | undefined>
  tell(report: WatcherReport): Promise<unknown>
}

interface Wanted {
  /** Undefined: all instances of the group. */
  only: Set<string> | undefined
  why: string
}

export class InstanceCare {
  /** Looks that are due, by node group. */
  private readonly wanted = new Map<string, Wanted>()
  private readonly looking = new Set<string>()
  /** Nodes that come and go, with the time when this is forgotten (monotonic clock). */
  private readonly flapping = new Map<string, number>()
  private timer: Timer | undefined
  private turn = 0
  private closed = false

  constructor(private readonly options: CareOptions) {}

  start(): void {
    this.regularly('the maintenance daemon was started')
    void this.follow()
  }

  close(): void {
    this.closed = true
    this.timer?.cancel()
  }

  private regularly(why: string): void {
    if (this.closed) return
    const strict = this.turn % WATCHER_STRICT_EVERY === 0
    this.turn++
    this.timer = this.options.clock.after(WATCHER_EVERY_S * 1000, () => this.regularly('its time has come'), {
      background: true,
    })
    // The checks of disks may take long. What is news meanwhile does not wait for them.
    for (const group of this.options.groups())
      void this.look(group, { why, strict, verifyDisks: true, often: true }).then((done) => {
        if (!done) this.want(group.uuid, undefined, why)
      })
  }

  private async follow(): Promise<void> {
    const { clock, events, log } = this.options
    let after: string | null = null
    while (!this.closed) {
      try {
        const page: EventPage = await events(after, CARE_EVENTS_WAIT_S)
        after = page.last
        if (page.gap !== null) this.wantAll('events are missing')
        for (const event of page.events) this.hear(event)
      } catch (error) {
        log.debug({ reason: errorText(error) }, 'the events of instances cannot be read; it is tried again')
        await clock.sleep(CARE_AGAIN_S * 1000)
      }
    }
  }

  private hear({ type, data }: ClusterEvent): void {
    const { change, instance, why, cause, node, now } = data
    const now_ms = this.options.clock.monotonic_ms()
    if (type === 'watcher' && change === 'called') this.wantAll(String(why))
    // The instances of a node that comes and goes wait for a regular look.
    if (type === 'watcher' && change === 'flapping') this.flapping.set(String(node), now_ms + WATCHER_EVERY_S * 1000)
    // Its user has shut it down, if no job has stopped it.
    const hasEnded = change === 'crashed' || (change === 'stopped' && cause === null)
    if (type !== 'instance' || !hasEnded || typeof instance !== 'string') return
    for (const [name, until_ms] of this.flapping) if (until_ms <= now_ms) this.flapping.delete(name)
    if (isObject(now) && this.flapping.has(String(now['node']))) return
    const group = this.options.groupOf(instance)
    if (group !== undefined) this.want(group, [instance], `instance ${instance} has ended by itself`)
  }

  private wantAll(why: string): void {
    for (const { uuid } of this.options.groups()) this.want(uuid, undefined, why)
  }

  private want(uuid: string, names: readonly string[] | undefined, why: string): void {
    const known = this.wanted.get(uuid)
    const only = known === undefined ? new Set<string>() : known.only
    if (names === undefined) this.wanted.set(uuid, { only: undefined, why })
    else if (only !== undefined) this.wanted.set(uuid, { only: new Set([...only, ...names]), why })
    void this.next(uuid)
  }

  /** One look at a group at a time; what is news meanwhile is the next one. */
  private async next(uuid: string): Promise<void> {
    if (this.looking.has(uuid)) return
    this.looking.add(uuid)
    for (let due = this.wanted.get(uuid); due !== undefined && !this.closed; due = this.wanted.get(uuid)) {
      this.wanted.delete(uuid)
      const { only, why } = due
      const group = this.options.groups().find((one) => one.uuid === uuid)
      if (group === undefined) break
      const options = { why, strict: false, verifyDisks: false, often: true, ...(only && { only: [...only] }) }
      if (await this.look(group, options)) continue
      this.wanted.set(uuid, merged(due, this.wanted.get(uuid)))
      await this.options.clock.sleep(CARE_AGAIN_S * 1000)
    }
    this.looking.delete(uuid)
  }

  /** False if another look at the group must end first. */
  private async look(group: Group, options: GroupOptions): Promise<boolean> {
    const { watch, tell, log } = this.options
    try {
      const report = await watch(group, options)
      if (report !== undefined) await tell(report)
    } catch (error) {
      if (error instanceof GroupBusy) return false
      log.warn({ group: group.name, failure: errorText(error) }, 'the instances of a node group were not looked after')
    }
    return true
  }
}

/** Both looks in one. */
function merged(due: Wanted, news: Wanted | undefined): Wanted {
  if (news === undefined) return due
  const only = due.only === undefined || news.only === undefined ? undefined : new Set([...due.only, ...news.only])
  return { only, why: news.why }
}
