// gantryd ROLE: the one program behind all daemons. A role loads what it needs when it starts.
import * as path from 'node:path'
import { environmentValue } from './lib/environment'
import { createLog } from './lib/log'
import { environmentPaths, type Paths } from './lib/paths'
import { writesToJournal } from './lib/programs/service-manager'
import { takeOwnUmask } from './lib/programs/umask'
import { errorText } from './lib/system-failure'
import { EXIT } from './model/constants/daemons'
import { RELEASE_VERSION } from './model/constants/versions'
import { ownedLogFile } from './model/owners'
import { completions, optionList } from './roles/completion'
import { helperHelp, roleHelp, usage } from './roles/help'
import { HELPERS, NODE_PROGRAMS, NODE_SERVERS } from './roles/helpers'
import { type Options, readOptions } from './roles/options'
import type { Role } from './roles/role'
import { type RoleName, roleNamed } from './roles/table'
import { serve } from './start/serve'
import type { Start } from './start/start'
import { PROGRAM, processTitle } from './start/program'

/** The compiler complains if a role of the table is missing. */
const starts: Record<RoleName, () => Promise<Start>> = {
  node: async () => (await import('./start/node.js')).start,
  noded: async () => (await import('./start/noded.js')).start,
  kvmd: async () => (await import('./start/kvmd.js')).start,
  sim: async () => (await import('./start/sim.js')).start,
  metad: async () => (await import('./start/metad.js')).start,
  mond: async () => (await import('./start/mond.js')).start,
  confd: async () => (await import('./start/confd.js')).start,
  wconfd: async () => (await import('./start/wconfd.js')).start,
  luxid: async () => (await import('./start/luxid.js')).start,
  maintd: async () => (await import('./start/maintd.js')).start,
  rapi: async () => (await import('./start/rapi.js')).start,
}

const nodePrograms = Object.keys(NODE_PROGRAMS)
const helpers = Object.keys(HELPERS)
const isDescribed = (name: string): boolean =>
  [...nodePrograms, ...helpers, ...Object.keys(NODE_SERVERS)].includes(name)

async function main(argv: readonly string[]): Promise<void> {
  const program = path.basename(argv[1] ?? '').replace(/\.js$/, '')
  const named = [...nodePrograms, ...helpers].includes(program) ? program : /^ganeti-(\w+)$/.exec(program)?.[1]
  const input = argv.slice(2)
  const withName = (words: readonly string[]) => (named === undefined ? words : [named, ...words])
  if (input[0] === '--complete-words') return printLines(completions(withName(input.slice(1))))
  const [first, ...args] = withName(input)
  if (first === 'embedded') return (await import('./embedded/embedded.js')).runEmbedded(args, PROGRAM)
  takeOwnUmask()
  if (first === 'fold') return foldFiles(args)
  if (first !== undefined && isDescribed(first) && /^(--help|-h)$/.test(args[0] ?? '')) return print(helperHelp(first))
  if (first === 'mirrors') return (await import('./start/mirrors.js')).startMirrors(args)
  if (first !== undefined && nodePrograms.includes(first))
    return (await import('./start/node-program.js')).nodeProgram(first, args, environmentPaths())
  if (first !== undefined && helpers.includes(first)) return helper(first, args)
  if (first === '--help' || first === '-h') return print(usage())
  if (first === '--version') return print(`gantryd (ganeti) ${RELEASE_VERSION}\n`)
  await playRole(first, args, named !== undefined)
}

async function helper(name: string, args: readonly string[]): Promise<void> {
  const paths = environmentPaths()
  if (name === 'daemon-util') process.exit(await (await import('./start/daemon-util.js')).daemonUtil(args, paths))
  await (await import('./start/ensure-dirs.js')).ensureDirectories(paths)
}

/** Like Ganeti's, a daemon called by its own name goes to the background. */
async function playRole(name: string | undefined, args: readonly string[], isDetached: boolean): Promise<void> {
  const role = roleNamed(name ?? '')
  if (role === undefined)
    throw new Error(`${name === undefined ? 'no role given' : `unknown role '${name}'`}\n\n${usage()}`)
  const options = readOptions(role, args)
  if (options.help) return print(roleHelp(role))
  if (options['help-completion']) return print(optionList(role))
  if (options.version) return print(`${role.program} (ganeti) ${RELEASE_VERSION}\n`)
  const paths = environmentPaths()
  if (isDetached && options.foreground !== true) return inBackground(role, args)
  const log = createLog(role.name, await logPlaces(role, options, paths))
  process.title = processTitle(role.name, paths)
  await serve(role.name, starts[role.name], { paths, log, options })
}

async function logPlaces(role: Role, { syslog, debug }: Options, paths: Paths) {
  const desired = syslog ?? (writesToJournal() ? 'yes' : 'no')
  const system = desired === 'no' ? undefined : (await import('./start/system-log.js')).systemLog(role.program)
  return {
    file: syslog === 'only' ? undefined : ownedLogFile(paths.logFile(role.log)),
    system,
    level: debug === true ? 'debug' : undefined,
  }
}

async function inBackground(role: Role, args: readonly string[]): Promise<void> {
  const { startInBackground } = await import('./start/background.js')
  process.exit(await startInBackground(role, args))
}

async function foldFiles(args: readonly string[]): Promise<void> {
  const wrong = args.find((arg) => arg !== '--take-file')
  if (wrong !== undefined) throw new Error(`fold has one option, --take-file, and not ${wrong}`)
  const paths = environmentPaths()
  const log = createLog('fold', { file: ownedLogFile(paths.logFile('fold')) })
  const { fold } = await import('./start/fold.js')
  await print(await fold(paths, log, args.length > 0))
}

const printLines = (lines: readonly string[]): Promise<void> => print(lines.map((line) => `${line}\n`).join(''))

async function print(text: string): Promise<void> {
  const output = (await import('./lib/programs/standard-output.js')).standardOutput({ program: 'gantryd' })
  process.stdout.write(text)
  output.finish(EXIT.success)
}

function fail(error: unknown): never {
  process.stderr.write(`gantryd: ${errorText(error).trimEnd()}\n`)
  process.exit(EXIT.failure)
}

if (environmentValue('GANTRY_STACKS') !== undefined) Error.stackTraceLimit = 50
main(process.argv).catch(fail)
