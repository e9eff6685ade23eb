// The JSON form of objects that do not come from queries, for /3 and for commands that print data.
import { stampText, timeText } from '../lib/text/rfc3339'
import type { NodeHistory } from '../model/history'
import type { ShownSnapshot } from '../model/snapshots'
import type { TokenInfo } from '../rpc/luxi/gantry'
import type { InstanceHistories } from '../rpc/luxi/history'
import type { NodeStorage } from '../rpc/luxi/resources'
import type { WatcherInfo } from '../rpc/luxi/watcher-report'

export const clusterShape = (info: Readonly<Record<string, unknown>>) => ({
  ...info,
  ctime: stampText(info['ctime']),
  mtime: stampText(info['mtime']),
})

export const snapshotShape = ({ name, disk, size, node, logical_id, ctime, status }: ShownSnapshot) => ({
  ...{ disk, name, size_mib: size, node, logical_id: logical_id.map(String), created: timeText(ctime), status },
})

export const tokenShape = ({ permissions, tags, groups, created, expires, ...rest }: TokenInfo) => ({
  ...rest,
  created: timeText(created),
  expires: expires === null ? null : timeText(expires),
  permissions: [...permissions],
  tags: [...tags],
  groups: [...groups],
})

/** The last hours, with times as texts. */
export const nodeMetricsShape = ({ times, ...columns }: NodeHistory) => ({ times: times.map(timeText), ...columns })
export const instanceMetricsShape = ({ times, ...columns }: InstanceHistories) => ({
  times: times.map(timeText),
  ...columns,
})

/** A node's storage for disks. */
export const storageShape = ({ type, units, problem }: NodeStorage) => ({
  ...{ type, problem },
  units: units.map(({ name, size, used, free, allocatable }) => ({
    ...{ name, size_mib: size, used_mib: used, free_mib: free, allocatable },
  })),
})

/** The runs of the watcher, with times as texts. */
export const watcherShape = ({ paused_until, next_run, groups }: WatcherInfo) => ({
  paused_until: paused_until === null ? null : timeText(paused_until),
  next_run: next_run === null ? null : timeText(next_run),
  groups: groups.map(({ restarted, cleanedUp, activated, gaveUp, left, failed, ...group }) => ({
    ...group,
    ...{ started: timeText(group.started), ended: timeText(group.ended) },
    ...{ restarted: [...restarted], cleanedUp: [...cleanedUp], activated: [...activated], gaveUp: [...gaveUp] },
    ...{ left: left.map((one) => ({ ...one })), failed: failed.map((one) => ({ ...one })) },
  })),
})
