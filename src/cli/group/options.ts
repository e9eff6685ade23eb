// Options that only gnt-group has.
import { flag, value } from '../input/option'

export const oAllocPolicy = value('--alloc-policy', 'alloc_policy', 'string', 'allocation policy of the group', {
  metavar: 'POLICY',
})
export const oForceFailover = flag('--force-failover', 'force_failover', 'fail over, never migrate')
export const oIncludeDefaults = flag('--include-defaults', 'include_defaults', 'print values equal to defaults too')
export const oSequential = flag('--sequential', 'sequential', 'run resulting jobs one by one')
