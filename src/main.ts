// gantryd <role>: the one program behind all daemons, and the only place that wires implementations together. Roles load what
// they need when they start.
import { errorText } from './lib/system-failure'
import { spawn } from 'node:child_process'
import * as path from 'node:path'
import { parseArgs } from 'node:util'
import { ACCESS_LEVELS } from './daemons/rapi/access-log'
import { systemClock as clock } from './lib/clock'
import { environmentValue } from './lib/environment'
import { hostAddress } from './lib/hosts-file'
import { createLog, type Log } from './lib/log'
import { environmentPaths, type Paths } from './lib/paths'
import { checkLimits } from './lib/process-limits'
import { systemRandom as random } from './lib/random'
import { EXIT, PORT } from './model/constants/daemons'
import { PATH } from './model/constants/paths'
import { ALLOCATION_MEMORY_MIB, ALLOCATION_S, ALLOCATION_THREADS, DAEMON_STOP_S, SYSTEM_LIMITS } from './model/limits'
import { RELEASE_VERSION } from './model/constants/versions'
import { claimAll, ownedDisk as disk, ownedLogFile } from './model/owners'

/** A running role. */
interface Running {
  close(): Promise<void>
  reload?(): void
  /** Told to whoever started the process, with the news that it is ready. */
  details?: unknown
}

interface Start {
  paths: Paths
  log: Log
  options: Options
}

type Options = ReturnType<typeof readOptions>

const USAGE = `usage: gantryd ROLE [options]

roles:
  node      this node's daemons: starts them, and starts them again when they die
  noded     obeys the master on this node
  wconfd    keeps the configuration and the locks (master)
  luxid     keeps the job queue and answers questions (master)
  rapi      the remote API (master)
  sim       answers for all nodes of a recorded cluster
  fold      writes plain files from the journals, config.data and jobs, for other tools; no daemon may run
  embedded  a cluster of virtual nodes on this machine: what "npm start" runs; see "gantryd embedded --help"

programs that a master runs here over SSH, with a request on the standard input; they have these names, too:
  ssh-update         changes the lists of SSH keys
  prepare-node-join  gives this node the cluster's host keys, and lets its candidates in
  node-daemon-setup  gives it the cluster's certificate, and starts its daemons

options:
  -b, --bind ADDRESS             listen here (noded: the node's address; rapi: may be repeated, default all)
  -p, --port PORT                listen on this port
      --no-voting --yes-do-it    start without asking the other nodes who is master
      --no-require-authentication  rapi: reads need no login, as in Ganeti
      --access-log LEVEL         rapi: requests in its log: none, changes (and what is refused or fails; the default), all
      --simulated                node: "sim" answers for the nodes
      --config FILE, --state FILE, --socket PATH   sim: recorded configuration, where it keeps its state, where it listens
  -h, --help                     this text
      --version                  the version

GANETI_ROOTDIR and GANETI_HOSTNAME select a virtual node.
`

const NODE_PROGRAMS: readonly string[] = ['ssh-update', 'prepare-node-join', 'node-daemon-setup']

const roles: Record<string, (start: Start) => Promise<Running>> = { node, noded, wconfd, luxid, rapi, sim, fold }

