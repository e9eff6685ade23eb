// The options of the allocation programs, with Ganeti's names.
import { type NumberKind, parseSize, readNumber } from '../../allocation/model/numbers'
import { ALLOCATION_TEMPLATES, isDiskTemplate } from '../../model/templates'

export interface OptionSpec {
  readonly long: string
  readonly short?: string
  /** The argument's name in the help; in brackets if optional. */
  readonly arg?: string
  readonly help: string
  /** The value of an omitted optional argument. */
  readonly absent?: string
  /** A value that is parsed as a number, under this name in errors. */
  readonly reads?: readonly [what: string, kind: NumberKind]
  /** Returns the mistake in a value. */
  readonly check?: (text: string) => string | undefined
  /** The kind of values that a shell may complete. */
  readonly completes?: string
}

const YES_OR_NO = {
  arg: '[CHOICE]',
  absent: 'yes',
  completes: 'choices=yes,no',
  check: (text: string) =>
    ['yes', 'no'].includes(text) ? undefined : `Invalid choice '${text}', pass one of 'yes' or 'no'`,
} as const

export const PRIORITIES: Readonly<Record<string, number>> = { low: 10, normal: 0, high: -10 }

/** DISK,MEMORY,CPUS[,SPINDLES], with units. */
function checkSpec(kind: 'standard' | 'tiered', text: string): string | undefined {
  const fields = text.split(',')
  if (fields.length < 3 || fields.length > 4) {
    return `Invalid ${kind} specification: '${text}', expected disk,ram,cpu`
  }
  const [disk = '', memory = '', cpus = '', spindles = '1'] = fields
  const read = [
    ['disk', parseSize(disk)],
    ['memory', parseSize(memory)],
    ['cpus', readNumber(cpus, 'whole')],
    ['spindles', readNumber(spindles, 'whole')],
  ] as const
  for (const [what, value] of read) if (typeof value !== 'number') return `${kind} specs ${what}: ${value.error}`
  return undefined
}

const numberIn = (text: string): number => {
  const value = readNumber(text, 'any')
  return typeof value === 'number' ? value : NaN
}

type More = Partial<Pick<OptionSpec, 'short' | 'completes' | 'check'>>

/** An option with a number; `what` is its name in errors. */
const number = (long: string, arg: string, what: string, help: string, more: More = {}): OptionSpec => ({
  ...{ long, arg, help, reads: [what, 'any'] },
  ...more,
})

const whole = (long: string, arg: string, what: string, help: string, more: More = {}): OptionSpec => ({
  ...number(long, arg, what, help, more),
  reads: [what, 'whole'],
})

