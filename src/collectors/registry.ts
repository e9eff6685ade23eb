// All collectors of monitoring data, in the order in which Ganeti lists its own.
import { diskstats } from './diskstats'
import { drbd } from './drbd'
import { instStatusXen } from './inst-status-xen'
import { lv } from './lv'
import type { Collector } from './report'

export const COLLECTORS: readonly Collector[] = [diskstats, drbd, instStatusXen, lv]