async function main(argv: readonly string[]): Promise<void> {
  const program = path.basename(argv[1] ?? '').replace(/\.js$/, '')
  const named = NODE_PROGRAMS.includes(program) ? program : /^ganeti-(\w+)$/.exec(program)?.[1]
  const [first, ...rest] = named === undefined ? argv.slice(2) : [named, ...argv.slice(2)]
  if (first === 'embedded') return (await import('./embedded/embedded.js')).runEmbedded(rest, __filename)
  if (first !== undefined && NODE_PROGRAMS.includes(first)) return nodeProgram(first, rest)
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

const titleOf = (role: string, { root, hostname }: Paths): string =>
  `ganeti-${role}${root === '' ? '' : ` ${hostname}`}`

async function nodeProgram(name: string, args: readonly string[]): Promise<void> {
  const known = ['--dry-run', '--debug', '--verbose', '-d', '-v']
  const unknown = args.find((arg) => !known.includes(arg))
  if (unknown !== undefined) fail(`${name}: no arguments are expected, only ${known.join(', ')}; not '${unknown}'`)
  const { runNodeProgram } = await import('./services/node-programs.js')
  const paths = environmentPaths()
  const startNode = () => startInBackground(paths)
  await runNodeProgram(name, args.includes('--dry-run'), {
    paths,
    disk,
    clock,
    random,
    input: process.stdin,
    startNode,
  })
}

/** Daemons that run here already begin again, with what they find now. */
async function startInBackground(paths: Paths): Promise<void> {
  const pid = Number((await disk.read(paths.pidFile('node')))?.toString('utf8'))
  // Another process may have the number by now.
  const command = (await disk.read(`/proc/${pid}/cmdline`))?.toString('utf8') ?? ''
  if (command.replace(/\0.*$/s, '') === titleOf('node', paths) && signal(pid, 'SIGTERM'))
    for (const end_ms = clock.monotonic_ms() + DAEMON_STOP_S * 1000; signal(pid, 0); await clock.sleep(100))
      if (clock.monotonic_ms() > end_ms)
        fail(`the daemons of this node (process ${pid}) did not stop within ${DAEMON_STOP_S} s`)
  spawn(process.execPath, [__filename, 'node'], { detached: true, stdio: 'ignore', cwd: '/' }).unref()
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

function readOptions(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        bind: { type: 'string', short: 'b', multiple: true },
        port: { type: 'string', short: 'p' },
        'no-voting': { type: 'boolean' },
        'yes-do-it': { type: 'boolean' },
        'no-require-authentication': { type: 'boolean' },
        'access-log': { type: 'string' },
        'require-authentication': { type: 'boolean' },
        simulated: { type: 'boolean' },
        config: { type: 'string' },
        state: { type: 'string' },
        socket: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    })
    const port = values.port === undefined ? undefined : Number(values.port)
    if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65536))
      fail(`--port needs a number from 0 to 65535, not '${values.port}'`)
    const accessLog = ACCESS_LEVELS.find((level) => level === (values['access-log'] ?? 'changes'))
    if (accessLog === undefined)
      fail(`--access-log is one of ${ACCESS_LEVELS.join(', ')}, not '${values['access-log']}'`)
    return { ...values, port, accessLog }
  } catch (error) {
    return fail(`${errorText(error)}\n\n${USAGE}`)
  }
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

async function node({ paths, log, options }: Start): Promise<Running> {
  const { Supervisor } = await import('./daemons/node/supervisor.js')
  claimAll(paths.local)
  const bind = (options.bind ?? []).flatMap((address) => ['--bind', address])
  const votes = options.simulated || options['no-voting'] ? ['--no-voting', '--yes-do-it'] : []
  const simArgs = (['config', 'state', 'socket'] as const).flatMap((name) => {
    const value = options[name]
    return value === undefined ? [] : [`--${name}`, value]
  })
  const openReads = options['no-require-authentication'] ? ['--no-require-authentication'] : []
  const accessLog = ['--access-log', options.accessLog]
  const supervisor = new Supervisor({
    ...{ paths, clock, log, program: __filename, simulated: options.simulated === true },
    args: {
      // Of a simulated cluster only the remote API has addresses.
      ...(options.simulated ? {} : { noded: bind }),
      sim: simArgs,
      wconfd: votes,
      luxid: votes,
      rapi: [...votes, ...(options.simulated ? bind : []), ...openReads, ...accessLog],
    },
    onEnd: (left) => {
      process.send?.({ left })
      process.kill(process.pid, 'SIGTERM')
    },
    onNotice: (text) => process.send?.({ notice: text }),
    onMaster: () => process.send?.({ master: true }),
  })
  process.on('message', (message) => {
    if (message === 'stop-master') void supervisor.stopMaster().then(() => process.send?.({ stopped: 'master' }))
  })
  await supervisor.start()
  return { close: () => supervisor.stop() }
}

async function noded({ paths, log, options }: Start): Promise<Running> {
  const [{ startNoded }, { supervisedDaemons }] = await Promise.all([
    import('./daemons/noded/noded.js'),
    import('./daemons/node/requests.js'),
  ])
  return startNoded({
    ...{ paths, log, clock, random, disk },
    hostname: paths.hostname,
    address: options.bind?.[0] ?? (await ownAddress(paths)) ?? '0.0.0.0',
    port: options.port ?? PORT.noded,
    daemons: supervisedDaemons(process),
    bundledOs: [path.join(__dirname, '..', 'os')],
  })
}

async function wconfd(start: Start): Promise<Running> {
  const nodes = await masterNodes(start)
  const { startWconfd } = await import('./daemons/wconfd/server.js')
  return startWconfd({ paths: start.paths, log: start.log, clock, random, nodes })
}

async function luxid(start: Start): Promise<Running> {
  const nodes = await masterNodes(start)
  const { paths, log } = start
  const [{ startLuxid }, { WorkerPool }] = await Promise.all([
    import('./daemons/luxi/luxid.js'),
    import('./lib/worker-pool.js'),
  ])
  const threads = new WorkerPool({
    ...{ entry: path.join(__dirname, 'allocation-thread.js'), clock, limit_s: ALLOCATION_S },
    ...{ threads: ALLOCATION_THREADS, memory_mib: ALLOCATION_MEMORY_MIB },
  })
  const masterFile = async (file: string) => (await disk.read(paths.local(file)))?.toString('utf8')
  return startLuxid({
    ...{ paths, log, clock, random, disk, nodes },
    jobEntry: path.join(__dirname, 'job.js'),
    async planJob(ops, documents, asked) {
      const { planJob } = await import('./operations/plan/plan.js')
      return planJob(ops, { ...documents, nodes: asked, clock, random, paths, log, masterFile })
    },
    allocation: {
      async picture(questions, config, template) {
        const { clusterPicture } = await import('./operations/plan/picture.js')
        return clusterPicture(questions, config, template)
      },
      run: (parts, signal) => threads.run(parts, signal),
      close: () => threads.close(),
    },
  })
}

