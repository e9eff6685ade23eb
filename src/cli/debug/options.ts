// Options that only gnt-debug has.
import { flag, value } from '../input/option'

export const oCount = value('--count', 'count', 'int', 'how many instances', { default: 2 })
export const oDir = value('--dir', 'direction', 'choice', 'in: show request; out: run and show result', {
  default: 'in',
  choices: ['in', 'out'],
})
export const oDisks = value('--disks', 'disks', 'string', 'disk sizes in MiB, comma list', { default: '4096,4096' })
export const oEach = flag('--each', 'each', 'one submit call per job')
export const oEvacMode = value('--evac-mode', 'evac_mode', 'choice', 'which instances leave the node', {
  default: 'all',
  choices: ['all', 'primary-only', 'secondary-only'],
})
export const oInterruptible = flag('--interruptible', 'interruptible', 'may be stopped through a socket', {
  short: '-i',
})
export const oInterval = value('--interval', 'interval', 'int', 'repeat every so many seconds')
export const oJobRepeat = value('--job-repeat', 'rep_job', 'int', 'submit the job so often', { default: 1 })
export const oMemory = value('--memory', 'memory', 'unit', 'memory, MiB', { default: 128 })
export const oMode = value('--mode', 'mode', 'choice', 'allocator mode', {
  short: '-m',
  default: 'relocate',
  choices: [
    ...['allocate', 'allocate-secondary', 'balance', 'capacity', 'change-group', 'multi-allocate'],
    ...['node-evacuate', 'relocate'],
  ],
})
export const oNics = value('--nics', 'nics', 'string', 'NICs mac/ip/bridge, comma list', {
  default: '00:11:22:33:44:55',
})
export const oNoLocks = flag('--no-locks', 'no_locks', 'take no locks', { short: '-l' })
export const oNoMaster = flag('--no-master', 'on_master', 'do not sleep on the master', { stores: false })
export const oNodeNames = value([], 'on_nodes', 'string', 'nodes to sleep on', { short: '-n', repeatable: true })
export const oOpRepeat = value('--op-repeat', 'rep_op', 'int', 'repeat the opcodes inside a job', { default: 1 })
export const oRepeat = value('--repeat', 'repeat', 'int', 'extra repetitions', { short: '-r', default: 0 })
export const oSpindleUse = value('--spindle-use', 'spindle_use', 'int', 'spindles used', { default: 1 })
export const oTargetGroups = value('--target-groups', 'target_groups', 'string', 'wanted groups', { repeatable: true })
export const oTimingStats = flag('--timing-stats', 'timing_stats', 'print timing')
export const oVcpus = value('--vcpus', 'vcpus', 'int', 'virtual CPUs', { short: '-p', default: 1 })
