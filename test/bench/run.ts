// npm run bench: starts clusters of its own, measures them, prints the figures beside those of a real Ganeti, removes everything.
// It asserts nothing. `npm run bench -- --help` tells its options.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { loadWconfd } from './changes'
import { BenchCluster, stopAllClusters } from './cluster'
import { measureConfd } from './confd'
import { measureConsole } from './console'
import { buildConsoleIfStale, buildIfStale } from './dist'
import { type Scale, createInstances, measureJobs, measureQueries, measureRequests, withRunningJobs } from './doors'
import { measureGrowth } from './growth'
import { benchHtools } from './htools'
import { LARGE, measureLarge } from './large'
import { LoopWatch } from './loops'
import { Luxi } from './luxi'
import { measureRounds } from './maintenance'
import { measureWatcher } from './watcher'
import { measureMond } from './mond'
import { MONITORED, measureMonitoring } from './monitoring'
import { Peer } from './peer'
import { memoryBelow } from './processes'
import { measureStart } from './start'
import { writeState } from './states'
import { type Figures, type Report, printTable, reporterInto } from './table'

const USAGE = `usage: npm run bench -- [options]

  --peer DIR           measure the real Ganeti too; DIR is a writable copy of a folder with its start-ganeti.sh.
                       Without it, the figures of recorded.json are printed
  --record             write the figures of the peer, with date and machine, to recorded.json
  --base-address ADDR  loopback address of our clusters, ending in .0 (default: one below 127.77)
  --only PART          start, requests, jobs, memory, changes, large, growth, confd, mond, monitoring, maintenance,
                       htools or console; may be given more than once
  --quick              a tenth of the time, for a first impression
`
const RECORDED = path.join(__dirname, 'recorded.json')
const OURS: Scale = { seconds: 5, singleJobs: 30, batches: [50, 500] }
const OURS_QUICK: Scale = { seconds: 0.5, singleJobs: 5, batches: [50] }
/** Five hundred jobs would take Ganeti ten minutes, and tell nothing that fifty do not. */
const THEIRS: Scale = { seconds: 10, singleJobs: 5, batches: [50] }
const THEIRS_QUICK: Scale = { seconds: 2, singleJobs: 2, batches: [50] }
const RUNNING_JOBS = 5
/** V8 gives back what the start needed when a process has done nothing for some ten seconds. */
const IDLE_S = 20
const PARTS = [
  'start',
  'requests',
  'jobs',
  'memory',
  'changes',
  'large',
  'growth',
  'confd',
  'mond',
  'monitoring',
  'maintenance',
  'htools',
  'console',
]

interface Recorded {
  date: string
  machine: string
  figures: Figures
}

const say = (text: string): void => void process.stderr.write(`${text}\n`)
const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'gbench-'))
let peer: Peer | undefined
let interrupted = false
/** The load that others put on the machine, read before the benchmark adds its own. */
const startLoad = os.loadavg()[0]?.toFixed(1) ?? '?'

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      peer: { type: 'string' },
      record: { type: 'boolean' },
      'base-address': { type: 'string', default: `127.77.${process.pid % 250}.0` },
      only: { type: 'string', multiple: true, default: PARTS },
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) return console.log(USAGE)
  buildIfStale()
  const desired = (part: string) => values.only.includes(part)
  if (desired('htools')) benchHtools()
  if (values.only.every((part) => part === 'htools')) return
  const ours: Figures = {}
  const scale = values.quick ? OURS_QUICK : OURS
  const report = reporterInto(ours, 'Gantry')
  const start = (name: string, ...options: string[]) =>
    BenchCluster.start(path.join(temporary, name), ['--base-address', values['base-address'], ...options])

  if (desired('start')) measureStart(values.quick, report)
  await measureOurs(start, scale, report, desired)
  if (desired('changes')) await measureChanges(start, scale, report)
  if (desired('large')) await measureManyNodes(start, scale, report)
  if (desired('growth')) await measureGrowth(start, temporary, values.quick ? 20 : 100, report)
  if (desired('confd')) await measureQuestions(start, values.quick, report)
  if (desired('mond')) await measureReports(start, values.quick, report)
  if (desired('monitoring')) await measureCentralView(start, values.quick, report)
  if (desired('maintenance')) await measureRounds(report)
  if (desired('maintenance')) await measureWatcher(report)
  if (desired('console')) await measureBrowser(start, values.quick, report)
  const theirs = await measurePeer(values.peer, values.quick ? THEIRS_QUICK : THEIRS, desired)
  if (values.record && theirs.live) fs.writeFileSync(RECORDED, `${JSON.stringify(theirs.recorded, null, 2)}\n`)
  console.log(`\n${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC on ${machine()}\n`)
  printTable(ours, theirs.recorded.figures, theirs.live ? 'Ganeti, same run' : 'Ganeti, recorded')
  if (!theirs.live)
    console.log(`\nGaneti's figures were recorded on ${theirs.recorded.date}: ${theirs.recorded.machine}`)
}

