// The programs ganeti-watcher and ganeti-cleaner: their arguments, as Ganeti's, and their results.
import { parseArgs } from 'node:util'
import { expandAbbreviations } from '../../lib/text/abbreviations'
import { RELEASE_VERSION } from '../../model/constants/versions'
import { EXIT } from '../../model/constants/daemons'
import { WATCHER_JOB_AGE_S } from '../../model/limits/watcher'
import type { WatcherOptions } from '../../maintenance/watcher/watcher'
import { errorText } from '../../lib/system-failure'
import { parseTimespec } from '../cluster/control'

export interface WatcherCall extends WatcherOptions {
  readonly debug: boolean
  /** The address at which the remote API is checked. */
  readonly rapiIp: string | undefined
}

/** Ends the program before it does anything. */
export class EndsNow extends Error {
  constructor(
    readonly text: string,
    readonly exitCode: number,
  ) {
    super(text)
  }
}

const WATCHER_HELP = `Usage: ganeti-watcher [options]

Starts instances that should run and do not, activates their disks, and archives old jobs, on the master; starts scripts in
/etc/ganeti/hooks/watcher, and shuts down instances and disks of DRBD on a node that is offline (maintain_node_health), on
every node. The node's parent daemon starts it every five minutes, and when a node has come back. It ends at once while the watcher
is paused.

Options:
  -h, --help               show this help and exit
  --version                show the version and exit
  -d, --debug              say on standard error what it does
  -g, --node-group=UUID    look after this node group only
  -A, --job-age=AGE        archive jobs that ended so long ago (default: 6h); units are s, m, h, d and w
  --ignore-pause           run although the watcher is paused
  --wait-children          wait until all node groups have been looked after (the default)
  --no-wait-children       do not wait
  --no-verify-disks        do not look for disks that are inactive
  --no-strict              do not report nodes that cannot tell of their disks
  --rapi-ip=IP             ask the remote API at this address whether it lives
  --spare                  leave node groups alone that the maintenance daemon has looked after in the last minutes
  --why=TEXT               what "gnt cluster watcher info" shows as the reason of the run

Example: ganeti-watcher --ignore-pause --no-verify-disks
`

const VERSION = (program: string) => `${program} (ganeti) ${RELEASE_VERSION}\n`

const flag = { type: 'boolean' } as const
const text = { type: 'string' } as const

const WATCHER_OPTIONS = {
  help: { ...flag, short: 'h' },
  version: flag,
  debug: { ...flag, short: 'd' },
  'node-group': { ...text, short: 'g' },
  'job-age': { ...text, short: 'A' },
  'ignore-pause': flag,
  'wait-children': flag,
  'no-wait-children': flag,
  'no-verify-disks': flag,
  'no-strict': flag,
  'rapi-ip': text,
  spare: flag,
  why: text,
}
const WATCHER_NAMES = Object.keys(WATCHER_OPTIONS).map((name) => `--${name}`)

/** Throws EndsNow. */
export function readWatcherCall(args: readonly string[]): WatcherCall {
  const { values, positionals } = parsed('ganeti-watcher', () =>
    parseArgs({
      args: whole(args),
      allowPositionals: true,
      options: WATCHER_OPTIONS,
    }),
  )
  if (values.help) throw new EndsNow(WATCHER_HELP, EXIT.success)
  if (values.version) throw new EndsNow(VERSION('ganeti-watcher'), EXIT.success)
  if (positionals.length > 0) throw wrong('ganeti-watcher', `No arguments expected, not '${positionals.join(' ')}'`)
  const age = values['job-age']
  return {
    debug: values.debug === true,
    group: values['node-group'],
    jobAge_s: age === undefined ? WATCHER_JOB_AGE_S : parsed('ganeti-watcher', () => parseTimespec(age)),
    ignorePause: values['ignore-pause'] === true,
    waitForGroups: values['no-wait-children'] !== true,
    verifyDisks: values['no-verify-disks'] !== true,
    strict: values['no-strict'] !== true,
    rapiIp: values['rapi-ip'],
    spare: values.spare === true,
    often: values.spare === true,
    why: values.why ?? 'it was called',
  }
}

/** --ignore means --ignore-pause: Ganeti's takes what is clear from its beginning. */
const whole = (args: readonly string[]): string[] =>
  expandAbbreviations(args, { all: WATCHER_NAMES, own: ['--why', '--spare'], refusal: (why) => new Error(why) })

/** What shells may put in the place of the last word. */
export function completions(program: string, words: readonly string[]): string[] {
  const all = program === 'ganeti-cleaner' ? (words.length > 1 ? [] : CLEANER_WORDS) : WATCHER_WORDS
  return all.filter((one) => one.startsWith(words.at(-1) ?? ''))
}

const CLEANER_WORDS = ['node', 'master', '--help', '--version']
const WATCHER_WORDS = Object.entries(WATCHER_OPTIONS).map(
  ([name, { type }]) => `--${name}${type === 'string' ? '=' : ''}`,
)

export type CleanerPart = 'node' | 'master'

const CLEANER_USAGE = 'Usage: ganeti-cleaner node|master\n'
const CLEANER_HELP = `${CLEANER_USAGE}
"node" removes expired keys of transfers, and files of the watcher about node groups that are gone; "master" removes jobs that were
archived more than 21 days ago. What it did is in /var/log/ganeti/cleaner and master-cleaner.

Example: ganeti-cleaner master
`

/** Throws EndsNow. */
export function readCleanerCall(args: readonly string[]): CleanerPart {
  const [part, ...more] = args
  if (part === '--help' || part === '-h') throw new EndsNow(CLEANER_HELP, EXIT.success)
  if (part === '--version') throw new EndsNow(VERSION('ganeti-cleaner'), EXIT.success)
  if (part === '--help-completion') throw new EndsNow('choices=node,master 1 1\n', EXIT.success)
  if (more.length > 0 || (part !== 'node' && part !== 'master')) throw new EndsNow(CLEANER_USAGE, EXIT.failure)
  return part
}

function parsed<T>(program: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw wrong(program, errorText(error))
  }
}

const wrong = (program: string, why: string): EndsNow =>
  new EndsNow(`${program}: error: ${why}\n"${program} --help" lists what it takes\n`, 2)
