// A luxid with test jobs (tiny-job.ts) on the recorded cluster's configuration. As a program: node tiny-luxid.ts ROOT HOSTNAME.
import { ownedDisk } from '../../src/model/owners'
import { systemProcesses } from '../../src/lib/programs/processes'
import { forkedJobs } from '../../src/jobs/pool'
import { startLuxid, type Luxid } from '../../src/daemons/luxid/luxid'
import { systemClock } from '../../src/lib/clock'
import { createLog, silentLog } from '../../src/lib/log'
import { type Paths, pathsOf } from '../../src/lib/paths'
import { systemRandom } from '../../src/lib/random'
import type { AskMond } from '../../src/rpc/mond/endpoints'
import type { NodeClient } from '../../src/rpc/node/client'
import { NodeCache } from '../../src/services/live-data/node-cache'
import { nodesOf } from './fake-nodes'
import { FakeWconfd } from './fake-wconfd'
import { GoldenLive, goldenConfig } from './golden-query'
import { noMonds } from './no-monds'
import { runTypescript, tinyJob } from './queue-in-process'

/** Nodes that accept everything and answer nothing. */
export const silentNodes = nodesOf(() => Promise.resolve({ ok: false, error: 'down', offline: false }))

export async function startTinyLuxid(
  paths: Paths,
  options: { nodes?: NodeClient; monds?: AskMond; wconfd?: FakeWconfd } = {},
): Promise<Luxid & { wconfd: FakeWconfd }> {
  const wconfd = options.wconfd ?? new FakeWconfd(goldenConfig())
  const luxid = await startLuxid({
    paths,
    clock: systemClock,
    random: systemRandom,
    disk: ownedDisk,
    log: silentLog,
    nodes: options.nodes ?? silentNodes,
    monds: options.monds ?? noMonds,
    ...recorded(),
    wconfd: wconfd.calls,
    follow: wconfd.follow,
    jobs: { entry: tinyJob, execArgv: runTypescript, processes: forkedJobs(systemProcesses) },
    planJob: async () => [],
  })
  return { ...luxid, wconfd }
}

/** The nodes give the recorded answers, and their last known data is the same. */
function recorded() {
  const live = new GoldenLive()
  const known = new NodeCache(systemClock)
  for (const { uuid, name } of Object.values(goldenConfig().nodes)) {
    const [info, runtimes] = [live.recorded.nodeInfo[name], live.recorded.instanceInfo[name]]
    if (info !== undefined) known.learnNode(uuid, info, 0)
    if (runtimes !== undefined) known.learnRunning(uuid, runtimes, 0)
  }
  return { live, known }
}

const [root, hostname] = process.argv.slice(-2)
if (require.main === module && root !== undefined && hostname !== undefined) {
  startTinyLuxid(pathsOf(root, hostname)).catch((error: unknown) => {
    createLog('tiny-luxid').error({ err: error }, 'cannot start')
    process.exit(1)
  })
}