export const OPTIONS: readonly OptionSpec[] = [
  {
    long: 'print-nodes',
    short: 'p',
    arg: '[FIELDS]',
    help: 'list the nodes; fields after a leading + are added to the usual ones',
  },
  { long: 'print-instances', help: 'list the instances' },
  {
    long: 'print-commands',
    short: 'C',
    arg: '[FILE]',
    help: 'print the shell commands of the solution, or write them to FILE',
    absent: '-',
  },
  { long: 'text-data', short: 't', arg: 'FILE', help: 'read the cluster from this text file', completes: 'file' },
  { long: 'evac-mode', short: 'E', help: 'only move instances off offline nodes' },
  { long: 'restricted-migration', help: 'only migrate off offline nodes' },
  { long: 'first-job-group', help: 'only show the first set of jobs' },
  { long: 'group', short: 'G', arg: 'ID', help: 'work on this node group', completes: 'onegroup' },
  whole('max-length', 'N', 'max solution length', 'make at most this many moves', { short: 'l' }),
  { long: 'verbose', short: 'v', help: 'say more; may be repeated' },
  { long: 'quiet', short: 'q', help: 'say less; may be repeated' },
  {
    long: 'offline',
    short: 'O',
    arg: 'NODE',
    help: 'take this node as offline; may be repeated',
    completes: 'onenode',
  },
  whole(
    'static-kvm-node-memory',
    'N',
    'static node memory',
    'memory of a KVM node itself, in MiB; 0 takes what was reported',
  ),
  number('min-score', 'EPSILON', 'min score', 'stop when the score is this close to the best possible', { short: 'e' }),
  number('max-cpu', 'RATIO', 'parsing max-cpu', 'most virtual CPUs per CPU of a node', {
    check: (text) => (numberIn(text) <= 0 ? 'Invalid value of the max-cpu ratio, expected >0' : undefined),
  }),
  number('min-disk', 'RATIO', 'min free disk space', 'share of the disk to keep free'),
  number('min-gain', 'DELTA', 'min gain', 'least gain of a move once the score is low', { short: 'g' }),
  number('min-gain-limit', 'SCORE', 'min gain limit', 'the score below which the least gain counts'),
  { long: 'no-disk-moves', help: 'no moves that copy disks' },
  { long: 'select-instances', arg: 'INSTS', help: 'only move these instances', completes: 'manyinstances' },
  { long: 'no-instance-moves', help: 'only change secondary nodes' },
  { long: 'explain', help: 'tell of each node that was looked at, on the error output' },
  { long: 'ignore-soft-errors', help: 'ignore the limits that may be exceeded' },
  {
    long: 'dynu-file',
    short: 'U',
    arg: 'FILE',
    help: 'read the utilisation of instances from this file',
    completes: 'file',
  },
  { long: 'ignore-dynu', help: 'take the utilisation of instances as 0' },
  { long: 'mond', ...YES_OR_NO, help: 'ask the monitoring daemons of the nodes for their load: yes or no' },
  { long: 'mond-data', arg: 'FILE', help: 'read what the monitoring daemons say from this file', completes: 'file' },
  { long: 'exit-on-missing-mond-data', help: 'fail where monitoring data is missing' },
  { long: 'mond-xen', help: 'take the load of each instance as Xen reports it' },
  {
    long: 'exclusion-tags',
    arg: 'TAG,...',
    help: 'instances that share a tag with this prefix exclude each other',
    completes: 'string',
  },
  { long: 'exclude-instances', arg: 'INSTS', help: 'do not move these instances', completes: 'manyinstances' },
  {
    long: 'save',
    short: 'S',
    arg: 'FILE',
    help: 'write the state of the cluster, before and after, to FILE.original and FILE.balanced',
  },
  {
    long: 'master',
    short: 'm',
    arg: 'ADDRESS',
    help: 'read the cluster from the remote API at ADDRESS',
    completes: 'host',
  },
  { long: 'luxi', short: 'L', arg: '[SOCKET]', help: "read the cluster from its master's socket", completes: 'file' },
  {
    long: 'ialloc-src',
    short: 'I',
    arg: 'FILE',
    help: 'read the cluster from this request to an allocator',
    completes: 'file',
  },
  { long: 'exec', short: 'X', help: 'carry the solution out, as jobs (needs --luxi)' },
  { long: 'reason', arg: 'REASON', help: 'reason that the jobs give' },
  {
    long: 'priority',
    arg: 'PRIO',
    help: 'priority of the jobs: low, normal or high',
    completes: 'choices=low,normal,high',
    check: (text) => (Object.hasOwn(PRIORITIES, text) ? undefined : `Unknown priority '${text}'`),
  },
  {
    long: 'simulate',
    arg: 'SPEC',
    help: 'a made-up node group: POLICY,NODES,DISK,MEMORY,CPUS[,SPINDLES[,EXCLUSIVE]]',
    completes: 'string',
  },
  {
    long: 'disk-template',
    arg: 'TEMPLATE',
    help: 'disk template of the instances',
    completes: `choices=${ALLOCATION_TEMPLATES.join(',')}`,
    check: (text) =>
      isDiskTemplate(text) ? undefined : `Invalid string value for type DiskTemplate: ${JSON.stringify(text)}`,
  },
  whole('spindle-use', 'SPINDLES', 'parsing spindle-use', 'how much spindle capacity an instance takes', {
    completes: 'float',
    check: (text) => (numberIn(text) < 0 ? 'Invalid value of the spindle-use (expected >= 0)' : undefined),
  }),
  { long: 'no-simulation', help: 'only look, do not balance' },
  { long: 'independent-groups', help: 'judge each node group by itself' },
  { long: 'accept-existing-errors', help: 'go on where nodes fail N+1 already' },
  { long: 'machine-readable', ...YES_OR_NO, help: 'keys and values instead of text: yes or no' },
  {
    long: 'standard-alloc',
    arg: 'STDSPEC',
    help: 'size of the instances of one size: disk,ram,cpu[,spindles]',
    completes: 'string',
    check: (text) => checkSpec('standard', text),
  },
  {
    long: 'tiered-alloc',
    arg: 'TSPEC',
    help: 'first size of the instances that shrink: disk,ram,cpu[,spindles]',
    completes: 'string',
    check: (text) => checkSpec('tiered', text),
  },
  { long: 'no-capacity-checks', help: 'do not ask whether every node may die' },
  { long: 'restrict-allocation-to', arg: 'NODE,...', help: 'allocate on these nodes only', completes: 'manynodes' },
  { long: 'offline-maintenance', help: 'take all instances as shut down' },
  { long: 'no-headers', help: 'no line that says what follows' },
  { long: 'node-tags', arg: 'TAG,...', help: 'only nodes with one of these tags', completes: 'string' },
  { long: 'print-moves', help: 'show where instances must go before a reboot' },
  { long: 'full-evacuation', help: 'move secondaries away too' },
  { long: 'skip-non-redundant', help: 'leave out nodes with instances that are not mirrored' },
  { long: 'ignore-non-redundant', help: 'take no notice of instances that are not mirrored' },
  { long: 'force', short: 'f', help: 'go on in spite of warnings' },
  { long: 'one-step-only', help: 'only the first group' },
  number(
    'minimal-resources',
    'FACTOR',
    'minimal resources',
    'how many instances of the usual size every node must take',
  ),
  number('target-resources', 'FACTOR', 'target resources', 'how many of them after nodes were taken offline'),
  number('job-delay', 'SECONDS', 'job delay', 'how long repair jobs wait before they start'),
  { long: 'dry-run', help: 'only show what would be done' },
  { long: 'output-dir', short: 'd', arg: 'PATH', help: 'where the files are written', completes: 'dir' },
  { long: 'version', short: 'V', help: 'show the version' },
  { long: 'help', short: 'h', help: 'show this help' },
  { long: 'help-completion', help: 'list the options for the completion of shells' },
]
