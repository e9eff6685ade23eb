// The watcher's reports: the last run of each node group, kept in a file, with events of its actions and figures of all
// runs.
import { type Clock, seconds } from '../../lib/clock'
import type { Disk } from '../../lib/disk'
import type { Log } from '../../lib/log'
import { pausedUntil } from '../../lib/file/pause-file'
import type { Paths } from '../../lib/paths'
import { isObject } from '../../lib/shapes/shape'
import type { ConfigData } from '../../model/config'
import { WATCHER_EVERY_S, WATCHER_REPORT_NAMES_MAX } from '../../model/limits/watcher'
import { type WatcherInfo, type WatcherReport, watcherReport } from '../../rpc/luxi/watcher-report'
import type { NewEvent } from '../events/event-history'
import { metric } from '../metric'

interface Parts {
  readonly disk: Disk
  readonly paths: Paths
  readonly clock: Clock
  readonly log: Log
  config(): ConfigData
  add(event: NewEvent): void
}

export class WatcherReports {
  /** By node group. */
  private readonly last = new Map<string, WatcherReport>()
  private readonly counted = new Map<string, number>()

  private constructor(private readonly parts: Parts) {}

  static async open(parts: Parts): Promise<WatcherReports> {
    const reports = new WatcherReports(parts)
    try {
      const text = (await parts.disk.read(parts.paths.watcherReports))?.toString('utf8')
      const reported: unknown = text === undefined ? [] : JSON.parse(text)
      for (const one of Array.isArray(reported) ? reported : []) reports.keep(watcherReport.parse(one))
    } catch (error) {
      parts.log.warn({ err: error }, 'the last report of the watcher cannot be read; its next run makes a new one')
    }
    return reports
  }

  async watched(reported: WatcherReport): Promise<null> {
    const { disk, paths, log, add } = this.parts
    for (const [outcome, names] of outcomes(reported)) this.count(outcome, names.length)
    this.count('runs', 1)
    if (reported.error !== null) this.count('errors', 1)
    const report = shortened(reported)
    this.keep(report)
    const event = eventOf(report)
    if (event !== undefined) add(event)
    const text = JSON.stringify([...this.last.values()])
    await disk.write(paths.watcherReports, text, { durable: false }).catch((error: unknown) => {
      log.warn({ err: error }, 'the report of the watcher could not be written, so it is only in memory')
    })
    return null
  }

  async info(): Promise<WatcherInfo> {
    const { disk, paths, clock } = this.parts
    const groups = this.groups()
    const newest = Math.max(...groups.map(({ started }) => started))
    return {
      paused_until: await pausedUntil(disk, paths.watcherPause, seconds(clock)),
      next_run: Number.isFinite(newest) ? newest + WATCHER_EVERY_S : null,
      groups,
    }
  }

  /** In prom-client's format. */
  measures(): unknown[] {
    const runs = this.groups().map(({ name, ended }) => ({ value: ended, labels: { group: name } }))
    const done = [...this.counted].map(([outcome, value]) => ({ value, labels: { outcome } }))
    return [
      metric(
        'gantry_watcher_last_run_timestamp_seconds',
        'When the watcher last looked after a node group',
        'gauge',
        runs,
      ),
      metric(
        'gantry_watcher_outcomes_total',
        'Runs of the watcher for node groups, and what they did',
        'counter',
        done,
      ),
    ]
  }

  private groups(): WatcherReport[] {
    const { nodegroups } = this.parts.config()
    return [...this.last.values()].filter(({ group }) => nodegroups[group] !== undefined)
  }

  /** Forgets node groups that are gone. */
  private keep(report: WatcherReport): void {
    this.last.set(report.group, report)
    const there = new Set(this.groups())
    for (const [group, one] of this.last) if (!there.has(one)) this.last.delete(group)
  }

  private count(outcome: string, times: number): void {
    this.counted.set(outcome, (this.counted.get(outcome) ?? 0) + times)
  }
}

const outcomes = (report: WatcherReport): [outcome: string, names: readonly unknown[]][] => [
  ['restarted', report.restarted],
  ['cleaned_up', report.cleanedUp],
  ['activated', report.activated],
  ['gave_up', report.gaveUp],
  ['failed', report.failed],
]

/** After a power failure of the cluster there are thousands of names. */
function shortened(report: WatcherReport): WatcherReport {
  const short = <T>(list: readonly T[]): readonly T[] => list.slice(0, WATCHER_REPORT_NAMES_MAX)
  const { restarted, cleanedUp, activated, gaveUp, left, failed } = report
  return {
    ...report,
    ...{ restarted: short(restarted), cleanedUp: short(cleanedUp), activated: short(activated) },
    ...{ gaveUp: short(gaveUp), left: short(left), failed: short(failed) },
  }
}

/** Returns undefined for a run that found nothing wrong. */
function eventOf(report: WatcherReport): NewEvent | undefined {
  const named = outcomes(report).flatMap(([, names]) => names)
  if (named.length === 0 && report.error === null) return undefined
  const instances = named.map((one) => (isObject(one) ? String(one['name']) : String(one)))
  const objects = [`group/${report.name}`, ...new Set(instances.map((name) => `instance/${name}`))]
  return { type: 'watcher', objects, data: { change: 'ran', ...report } }
}
