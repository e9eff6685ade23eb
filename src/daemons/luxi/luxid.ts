// luxid: owns the job queue and answers questions. This file puts its parts together; it decides nothing by itself.
import { masterCandidates } from '../../config/lookup'
import { recordValues } from '../../config/records'
import { type JobFilter, sortedFilters } from '../../jobs/filters'
import { encodeJob } from '../../jobs/job-file'
import { JobPool } from '../../jobs/pool'
import { JobQueue } from '../../jobs/queue'
import { type QueueFile, Replicas } from '../../jobs/replicas'
import type { JobRunner } from '../../jobs/runner'
import { QueueStore, jobFile, serialContent } from '../../jobs/store'
import type { Clock } from '../../lib/clock'
import { type Disk, systemDisk } from '../../lib/disk'
import type { Log } from '../../lib/log'
import type { Paths } from '../../lib/paths'
import type { Random } from '../../lib/random'
import type { ConfigData } from '../../model/config'
import { ConfigurationError } from '../../model/errors'
import type { LiveData } from '../../query/live-data'
import type { NodeClient } from '../../rpc/node/client'
import type { Wconfd } from '../../rpc/wconfd/calls'
import { localMaster } from '../../services/local-master'
import type { Master } from '../../rpc/luxi/calls'
import { serveLuxi } from './server'

export interface LuxidOptions {
  paths: Paths
  clock: Clock
  random: Random
  log: Log
  disk?: Disk
  nodes: NodeClient
  live: LiveData
  wconfd: Wconfd
  /** Calls back with the snapshot, and with each that follows; resolves after the first one. */
  follow(onConfig: (config: ConfigData) => void): Promise<{ close(): void | Promise<void> }>
  /** The program of a job process. */
  jobEntry: string
  jobExecArgv?: string[]
  /** Instead of processes: the simulation's. */
  runner?: JobRunner
  /** Why an opcode cannot be carried out, or undefined when it can. */
  refuseOpcode(id: string): string | undefined
}

export interface Luxid {
  /** Running jobs go on; a later luxid finds them again. */
  close(): Promise<void>
  readonly master: Master
}

export async function startLuxid(options: LuxidOptions): Promise<Luxid> {
  const { paths, clock, random, log, disk = systemDisk, nodes, live, wconfd, refuseOpcode } = options
  await disk.makeDirectory(paths.livelockDir)
  await disk.makeDirectory(paths.socketDir)
  const { queue, store, replicas } = openQueue(options, disk)
  await replicas.load()
  await queue.recover()
  let config: ConfigData | undefined
  const follower = await options.follow((next) => {
    config = next
    obey(next, queue, replicas)
  })
  const master = localMaster({
    config() {
      if (config === undefined) throw new ConfigurationError('The configuration is not loaded yet')
      return config
    },
    ...{ queue, wconfd, nodes, live, clock, random, disk, paths, log, refuseOpcode },
  })
  const servers = await serveLuxi([paths.socket('master'), paths.socket('query')], master, log)
  log.info({ jobs: queue.all().length, last: queue.lastJobId }, 'luxid serves the job queue')
  return {
    master,
    async close() {
      await Promise.all(servers.map((server) => server.close()))
      await queue.close()
      await store.idle()
      await replicas.close()
      await follower.close()
    },
  }
}

function openQueue(options: LuxidOptions, disk: Disk): { queue: JobQueue; store: QueueStore; replicas: Replicas } {
  const { paths, clock, log, nodes, wconfd, jobEntry } = options
  const replicas = new Replicas({
    nodes,
    disk,
    paths,
    clock,
    log,
    files: () => queueFiles(paths, queue),
    onChange: () => queue.replicasChanged(),
  })
  const store = new QueueStore(disk, paths, log, replicas)
  const runner =
    options.runner ?? warmPool(new JobPool({ entry: jobEntry, paths, clock, log, execArgv: options.jobExecArgv }))
  const queue: JobQueue = new JobQueue({
    store,
    runner,
    clock,
    log,
    owners: { held: (client) => wconfd.listLocks(client), cleanUp: async () => void (await wconfd.cleanupLocks()) },
    replicas: () => replicas.targets(),
    lagging: (node, reason) => void replicas.lagging(node, reason),
  })
  return { queue, store, replicas }
}

function warmPool(pool: JobPool): JobPool {
  pool.warmUp()
  return pool
}

/** The last job id first: a candidate that has it never gives out an id twice. */
function* queueFiles(paths: Paths, queue: JobQueue): Generator<QueueFile> {
  yield [`${paths.queueDir}/serial`, serialContent(queue.lastJobId)]
  for (const { id } of queue.all()) {
    const job = queue.job(id)
    if (job) yield [jobFile(paths, id), encodeJob(job)]
  }
}

const sorted = new WeakMap<object, readonly JobFilter[]>()

function obey(config: ConfigData, queue: JobQueue, replicas: Replicas): void {
  const candidates = masterCandidates(config).filter(
    (node) => node.uuid !== config.cluster.master_node && !node.offline,
  )
  replicas.setCandidates(candidates)
  let filters = sorted.get(config.filters)
  if (filters === undefined) sorted.set(config.filters, (filters = sortedFilters(recordValues(config.filters))))
  queue.configure(config.cluster.max_running_jobs, filters)
}
