// luxid: owns the job queue and answers questions. This file only puts its parts together.
import type { Delta } from '../../config/delta'
import { masterCandidates } from '../../config/lookup'
import { recordValues } from '../../config/records'
import { EMPTY_GANTRY } from '../../config/upgrade'
import { sortedFilters } from '../../jobs/filters'
import { JobPool, type JobProgram } from '../../jobs/pool'
import { lostJobs, ownJobs, type LostJobs } from '../../jobs/lost-jobs'
import type { OwnJobs } from '../../rpc/node/missing-jobs'
import { JobQueue } from '../../jobs/queue'
import type { TakenBack } from '../../jobs/take-back'
import { Replicas, type UnreadFile } from '../../jobs/replicas'
import { QueueStore, jobFile, serialContent } from '../../jobs/store'
import { within, type Clock } from '../../lib/clock'
import type { Disk } from '../../lib/disk'
import { isServed } from '../../lib/net/json-socket'
import type { Log } from '../../lib/log'
import type { SelfMetrics } from '../../lib/self-metrics'
import type { Paths } from '../../lib/paths'
import type { Random } from '../../lib/random'
import type { ConfigData, GantryData, NodeUuid } from '../../model/config'
import type { FilterRule } from '../../model/filter-rule'
import { ConfigurationError } from '../../model/errors'
import { CANDIDATE_CALL_S, CONFIG_COPY_S, CONFIG_STATUS_S } from '../../model/limits/replication'
import type { LiveData } from '../../query/live-data'
import type { NodeClient, NodeTarget } from '../../rpc/node/client'
import type { Wconfd } from '../../rpc/wconfd/calls'
import { openWconfd } from '../../rpc/wconfd/client'
import { followConfig, type OnConfigChange } from '../../rpc/wconfd/follow'
import { boundEndedJobs } from '../../services/jobs/ended-jobs-bound'
import { EventHistory } from '../../services/events/event-history'
import { answerEvent, HEARD_EVENT, lostJobEvents, untoldCopies } from '../../services/events/event-sources'
import { EventService } from '../../services/events/events'
import { InstanceWatch } from '../../services/events/instance-watch'
import { NodeCache } from '../../services/live-data/node-cache'
import { NodeLiveData } from '../../services/live-data/live-data'
import { localMaster } from '../../services/local-master'
import { bringUpMasterIp } from '../../bootstrap/master-ip'
import type { MasterContext } from '../../services/master-context'
import { GuestEnds } from '../../services/live-data/guest-ends'
import { NodePoller } from '../../services/live-data/node-poller'
import { NodeReturns } from '../../services/watcher/node-returns'
import { WatcherReports } from '../../services/watcher/watcher-reports'
import { NodeProber } from '../../services/live-data/node-prober'
import type { Master } from '../../rpc/luxi/master'
import { serveLuxi } from './server'

export interface LuxidOptions {
  paths: Paths
  clock: Clock
  random: Random
  log: Log
  disk: Disk
  nodes: NodeClient
  monds: MasterContext['monds']
  openConsole?: MasterContext['openConsole']
  /** Default: asks through `nodes`. */
  live?: LiveData
  /** Earlier answers of nodes. Default: none. */
  known?: NodeCache
  /** Default: the daemon on this node. */
  wconfd?: Wconfd
  /**
   * Calls back with the first snapshot, and with each later one and its changes. Resolves after the first one. Default:
   * follows wconfd.
   */
  follow?(onConfig: OnConfigChange): Promise<Follower>
  jobs: JobProgram
  planJob: MasterContext['planJob']
  allocation?: MasterContext['allocation'] & { close(): Promise<void> }
  /** Calls back with the address of a node whose daemon closed a connection. */
  onHangUp?(listener: (address: string) => void): void
  /** Runs the watcher now; missing if there is none. */
  callWatcher?(why: string): void
}

interface Follower {
  close(): void
  gantry?(): GantryData | undefined
}

export interface Luxid {
  /** Running jobs go on; a later luxid finds them again. */
  close(): Promise<void>
  tell(): SelfMetrics
  readonly master: Master
}