async function rapi(start: Start): Promise<Running> {
  await masterNodes(start)
  const { paths, log, options } = start
  const [{ startRapi }, { LuxiClient }] = await Promise.all([
    import('./daemons/rapi/server.js'),
    import('./rpc/luxi/client.js'),
  ])
  return startRapi({
    ...{ paths, log, clock },
    master: new LuxiClient({ path: paths.socket('query') }),
    ...(options.bind ? { addresses: options.bind } : await rapiAddresses(paths)),
    port: options.port ?? PORT.rapi,
    requireAuthentication: options['no-require-authentication'] !== true,
    accessLog: options.accessLog,
  })
}

async function sim({ paths, log, options }: Start): Promise<Running> {
  const [{ startSim }, { loadConfig }] = await Promise.all([
    import('./daemons/sim/sim.js'),
    import('./config/upgrade.js'),
  ])
  const config = await disk.read(options.config ?? paths.configFile)
  if (config === undefined) fail(`sim: there is no configuration at ${options.config ?? paths.configFile}`)
  return startSim({
    config: loadConfig(config.toString('utf8'), random).config,
    socket: options.socket ?? path.join(path.dirname(paths.root), 'sim.sock'),
    stateFile: options.state ?? path.join(path.dirname(paths.root), 'sim.json'),
    ...{ clock, log },
  })
}

async function fold({ paths, log }: Start): Promise<Running> {
  const { openStore } = await import('./config/store.js')
  const { openLocks } = await import('./daemons/wconfd/lock-keeper.js')
  const { isServed } = await import('./lib/json-socket.js')
  const { QueueStore } = await import('./jobs/store.js')
  const { noReplicas } = await import('./jobs/replicas.js')
  if (await isServed(paths.socket('wconfd'))) fail('wconfd is running: it owns the configuration; stop it first')
  await (await openStore({ paths, disk, clock, random, log })).close(true)
  await (await openLocks({ paths, disk, clock, log })).close()
  if (await isServed(paths.socket('query'))) fail('luxid is running: it owns the queue; stop it first')
  await new QueueStore(disk, paths, log, noReplicas, clock).fold()
  process.stdout.write(`${paths.configFile} holds the whole configuration, and ${paths.queueDir} all jobs\n`)
  return { close: () => Promise.resolve() }
}

/** The node client of a master daemon, once the other nodes have agreed that this one is the master. */
async function masterNodes({ paths, log, options }: Start) {
  const [{ openNodeClient }, { checkVotes }] = await Promise.all([
    import('./rpc/node/client.js'),
    import('./services/votes.js'),
  ])
  const nodes = openNodeClient({ paths, clock })
  const noVoting = options['no-voting']
  await checkVotes({ paths, disk, nodes, clock, log, noVoting, yesDoIt: options['yes-do-it'] })
  return nodes
}

/** A virtual node has its own address; a real one listens on all. */
async function ownAddress(paths: Paths): Promise<string | undefined> {
  if (paths.root === '') return undefined
  const text = async (file: string) => ((await disk.read(file)) ?? '').toString('utf8')
  const lines = (await text(paths.ssconf('node_primary_ips'))).split('\n')
  const known = lines.map((line) => line.split(' ')).find(([name]) => name === paths.hostname)?.[1]
  // One that is only about to join is in no list yet.
  return known ?? hostAddress(await text(paths.local(PATH.ETC_HOSTS)), paths.hostname)
}

/** The node's and the cluster's address in a virtual cluster, else all. */
async function rapiAddresses(paths: Paths): Promise<{ addresses: string[]; clusterAddress?: string }> {
  const own = await ownAddress(paths)
  if (own === undefined) return { addresses: ['0.0.0.0'] }
  const clusterAddress = (await disk.read(paths.ssconf('master_ip')))?.toString('utf8').trim()
  return { addresses: [own], ...(clusterAddress && clusterAddress !== own ? { clusterAddress } : {}) }
}

function fail(text: string): never {
  process.stderr.write(`gantryd: ${text.trimEnd()}\n`)
  process.exit(EXIT.failure)
}

if (environmentValue('GANTRY_STACKS') !== undefined) Error.stackTraceLimit = 50
main(process.argv).catch((error: unknown) => fail(errorText(error)))