type Start = (name: string, ...options: string[]) => Promise<BenchCluster>
type Wanted = (part: string) => boolean

async function measureOurs(start: Start, scale: Scale, report: Report, desired: Wanted): Promise<void> {
  if (!desired('requests') && !desired('jobs') && !desired('memory')) return
  say('three virtual nodes with real daemons')
  const cluster = await start('virtual', '--nodes', '3', '--hypervisor', 'fake')
  report('start of a new cluster, to "ready:"', cluster.start_ms, 'ms')
  if (desired('memory')) {
    reportMemory(cluster.pid, 'on a fresh cluster', report)
    await setTimeout(IDLE_S * 1000)
    reportMemory(cluster.pid, 'on an idle cluster', report)
  }
  const populated = await createInstances(cluster, 6)
  if (desired('requests') && populated) await measureRequests(cluster, scale, report, true)
  if (desired('requests')) await measureQueries(cluster, scale, report)
  if (desired('jobs')) await measureJobs(cluster, scale, report)
  if (desired('memory'))
    await withRunningJobs(cluster, RUNNING_JOBS, () =>
      reportMemory(cluster.pid, `with ${RUNNING_JOBS} jobs running`, report),
    )
  await cluster.stop(false)
  const again = await start('virtual')
  report('start of a cluster that was there, to "ready:"', again.start_ms, 'ms')
  await again.stop()
  if (desired('requests') && !populated) {
    say('the recorded cluster, its nodes simulated')
    const state = path.join(temporary, 'recorded-state')
    writeState(state)
    const simulated = await start('recorded', '--state', state)
    await measureRequests(simulated, scale, report, true)
    await simulated.stop()
  }
  if (desired('jobs')) await measureAlone(start, scale, report)
}

/** Without other candidates nothing is replicated. */
async function measureAlone(start: Start, scale: Scale, report: Report): Promise<void> {
  const cluster = await start('alone', '--nodes', '1', '--hypervisor', 'fake')
  await measureJobs(cluster, scale, report, ', one candidate')
  await cluster.stop()
}

async function measureChanges(start: Start, scale: Scale, report: Report): Promise<void> {
  for (const size of [100, 1000, 10_000]) {
    say(`a cluster of ${size} instances, its nodes simulated`)
    const state = path.join(temporary, `state-${size}`)
    const instances = writeState(state, size)
    const cluster = await start(`changes-${size}`, '--state', state)
    for (const clients of [1, 16]) {
      await loadWconfd(cluster.luxiSocket, instances, clients, 0.5)
      const figure = await loadWconfd(cluster.luxiSocket, instances, clients, scale.seconds)
      report(`changes, ${size} instances, ${clients} at once`, figure.perSecond, '/s', figure)
    }
    await cluster.stop()
    fs.rmSync(state, { recursive: true })
  }
}

async function measureQuestions(start: Start, quick: boolean, report: Report): Promise<void> {
  say('master candidates that are asked by datagrams')
  const cluster = await start('confd', '--nodes', '3', '--hypervisor', 'fake')
  await measureConfd(cluster.firstNode, quick, report)
  await cluster.stop()
}

async function measureReports(start: Start, quick: boolean, report: Report): Promise<void> {
  say('reports of the nodes')
  const cluster = await start('mond', '--nodes', '3', '--hypervisor', 'fake')
  await measureMond(cluster.firstNode, quick ? 1_000 : 10_000, report)
  await cluster.stop()
}

async function measureCentralView(start: Start, quick: boolean, report: Report): Promise<void> {
  say(`a cluster of ${MONITORED.nodes} nodes, which are simulated`)
  const state = path.join(temporary, 'state-monitored')
  writeState(state, MONITORED.instances, MONITORED.nodes)
  const loops = new LoopWatch(path.join(temporary, 'loops'))
  loops.arm()
  const cluster = await start('monitored', '--state', state)
  await measureMonitoring(cluster, loops, quick, report)
  await cluster.stop()
}