export async function startLuxid(options: LuxidOptions): Promise<Luxid> {
  const { paths, clock, random, log, disk, nodes, monds, planJob, allocation, openConsole } = options
  const sockets = [paths.socket('master'), paths.socket('query')]
  // Checked before anything is read: two luxids on one queue would run every job twice.
  for (const path of sockets)
    if (await isServed(path)) throw new Error(`another luxid already serves ${path}; stop it first`)
  await disk.makeDirectory(paths.livelockDir)
  await disk.makeDirectory(paths.socketDir)
  const wconfd: Wconfd & { close?(): void } =
    options.wconfd ?? openWconfd({ path: paths.socket('wconfd'), clock, random })
  let tell = (_: TakenBack[]): void => undefined
  const { queue, store, replicas } = openQueue(options, disk, wconfd, (taken) => tell(taken))
  const candidates = await candidatesNow(options)
  const taken = await queue.recover((own) => lostAt(candidates, own, options))
  const history = await EventHistory.open({ file: paths.eventsFile, disk, clock, log })
  tell = (jobs) => {
    for (const event of lostJobEvents(jobs, clock)) history.add(event)
  }
  tell(taken)
  const questions = new NodeProber(nodes, clock, log)
  const known = options.known ?? new NodeCache(clock)
  const live = options.live ?? new NodeLiveData(questions, clock, known)
  const state = await followState(options, { queue, store, replicas, known }, history)
  // From now on every acknowledged change is at all candidates that answer.
  await within(clock, CANDIDATE_CALL_S, replicas.catchUp())
  const looking = lookAtNodes(options, { ...state, live, known, questions, history })
  const queueCopies = () => replicas.status()
  const parts = { live, known, questions, queue, queueCopies, wconfd, nodes, monds, clock, random, disk, paths, log }
  const more = { ...(allocation && { allocation }), ...(openConsole && { openConsole }) }
  const context = { ...parts, planJob, ...more, ...state }
  const watcher = await WatcherReports.open({
    ...{ disk, paths, clock, log, config: state.config },
    add: (event) => history.add(event),
  })
  const master = localMaster(context, { ...state, watcher })
  const endBound = boundEndedJobs({ queue, clock, log })
  const servers = await serveLuxi(sockets, master, log)
  log.info({ jobs: queue.all().length, last: queue.lastJobId }, 'luxid serves the job queue')
  void bringUpMasterIp(context)
  return {
    master,
    tell() {
      const { open, begun, ended } = queue.sizes
      return { jobs_queued: Math.max(0, open - begun), jobs_begun: begun, jobs_ended: ended }
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()))
      looking.close()
      endBound()
      questions.close()
      await queue.close()
      await history.close()
      await store.close()
      replicas.close()
      state.close()
      await allocation?.close()
      if (options.wconfd === undefined) wconfd.close?.()
    },
  }
}

/** Keeps the known data of nodes fresh, and calls the watcher when a node is back. */
function lookAtNodes({ clock, log, nodes, ...options }: LuxidOptions, parts: Looking): { close(): void } {
  const { live, known, questions, history, config } = parts
  // maintd hears the event. The watcher finds nothing to do then.
  const call = (why: string) => {
    history.add({ type: 'watcher', objects: [], data: { change: 'called', why } })
    options.callWatcher?.(why)
  }
  const returns = new NodeReturns({ clock, add: (event) => history.add(event), call })
  const probes = new NodePoller({
    ...{ clock, live, known, log, config },
    returned: (node) => returns.returned(node),
    turned: ({ name }, change, why) => history.add(answerEvent(name, change, why)),
    lookedAtAll: () => history.add(HEARD_EVENT),
    isSlow: (node) => questions.isSlow(node, ['all_instances_info', 'node_info']),
  })
  options.onHangUp?.((address) => probes.hungUp(address))
  questions.onReturn((node) => probes.soon(node))
  parts.onLook((node) => probes.soon(node))
  probes.start()
  const guestEnds = new GuestEnds({ nodes, clock, log, config, look: (node) => probes.soon(node) })
  guestEnds.start()
  return {
    close() {
      probes.close()
      guestEnds.close()
    },
  }
}

interface Looking {
  readonly live: LiveData
  readonly known: NodeCache
  readonly questions: NodeProber
  readonly history: EventHistory
  config(): ConfigData
  onLook(look: (node: NodeUuid) => void): void
}

