// What the watcher did last: `gnt cluster watcher info --verbose`.
import type { WatcherInfo, WatcherReport } from '../../rpc/luxi/watcher-report'
import { formatCtime } from '../output/format'

export function watcherLines({ next_run, groups }: WatcherInfo): string[] {
  if (next_run === null) return ['It has not run yet.']
  return [`It runs again by ${formatCtime(next_run)}, and when a node has come back.`, ...groups.flatMap(groupLines)]
}

function groupLines(report: WatcherReport): string[] {
  const { name, by, started, ended, why, error, left, failed } = report
  const lists: [what: string, names: readonly string[]][] = [
    ['started', report.restarted],
    ['cleaned up after', report.cleanedUp],
    ['activated disks of', report.activated],
    ['gave up', report.gaveUp],
  ]
  const done = lists.flatMap(([what, names]) => (names.length === 0 ? [] : [`  - ${what}: ${names.join(', ')}`]))
  const more = [
    ...left.map((one) => `  - left ${one.name} as it is: ${one.why}`),
    ...failed.map((one) => `  - failed for ${one.name}${one.job === null ? '' : ` (job ${one.job})`}: ${one.why}`),
    ...(error === null ? [] : [`  - it did not get to its end: ${error}`]),
  ]
  const all = [...done, ...more]
  const took_s = (ended - started).toFixed(1)
  return [
    `- Node group ${name}: looked after${by === 'maintd' ? ' by maintd' : ''} at ${formatCtime(started)} in ${took_s} s, because ${why}`,
    ...(all.length === 0 ? ['  - all was well'] : all),
  ]
}