async function measureManyNodes(start: Start, scale: Scale, report: Report): Promise<void> {
  say(`a cluster of ${LARGE.instances} instances on ${LARGE.nodes} nodes, which are simulated`)
  const state = path.join(temporary, 'state-large')
  writeState(state, LARGE.instances, LARGE.nodes)
  const loops = new LoopWatch(path.join(temporary, 'loops'))
  loops.arm()
  const cluster = await start('large', '--state', state)
  await measureLarge(cluster, loops, scale.seconds, report)
  await cluster.stop()
}

async function measureBrowser(start: Start, quick: boolean, report: Report): Promise<void> {
  say(`the console of a cluster of ${LARGE.instances} instances on ${LARGE.nodes} nodes, which are simulated`)
  buildConsoleIfStale()
  const state = path.join(temporary, 'state-console')
  const instances = writeState(state, LARGE.instances, LARGE.nodes)
  const cluster = await start('console', '--state', state)
  await measureConsole(cluster, instances, quick, report)
  await cluster.stop()
}

/** Reports the master node only, because the other nodes run nothing but noded. */
function reportMemory(pid: number, when: string, report: Report): void {
  const processes = memoryBelow(pid).filter(({ node }) => node === undefined || node.startsWith('node1.'))
  for (const name of new Set(processes.map((one) => one.name))) {
    const same = processes.filter((one) => one.name === name)
    const mean = (key: 'pss_kib' | 'rss_kib') => same.reduce((sum, one) => sum + one[key], 0) / same.length
    report(`memory ${when}: ${name}, PSS`, mean('pss_kib'), 'KiB')
    report(`memory ${when}: ${name}, RSS`, mean('rss_kib'), 'KiB')
  }
  const all_kib = processes.reduce((sum, { pss_kib }) => sum + pss_kib, 0)
  report(`memory ${when}: all of the master node, PSS`, all_kib, 'KiB')
  report(`memory ${when}: job processes`, processes.filter(({ name }) => name === 'job process').length, '')
}

async function measurePeer(
  folder: string | undefined,
  scale: Scale,
  desired: Wanted,
): Promise<{ live: boolean; recorded: Recorded }> {
  if (folder === undefined) {
    const recorded = JSON.parse(fs.readFileSync(RECORDED, 'utf8')) as Recorded
    return { live: false, recorded }
  }
  const figures: Figures = {}
  const report = reporterInto(figures, 'Ganeti')
  peer = Peer.start(path.resolve(folder), say)
  if (desired('memory')) reportMemory(peer.pid, 'on a fresh cluster', report)
  if (desired('requests')) {
    await measureRequests(peer, scale, report, false)
    await measureQueries(peer, scale, report)
  }
  if (desired('jobs')) {
    await measureJobs(peer, scale, report)
    peer.setCandidates(1)
    await measureJobs(peer, scale, report, ', one candidate')
    peer.setCandidates(4)
  }
  if (desired('memory')) {
    const { pid } = peer
    await withRunningJobs(peer, RUNNING_JOBS, () => reportMemory(pid, `with ${RUNNING_JOBS} jobs running`, report))
  }
  if (desired('confd')) await measureConfd(peer.firstNode, scale === THEIRS_QUICK, report)
  // It answers some eighty in a second.
  if (desired('mond')) await measureMond(peer.firstNode, scale === THEIRS_QUICK ? 50 : 500, report)
  if (desired('requests')) await measureRestart(peer, report)
  return { live: true, recorded: { date: new Date().toISOString(), machine: machine(), figures } }
}

async function measureRestart(peer: Peer, report: Report): Promise<void> {
  const { luxiSocket } = peer
  const restart_ms = await peer.restartMaster(async () => {
    const luxi = await Luxi.open(luxiSocket)
    await luxi.call('QueryClusterInfo', [])
    luxi.close()
  })
  report('start of a cluster that was there, to "ready:"', restart_ms, 'ms')
}

/** Includes the load, because figures from a busy machine are worth less. */
function machine(): string {
  const cpus = os.cpus()
  return `${cpus.length} x ${cpus[0]?.model ?? 'unknown CPU'}, ${Math.round(os.totalmem() / 2 ** 30)} GiB, Linux ${os.release()}, Node ${process.version}, load before ${startLoad}`
}

async function cleanUp(): Promise<void> {
  await stopAllClusters()
  fs.rmSync(temporary, { recursive: true, force: true })
  peer?.stop()
  peer = undefined
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    say('stopping')
    interrupted = true
    void cleanUp().finally(() => process.exit(130))
  })

main()
  .catch((error: unknown) => {
    if (interrupted) return
    say(error instanceof Error ? (error.stack ?? error.message) : String(error))
    process.exitCode = 1
  })
  .finally(cleanUp)
