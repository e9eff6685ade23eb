// The program of a job process: connects operations and their clients with jobs/job-process. Its arguments are the
// virtual root and the host name; luxid's pool forks it.
import * as path from 'node:path'
import { processChannel, serveJobs } from './jobs/job-process'
import { systemClock } from './lib/clock'
import { createLog } from './lib/log'
import { pathsOf } from './lib/paths'
import { systemFiles } from './lib/files'
import { systemRandom } from './lib/random'
import { takeOwnUmask } from './lib/programs/umask'
import { openRendezvous } from './lib/net/rendezvous'
import type { TaskParts } from './lib/work/worker-pool'
import { EXIT } from './model/constants/daemons'
import { ALLOCATION_MEMORY_MIB, ALLOCATION_S } from './model/limits/allocation'
import { ownedDisk, ownedLogFile } from './model/owners'
import { JobCancelled, type JobQueries } from './operations/environment'
import { runOpcode } from './operations/processor'
import { architecture } from './query/cluster-info'
import { queryFields, runQuery } from './query/engine'
import type { ClusterFacts } from './query/source'
import { LuxiClient } from './rpc/luxi/client'
import { openNodeClient } from './rpc/node/client'
import { openWconfd } from './rpc/wconfd/client'
import { NodeLiveData } from './services/live-data/live-data'
import { NodeProber } from './services/live-data/node-prober'
import { authorizeStart, checkSubmitted } from './services/jobs/authorize-start'

takeOwnUmask()
const [, , root, hostname] = process.argv
if (root === undefined || hostname === undefined) {
  process.stdout.write('usage: job ROOT HOSTNAME; luxid starts it\n')
  process.exit(root === '--help' ? 0 : EXIT.failure)
}

const paths = pathsOf(root, hostname)
const clock = systemClock
const random = systemRandom
const log = createLog('job', { file: ownedLogFile(paths.logFile('jobs')) })
const nodes = openNodeClient({ paths, clock, files: systemFiles })
const wconfd = openWconfd({ path: paths.socket('wconfd'), clock, random })
const live = new NodeLiveData(new NodeProber(nodes, clock, log), clock)
const luxi = new LuxiClient({ path: paths.socket('query'), clock })

/** luxid cannot answer some queries from its own data, so this process does. */
const queries: JobQueries = {
  async query(what, fields, filter) {
    if (what !== 'os' && what !== 'extstorage' && what !== 'cluster') return luxi.query(what, fields, filter)
    const source = { config: await wconfd.readConfig(), live }
    return runQuery(what, fields, filter, what === 'cluster' ? { ...source, cluster: await clusterFacts() } : source)
  },
  queryFields: async (what, fields) => queryFields(what, fields),
  queueCopies: () => luxi.gantry.queueCopies(),
}

async function clusterFacts(): Promise<ClusterFacts> {
  const [drained, pause] = await luxi.queryConfigValues(['drain_flag', 'watcher_pause'])
  return {
    drained: drained === true,
    watcherPause: typeof pause === 'number' ? pause : null,
    architecture: architecture(),
  }
}

/** Few jobs compute placements, so the thread ends with its task. */
async function think(parts: TaskParts): Promise<unknown> {
  const { WorkerPool } = await import('./lib/work/worker-pool.js')
  const pool = new WorkerPool({
    ...{ entry: path.join(__dirname, 'allocation-thread.js'), clock, threads: 1 },
    ...{ limit_s: ALLOCATION_S, memory_mib: ALLOCATION_MEMORY_MIB },
  })
  try {
    return await pool.run(parts)
  } finally {
    await pool.close()
  }
}

const masterFile = async (file: string) => (await ownedDisk.read(paths.local(file)))?.toString('utf8')

serveJobs(processChannel(), {
  ...{ paths, clock, log },
  disk: ownedDisk,
  Cancelled: JobCancelled,
  execute: (op, setting) =>
    runOpcode(op, {
      ...setting,
      ...{ wconfd, nodes, clock, random, paths, queries, masterFile },
      rendezvous: () => openRendezvous(clock, paths.socketDir),
      think,
      async started(how) {
        await authorizeStart(op, setting.jobId, wconfd)
        await setting.started(how)
      },
      processLog: log.child({ job: setting.jobId }),
      async submitJobs(jobs) {
        await checkSubmitted(op, jobs, wconfd)
        return luxi.submitManyJobs(jobs)
      },
    }),
})
