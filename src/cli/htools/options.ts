// Options of the programs of allocation, in the manner of getopt: short ones together, long ones abbreviated, arguments that may be
// left out only when they are glued on.
import { CommandLineError, Stop } from './terminal'

export interface OptionSpec {
  readonly long: string
  readonly short?: string
  /** Its name in the help; in brackets when it may be left out. */
  readonly arg?: string
  readonly help: string
}

const TABLE: readonly OptionSpec[] = [
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
  },
  { long: 'text-data', short: 't', arg: 'FILE', help: 'read the cluster from this text file' },
  { long: 'evac-mode', short: 'E', help: 'only move instances off offline nodes' },
  { long: 'restricted-migration', help: 'only migrate off offline nodes' },
  { long: 'first-job-group', help: 'only show the first set of jobs' },
  { long: 'group', short: 'G', arg: 'ID', help: 'work on this node group' },
  { long: 'max-length', short: 'l', arg: 'N', help: 'make at most this many moves' },
  { long: 'verbose', short: 'v', help: 'say more; may be repeated' },
  { long: 'quiet', short: 'q', help: 'say less; may be repeated' },
  { long: 'offline', short: 'O', arg: 'NODE', help: 'take this node as offline; may be repeated' },
  { long: 'static-kvm-node-memory', arg: 'N', help: 'memory of a KVM node itself, in MiB; 0 takes what was reported' },
  { long: 'min-score', short: 'e', arg: 'EPSILON', help: 'stop when the score is this close to the best possible' },
  { long: 'max-cpu', arg: 'RATIO', help: 'most virtual CPUs per CPU of a node' },
  { long: 'min-disk', arg: 'RATIO', help: 'share of the disk to keep free' },
  { long: 'min-gain', short: 'g', arg: 'DELTA', help: 'least gain of a move once the score is low' },
  { long: 'min-gain-limit', arg: 'SCORE', help: 'the score below which the least gain counts' },
  { long: 'no-disk-moves', help: 'no moves that copy disks' },
  { long: 'select-instances', arg: 'INSTS', help: 'only move these instances' },
  { long: 'no-instance-moves', help: 'only change secondary nodes' },
  { long: 'explain', help: 'tell of each node that was looked at, on the error output' },
  { long: 'ignore-soft-errors', help: 'ignore the limits that may be exceeded' },
  { long: 'dynu-file', short: 'U', arg: 'FILE', help: 'read the utilisation of instances from this file' },
  { long: 'ignore-dynu', help: 'take the utilisation of instances as 0' },
  { long: 'exclusion-tags', arg: 'TAG,...', help: 'instances that share a tag with this prefix exclude each other' },
  { long: 'exclude-instances', arg: 'INSTS', help: 'do not move these instances' },
  {
    long: 'save',
    short: 'S',
    arg: 'FILE',
    help: 'write the state of the cluster, before and after, to FILE.original and FILE.balanced',
  },
  { long: 'master', short: 'm', arg: 'ADDRESS', help: 'read the cluster from the remote API at ADDRESS' },
  { long: 'luxi', short: 'L', arg: '[SOCKET]', help: "read the cluster from its master's socket" },
  { long: 'ialloc-src', short: 'I', arg: 'FILE', help: 'read the cluster from this request to an allocator' },
  { long: 'exec', short: 'X', help: 'carry the solution out, as jobs (needs --luxi)' },
  { long: 'reason', arg: 'REASON', help: 'reason that the jobs give' },
  { long: 'priority', arg: 'PRIO', help: 'priority of the jobs: low, normal or high' },
  { long: 'simulate', arg: 'SPEC', help: 'a made-up node group: POLICY,NODES,DISK,MEMORY,CPUS[,SPINDLES[,EXCLUSIVE]]' },
  { long: 'disk-template', arg: 'TEMPLATE', help: 'disk template of the instances' },
  { long: 'spindle-use', arg: 'SPINDLES', help: 'how much spindle capacity an instance takes' },
  { long: 'no-simulation', help: 'only look, do not balance' },
  { long: 'independent-groups', help: 'judge each node group by itself' },
  { long: 'accept-existing-errors', help: 'go on where nodes fail N+1 already' },
  { long: 'machine-readable', arg: '[CHOICE]', help: 'keys and values instead of text: yes or no' },
  { long: 'standard-alloc', arg: 'STDSPEC', help: 'size of the instances of one size: disk,ram,cpu[,spindles]' },
  { long: 'tiered-alloc', arg: 'TSPEC', help: 'first size of the instances that shrink: disk,ram,cpu[,spindles]' },
  { long: 'no-capacity-checks', help: 'do not ask whether every node may die' },
  { long: 'restrict-allocation-to', arg: 'NODE,...', help: 'allocate on these nodes only' },
  { long: 'offline-maintenance', help: 'take all instances as shut down' },
  { long: 'no-headers', help: 'no line that says what follows' },
  { long: 'node-tags', arg: 'TAG,...', help: 'only nodes with one of these tags' },
  { long: 'print-moves', help: 'show where instances must go before a reboot' },
  { long: 'full-evacuation', help: 'move secondaries away too' },
  { long: 'skip-non-redundant', help: 'leave out nodes with instances that are not mirrored' },
  { long: 'ignore-non-redundant', help: 'take no notice of instances that are not mirrored' },
  { long: 'force', short: 'f', help: 'go on in spite of warnings' },
  { long: 'one-step-only', help: 'only the first group' },
  { long: 'minimal-resources', arg: 'FACTOR', help: 'how many instances of the usual size every node must take' },
  { long: 'target-resources', arg: 'FACTOR', help: 'how many of them after nodes were taken offline' },
  { long: 'luxi', short: 'L', arg: '[SOCKET]', help: 'ask the master daemon at this socket, or at the usual one' },
  { long: 'job-delay', arg: 'SECONDS', help: 'how long repair jobs wait before they start' },
  { long: 'reason', arg: 'REASON', help: 'why the jobs are submitted' },
  { long: 'dry-run', help: 'only show what would be done' },
  { long: 'output-dir', short: 'd', arg: 'PATH', help: 'where the files are written' },
  { long: 'version', short: 'V', help: 'show the version' },
  { long: 'help', short: 'h', help: 'show this help' },
]

