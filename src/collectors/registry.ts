// All monitoring collectors, Ganeti's first, in its order.
import { daemons } from './daemon/daemons'
import { hypervisors } from './hypervisor/hypervisors'
import { instDiskStatus } from './instance/inst-disk-status'
import { instStatus } from './instance/inst-status'
import { instStatusXen } from './instance/inst-status-xen'
import { cpuAvgLoad } from './load/cpu-avg-load'
import { kvmCpuAvgLoad, kvmInstRss } from './load/kvm'
import { xenCpuAvgLoad } from './load/xen-cpu-avg-load'
import { clock } from './node/clock'
import { diagnose } from './node/diagnose'
import { system } from './node/system'
import type { Collector } from './report'
import { diskstats } from './storage/diskstats'
import { drbd } from './storage/drbd'
import { lv } from './storage/lv'
import { storage } from './storage/storage'

export const COLLECTORS: readonly Collector[] = [
  ...[cpuAvgLoad, xenCpuAvgLoad, diskstats, drbd, instStatusXen, lv],
  ...[kvmCpuAvgLoad, kvmInstRss, instStatus, instDiskStatus, storage, daemons, hypervisors, system, clock, diagnose],
]