/** Follows the configuration, for the queue, for the events, and for readers of the current state. */
async function followState(options: LuxidOptions, parts: Parts & { known: NodeCache }, history: EventHistory) {
  const { clock } = options
  let now: ConfigData | undefined
  const config = (): ConfigData => {
    if (now === undefined) throw new ConfigurationError('The configuration is not loaded yet')
    return now
  }
  /** Called when a job may have changed what runs on a node, so that the node is looked at soon. */
  let lookAt: (node: NodeUuid) => void = () => undefined
  const instances = new InstanceWatch({
    ...{ clock, config, queue: parts.queue, known: parts.known },
    add: (event) => history.add(event),
    look: (node) => lookAt(node),
  })
  const events = new EventService({ queue: parts.queue, clock, config }, history, instances)
  const listeners = new Set<() => void>()
  const follower = await configFeed(options)((next, delta) => {
    now = next
    events.follow(next, delta)
    obey(next, delta, parts.queue, parts.replicas)
    for (const listener of listeners) listener()
  })
  for (const event of untoldCopies(follower.gantry?.() ?? EMPTY_GANTRY, history.all())) history.add(event)
  const documents = {
    current: () => follower.gantry?.(),
    onChange(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const gantry = () => follower.gantry?.() ?? EMPTY_GANTRY
  const onLook = (look: typeof lookAt) => void (lookAt = look)
  return { config, gantry, events, documents, onLook, close: () => follower.close() }
}

interface Parts {
  queue: JobQueue
  store: QueueStore
  replicas: Replicas
}

const configFeed = ({ paths, clock, log, follow }: LuxidOptions): NonNullable<LuxidOptions['follow']> =>
  follow ?? ((onConfig) => followConfig(paths.socket('wconfd'), { clock, log }, onConfig))

const queueCandidates = (config: ConfigData): NodeTarget[] =>
  masterCandidates(config).filter((node) => node.uuid !== config.cluster.master_node && !node.offline)

/** The master candidates before the queue begins. */
async function candidatesNow(options: LuxidOptions): Promise<NodeTarget[]> {
  let candidates: NodeTarget[] = []
  const follower = await configFeed(options)((config) => void (candidates = queueCandidates(config)))
  follower.close()
  return candidates
}

/** The copy of a candidate that does not tell in time is not replaced before it has told. */
async function lostAt(
  candidates: readonly NodeTarget[],
  own: Promise<OwnJobs>,
  options: LuxidOptions,
): Promise<LostJobs> {
  const { log } = options
  const found = await Promise.all(
    candidates.map((node) =>
      lostJobs(node, own, options, CONFIG_STATUS_S).catch((error: unknown) => {
        log.warn(
          { node: node.name, err: error },
          'the queue starts without knowing which jobs this master candidate has',
        )
        return { serial: 0, jobs: [] }
      }),
    ),
  )
  return { serial: Math.max(0, ...found.map(({ serial }) => serial)), jobs: found.flatMap(({ jobs }) => jobs) }
}

function openQueue(options: LuxidOptions, disk: Disk, wconfd: Wconfd, tell: (taken: TakenBack[]) => void): Parts {
  const { paths, clock, log, nodes, jobs } = options
  const replicas = new Replicas({
    ...{ nodes, clock, log },
    files: () => queueFiles(paths, queue),
    read: async (file) => (await disk.read(file))?.toString('utf8'),
    async takeBack(node) {
      // Jobs that are here go on, whatever this candidate has.
      const own = ownJobs({ jobs: [], ended: queue.ids().map((id) => ({ id })) }, store)
      tell(await queue.takeBack(await lostJobs(node, own, options, CONFIG_COPY_S)))
    },
  })
  const store = new QueueStore(disk, paths, log, replicas, clock, () => queue.busy)
  const queue: JobQueue = new JobQueue({
    ...{ store, clock, log },
    runner: warmPool(new JobPool({ ...jobs, paths, clock, log })),
    ownerDied: (client) => wconfd.gantryOwnerDied(client),
  })
  return { queue, store, replicas }
}

function warmPool(pool: JobPool): JobPool {
  pool.warmUp()
  return pool
}

/** The last job id first: a candidate that has it never gives out an id twice. */
function* queueFiles(paths: Paths, queue: JobQueue): Generator<UnreadFile> {
  yield [`${paths.queueDir}/serial`, async () => serialContent(queue.serial)]
  for (const id of queue.ids()) yield [jobFile(paths, id), () => queue.textOf(id)]
}

const sorted = new WeakMap<object, readonly FilterRule[]>()

function obey(config: ConfigData, delta: Delta | null, queue: JobQueue, replicas: Replicas): void {
  // Most changes do not touch the nodes, and should not cost a look at all of them.
  if (delta === null || delta.nodes !== undefined || delta.cluster?.['master_node'] !== undefined)
    replicas.setCandidates(queueCandidates(config))
  let filters = sorted.get(config.filters)
  if (filters === undefined) sorted.set(config.filters, (filters = sortedFilters(recordValues(config.filters))))
  queue.configure(config.cluster.max_running_jobs, filters)
}
