// The program of a job process: hands operations and their clients to jobs/job-process. Its arguments are the virtual root and
// the host name; luxid's pool forks it.
import { processChannel, serveJobs } from './jobs/job-process'
import { systemClock } from './lib/clock'
import { systemDisk } from './lib/disk'
import { createLog } from './lib/log'
import { pathsOf } from './lib/paths'
import { systemRandom } from './lib/random'
import { JobCancelled, type JobQueries } from './operations/environment'
import { runOpcode } from './operations/processor'
import { queryFields, runQuery } from './query/engine'
import { LuxiClient } from './rpc/luxi/client'
import { openNodeClient } from './rpc/node/client'
import { openWconfd } from './rpc/wconfd/client'
import { NodeLiveData } from './services/live-data'

const [, , root, hostname] = process.argv
if (root === undefined || hostname === undefined) throw new Error('usage: job ROOT HOSTNAME; luxid starts it')

const paths = pathsOf(root, hostname)
const clock = systemClock
const random = systemRandom
const log = createLog('job', { file: paths.logFile('jobs') })
const nodes = openNodeClient({ paths, clock })
const wconfd = openWconfd({ path: paths.socket('wconfd'), clock })
const luxi = new LuxiClient({ path: paths.socket('query') })

/** What luxid does not answer from its own knowledge is asked from here. */
const queries: JobQueries = {
  async query(what, fields, filter) {
    if (what !== 'os' && what !== 'extstorage') return luxi.query(what, fields, filter)
    return runQuery(what, fields, filter, { config: await wconfd.readConfig(), live: new NodeLiveData(nodes, clock) })
  },
  queryFields: async (what, fields) => queryFields(what, fields),
}

serveJobs(processChannel(), {
  ...{ paths, clock, log, nodes },
  disk: systemDisk,
  Cancelled: JobCancelled,
  execute: (op, setting) =>
    runOpcode(op, {
      ...setting,
      ...{ wconfd, nodes, clock, random, paths, queries },
      processLog: log.child({ job: setting.jobId }),
      submitJobs: (jobs) => luxi.submitManyJobs(jobs),
    }),
})
