// Options that only gnt-group has.
import { OpGroupAdd, OpGroupEvacuate } from '../../opcodes/group'
import { flag, parameter } from '../input/option'

export const oAllocPolicy = parameter(OpGroupAdd, 'alloc_policy', {
  type: 'string',
  metavar: 'POLICY',
  help: 'allocation policy of the group',
})
export const oForceFailover = parameter(OpGroupEvacuate, 'force_failover')
export const oIncludeDefaults = flag('--include-defaults', 'include_defaults', 'print values equal to defaults too')
export const oSequential = parameter(OpGroupEvacuate, 'sequential')
