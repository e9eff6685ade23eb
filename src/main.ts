// gantryd <role>: the one program behind all daemons. It reads the command line, and keeps a role until somebody ends it; roles wire
// implementations together, and each is loaded alone.
import * as path from 'node:path'
import { environmentValue } from './lib/environment'
import { createLog, type Log } from './lib/log'
import { environmentPaths, type Paths } from './lib/paths'
import { checkLimits } from './lib/process-limits'
import { errorText } from './lib/system-failure'
import { EXIT } from './model/constants/daemons'
import { RELEASE_VERSION } from './model/constants/versions'
import { SYSTEM_LIMITS } from './model/limits'
import { ownedDisk as disk, ownedLogFile } from './model/owners'
import { USAGE, fail, readOptions } from './roles/common/options'
import { PROGRAM, type Running, type Start, titleOf } from './roles/common/start'

const NODE_PROGRAMS: readonly string[] = ['ssh-update', 'prepare-node-join', 'node-daemon-setup']

const roles: Record<string, (start: Start) => Promise<Running>> = {
  node: async (start) => (await import('./roles/node.js')).node(start),
  noded: async (start) => (await import('./roles/noded.js')).noded(start),
  wconfd: async (start) => (await import('./roles/wconfd.js')).wconfd(start),
  luxid: async (start) => (await import('./roles/luxid.js')).luxid(start),
  rapi: async (start) => (await import('./roles/rapi.js')).rapi(start),
  sim: async (start) => (await import('./roles/sim.js')).sim(start),
  fold: async (start) => (await import('./roles/fold.js')).fold(start),
}

async function main(argv: readonly string[]): Promise<void> {
  const program = path.basename(argv[1] ?? '').replace(/\.js$/, '')
  const named = NODE_PROGRAMS.includes(program) ? program : /^ganeti-(\w+)$/.exec(program)?.[1]
  const [first, ...rest] = named === undefined ? argv.slice(2) : [named, ...argv.slice(2)]
  if (first === 'embedded') return (await import('./embedded/embedded.js')).runEmbedded(rest, PROGRAM)
  if (first !== undefined && NODE_PROGRAMS.includes(first))
    return (await import('./roles/node-programs.js')).nodeProgram(first, rest)
  const role = first === undefined ? undefined : Object.hasOwn(roles, first) ? roles[first] : undefined
  const options = readOptions(rest)
  if (options.help || first === '--help' || first === '-h') return print(USAGE)
  if (first === '--version' || (options.version && role !== undefined))
    return print(`${role === undefined ? 'gantryd' : `ganeti-${first}`} (ganeti) ${RELEASE_VERSION}\n`)
  if (role === undefined || first === undefined)
    fail(`${first === undefined ? 'no role given' : `unknown role '${first}'`}\n\n${USAGE}`)
  const paths = environmentPaths()
  const log = createLog(first, { file: ownedLogFile(paths.logFile(first)) })
  process.title = titleOf(first, paths)
  await serve(first, paths, log, () => role({ paths, log, options }))
}

async function print(text: string): Promise<void> {
  const output = (await import('./lib/standard-output.js')).standardOutput({ program: 'gantryd' })
  process.stdout.write(text)
  output.finish(0)
}

/** Starts a role, says so, and ends it in order on SIGTERM, SIGINT, or when the process that started it is gone. */
async function serve(role: string, paths: Paths, log: Log, start: () => Promise<Running>): Promise<void> {
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'a promise was rejected and nobody looked'))
  // One that is told to end while it starts has promised nothing yet.
  let end: (why: string) => void = () => process.exit(EXIT.failure)
  process.on('SIGTERM', () => end('SIGTERM'))
  process.on('SIGINT', () => end('SIGINT'))
  process.once('disconnect', () => end('the parent is gone'))
  let running: Running
  try {
    for (const warning of checkLimits(SYSTEM_LIMITS)) log.warn(warning)
    running = await start()
  } catch (error) {
    log.error({ err: error }, 'cannot start')
    const code = error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : EXIT.failure
    process.stderr.write(`${errorText(error)}\n`)
    process.exit(code)
  }
  if (role === 'fold') return
  await disk.makeDirectory(paths.runDir)
  await disk.write(paths.pidFile(role), `${process.pid}\n`, { mode: 0o644, durable: false })
  let ending = false
  end = (why) => {
    if (ending) return
    ending = true
    log.info({ why }, 'stopping')
    running
      .close()
      .then(() => disk.remove(paths.pidFile(role)))
      .then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'did not stop cleanly')
          process.exit(EXIT.failure)
        },
      )
  }
  process.on('SIGHUP', () => running.reload?.())
  process.send?.({ ready: true, details: running.details })
}

if (environmentValue('GANTRY_STACKS') !== undefined) Error.stackTraceLimit = 50
main(process.argv).catch((error: unknown) => fail(errorText(error)))
