// How /3 shows what comes of no query; commands that print data show it so, too.
import { stampText, timeText } from '../lib/rfc3339'
import type { TokenInfo } from '../rpc/luxi/gantry'

export const clusterShape = (info: Readonly<Record<string, unknown>>) => ({
  ...info,
  ctime: stampText(info['ctime']),
  mtime: stampText(info['mtime']),
})

export const tokenShape = ({ permissions, tags, groups, created, expires, ...rest }: TokenInfo) => ({
  ...rest,
  created: timeText(created),
  expires: expires === null ? null : timeText(expires),
  permissions: [...permissions],
  tags: [...tags],
  groups: [...groups],
})