/** What was given: the values of each option in order; an option without a value has an empty one. */
export interface Parsed {
  readonly program: string
  readonly given: ReadonlyMap<string, readonly string[]>
  readonly rest: readonly string[]
}

export const parseOptions = (program: string, names: readonly string[], args: readonly string[]): Parsed =>
  parseWith(
    program,
    TABLE.filter(({ long }) => names.includes(long)),
    args,
  )

export function parseWith(program: string, specs: readonly OptionSpec[], args: readonly string[]): Parsed {
  const given = new Map<string, string[]>()
  const rest: string[] = []
  const queue = [...args]
  const note = (spec: OptionSpec, text: string, glued: string | undefined) => {
    const optional = spec.arg === undefined || spec.arg.startsWith('[')
    const value = glued ?? (optional ? '' : queue.shift())
    if (value === undefined) throw usage(program, specs, `option \`${text}' requires an argument ${spec.arg}`)
    given.set(spec.long, [...(given.get(spec.long) ?? []), value])
  }
  for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
    if (one === '--') rest.push(...queue.splice(0))
    else if (one.startsWith('--')) {
      const [name = '', ...value] = one.slice(2).split('=')
      note(findLong(program, specs, name), one, value.length > 0 ? value.join('=') : undefined)
    } else if (one.startsWith('-') && one.length > 1) {
      for (let at = 1; at < one.length; at++) {
        const spec = specs.find(({ short }) => short === one[at])
        if (spec === undefined) throw usage(program, specs, `unrecognized option \`-${one[at]}'`)
        const glued = spec.arg !== undefined && at + 1 < one.length ? one.slice(at + 1) : undefined
        note(spec, `-${one[at]}`, glued)
        if (glued !== undefined) break
      }
    } else if (one !== '') rest.push(one)
  }
  if (given.has('help')) throw new Stop(0, helpOf(program, specs))
  return { program, given, rest }
}

export const has = ({ given }: Parsed, name: string): boolean => given.has(name)

export const textOf = ({ given }: Parsed, name: string): string | undefined => given.get(name)?.at(-1)

export const listOf = (parsed: Parsed, name: string): string[] | undefined => textOf(parsed, name)?.split(',')

export function numberOf(parsed: Parsed, name: string, what: string): number | undefined {
  const text = textOf(parsed, name)
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value)) {
    throw new Stop(1, '', `Error while parsing command line arguments:\n${what}: cannot parse string '${text}'\n`)
  }
  return value
}

/** On, off, or on for want of a value. */
export function choiceOf(parsed: Parsed, name: string): boolean {
  const text = textOf(parsed, name)
  if (text === undefined || text === 'no') return false
  if (text === '' || text === 'yes') return true
  throw new Stop(
    1,
    '',
    `Error while parsing command line arguments:\nInvalid value: '${text}', expected 'yes' or 'no'\n`,
  )
}

/** In quotes unless it is one plain word, or nothing, as Ganeti's programs write values. */
export const quoted = (text: string): string => (/^[\p{L}\p{N}.]*$/u.test(text) ? text : `'${text}'`)

export const verbosity = ({ given }: Parsed): number =>
  Math.max(0, 1 + (given.get('verbose')?.length ?? 0) - (given.get('quiet')?.length ?? 0))

function findLong(program: string, specs: readonly OptionSpec[], name: string): OptionSpec {
  const exact = specs.find(({ long }) => long === name)
  const fitting = exact === undefined ? specs.filter(({ long }) => long.startsWith(name)) : [exact]
  const [found] = fitting
  if (found === undefined) throw usage(program, specs, `unrecognized option \`--${name}'`)
  if (fitting.length > 1) throw usage(program, specs, `option \`--${name}' is ambiguous`)
  return found
}

const usage = (program: string, specs: readonly OptionSpec[], text: string): CommandLineError =>
  new CommandLineError(2, '', `Command line error: ${text}\n\n${helpOf(program, specs)}`)

function helpOf(program: string, specs: readonly OptionSpec[]): string {
  const lines = specs.map(({ long, short, arg, help }) => {
    const value = arg === undefined ? '' : arg.startsWith('[') ? `[=${arg.slice(1)}` : `=${arg}`
    return `  ${short === undefined ? '   ' : `-${short},`} --${`${long}${value}`.padEnd(28)} ${help}`
  })
  return `Usage: ${program} [OPTION...]\n${lines.join('\n')}\n`
}
