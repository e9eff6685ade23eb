// Options that only gnt-debug has.
import { OpTestAllocator, OpTestDelay } from '../../opcodes/test'
import { flag, parameter, value } from '../input/option'

export const oCount = value('--count', 'count', 'int', 'how many instances', { default: 2 })
export const oDir = parameter(OpTestAllocator, 'direction', {
  long: '--dir',
  default: 'in',
  metavar: 'DIRECTION',
  help: 'in: show request; out: run and show result',
})
export const oDisks = value('--disks', 'disks', 'string', 'disk sizes in MiB, comma list', { default: '4096,4096' })
export const oEach = flag('--each', 'each', 'one submit call per job')
export const oEvacMode = parameter(OpTestAllocator, 'evac_mode', {
  default: 'all',
  help: 'which instances leave the node',
})
export const oInterruptible = parameter(OpTestDelay, 'interruptible', {
  short: '-i',
  help: 'may be stopped through a socket',
})
export const oInterval = value('--interval', 'interval', 'int', 'repeat every so many seconds')
export const oJobRepeat = value('--job-repeat', 'rep_job', 'int', 'submit the job so often', { default: 1 })
export const oMemory = parameter(OpTestAllocator, 'memory', { type: 'unit', default: 128, help: 'memory, MiB' })
export const oMode = parameter(OpTestAllocator, 'mode', { short: '-m', default: 'relocate', help: 'allocator mode' })
export const oNics = value('--nics', 'nics', 'string', 'NICs mac/ip/bridge, comma list', {
  default: '00:11:22:33:44:55',
})
export const oNoLocks = flag('--no-locks', 'no_locks', 'take no locks', { short: '-l' })
export const oNoMaster = parameter(OpTestDelay, 'on_master', { long: '--no-master' })
export const oNodeNames = value([], 'on_nodes', 'string', 'nodes to sleep on', { short: '-n', repeatable: true })
export const oOpRepeat = value('--op-repeat', 'rep_op', 'int', 'repeat the opcodes inside a job', { default: 1 })
export const oRepeat = parameter(OpTestDelay, 'repeat', { short: '-r' })
export const oSpindleUse = parameter(OpTestAllocator, 'spindle_use', { help: 'spindles used' })
export const oTargetGroups = value('--target-groups', 'target_groups', 'string', 'wanted groups', { repeatable: true })
export const oTimingStats = flag('--timing-stats', 'timing_stats', 'print timing')
export const oVcpus = parameter(OpTestAllocator, 'vcpus', { short: '-p', default: 1 })
