// The options of all roles. A role names the ones that it takes. Those that no daemon of Ganeti has are our own.
import { parseArgs } from 'node:util'
import { expandAbbreviations } from '../lib/text/abbreviations'
import { ACCESS_LEVELS, type AccessLevel } from '../lib/access-level'
import { errorText } from '../lib/system-failure'

/** What --syslog takes. */
const SYSLOG = ['yes', 'no', 'only'] as const
export type SyslogUsage = (typeof SYSLOG)[number]

const OPTIONS = {
  bind: { type: 'string', short: 'b', multiple: true, value: 'ADDRESS', text: 'listen here; may be repeated' },
  port: { type: 'string', short: 'p', value: 'PORT', text: 'listen on this port' },
  'no-voting': { type: 'boolean', text: 'start without asking the other nodes who is master; needs --yes-do-it' },
  'yes-do-it': { type: 'boolean', text: 'answer the question of --no-voting with yes' },
  'no-require-authentication': { type: 'boolean', own: true, text: 'reads need no login, as in Ganeti' },
  'require-authentication': { type: 'boolean', text: 'reads need a login: the default, and an option that Ganeti has' },
  'force-node': { type: 'boolean', text: 'as --no-voting --yes-do-it' },
  interface: { type: 'string', short: 'i', value: 'NAME', text: 'listen on the address of this network interface' },
  'no-mlock': { type: 'boolean', text: 'for scripts that know Ganeti: no memory is locked here' },
  'no-ssl': { type: 'boolean', text: 'plain HTTP, for a proxy on this machine that has the certificate' },
  'ssl-key': { type: 'string', short: 'K', value: 'FILE', text: 'the key, as PEM. Default: the cluster has its own' },
  'ssl-cert': { type: 'string', short: 'C', value: 'FILE', text: 'the certificate, as PEM' },
  'ssl-chain': {
    type: 'string',
    value: 'FILE',
    text: 'the certificate and those that lead from it to an authority, instead of --ssl-cert',
  },
  'max-clients': { type: 'string', value: 'NUMBER', text: 'connections at once' },
  'access-log': {
    type: 'string',
    own: true,
    value: 'LEVEL',
    choices: ACCESS_LEVELS,
    text: 'requests in its log: none, changes (and what is refused or fails; the default), all',
  },
  plugins: { type: 'string', own: true, value: 'FOLDER', text: 'where the administrator puts plugins' },
  simulated: { type: 'boolean', own: true, text: '"sim" answers for the nodes' },
  give: {
    type: 'string',
    own: true,
    multiple: true,
    value: 'ROLE=OPTION',
    text: 'start ROLE with OPTION; may be repeated',
  },
  config: { type: 'string', own: true, value: 'FILE', text: 'the recorded configuration' },
  state: { type: 'string', own: true, value: 'FILE', text: 'where it keeps what has changed since' },
  socket: { type: 'string', own: true, value: 'PATH', text: 'where it listens' },
} as const

/** Options of all daemons. */
const COMMON = {
  foreground: {
    type: 'boolean',
    short: 'f',
    text: 'stay here: without it a daemon that is called by its own name goes to the background when it is ready',
  },
  debug: { type: 'boolean', short: 'd', text: 'log more' },
  syslog: {
    type: 'string',
    value: 'USAGE',
    choices: SYSLOG,
    text: 'the log goes to the journal or to syslog, too: yes, no, only. Default: yes where systemd started the daemon',
  },
  'no-user-checks': { type: 'boolean', text: 'for scripts that know Ganeti: a daemon here does not ask who runs it' },
  help: { type: 'boolean', short: 'h', text: 'this text' },
  version: { type: 'boolean', short: 'V', text: 'the version' },
  // Not all of Ganeti's daemons have it, and --hel means --help to the others.
  'help-completion': { type: 'boolean', own: true, text: 'the options, for programs that complete words' },
} as const

export type OptionName = keyof typeof OPTIONS

export type OptionTexts = Readonly<Partial<Record<OptionName, string>>>

/** A role, as far as its options go. */
interface Optioned {
  readonly name: string
  readonly port?: { readonly number: number }
  readonly options: readonly OptionName[]
  readonly meanings?: OptionTexts
  readonly refuses?: OptionTexts
}
export type Options = ReturnType<typeof readOptions>

/** Names, and what they mean to the role; those of all daemons are the last. */
export function optionsOf({ options, meanings = {} }: Optioned): (readonly [name: string, option: Option])[] {
  const own = options.map((name) => [name, { ...OPTIONS[name], text: meanings[name] ?? OPTIONS[name].text }] as const)
  return [...own, ...Object.entries(COMMON)]
}

interface Option {
  readonly text: string
  readonly short?: string
  readonly value?: string
  readonly choices?: readonly string[]
  readonly own?: boolean
}

/** Throws an Error whose text names the option. */
export function readOptions(role: Optioned, args: readonly string[]) {
  const options = parse(whole(role, args))
  const foreign = Object.keys(options).find(
    (name) => !Object.hasOwn(COMMON, name) && !role.options.some((own) => own === name),
  )
  if (foreign !== undefined) throw new Error(whyNoOption(role, foreign))
  return {
    ...options,
    ...(options['force-node'] === true && { 'no-voting': true, 'yes-do-it': true }),
    // A role without a port does not read it.
    port: portOf(options.port) ?? role.port?.number ?? 0,
    maxClients: maxClientsOf(options['max-clients']),
    accessLog: accessLevelOf(options['access-log']),
    syslog: syslogOf(options.syslog),
  }
}

/** --fore means --foreground where no other option of the role begins like this. */
function whole(role: Optioned, args: readonly string[]): string[] {
  const options = optionsOf(role)
  return expandAbbreviations(args, {
    all: [...options.map(([name]) => name), ...Object.keys(role.refuses ?? {})].map((name) => `--${name}`),
    own: options.flatMap(([name, { own }]) => (own === true ? [`--${name}`] : [])),
    refusal: (text) => new Error(text),
  })
}

function whyNoOption({ name, refuses = {} }: Optioned, option: string): string {
  const reason = new Map(Object.entries(refuses)).get(option)
  if (reason !== undefined) return `${name} does not take --${option}: ${reason}`
  return `${name} has no option --${option}; "gantryd ${name} --help" lists those that it has`
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: { ...OPTIONS, ...COMMON } }).values
  } catch (error) {
    throw new Error(errorText(error))
  }
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port < 65536) return port
  throw new Error(`--port needs a number from 0 to 65535, not '${text}'`)
}

function maxClientsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new Error(`--max-clients needs a number from 1 on, not '${text}'`)
}

/** Undefined if the option is missing. */
function syslogOf(text: string | undefined): SyslogUsage | undefined {
  const usage = SYSLOG.find((known) => known === text)
  if (text === undefined || usage !== undefined) return usage
  throw new Error(`--syslog is one of ${SYSLOG.join(', ')}, not '${text}'`)
}

export function accessLevelOf(text = 'changes'): AccessLevel {
  const level = ACCESS_LEVELS.find((known) => known === text)
  if (level !== undefined) return level
  throw new Error(`--access-log is one of ${ACCESS_LEVELS.join(', ')}, not '${text}'`)
}
