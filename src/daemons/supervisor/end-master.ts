// Ends a master's jobs, which would otherwise go on beside the next master.
import type { Clock } from '../../lib/clock'
import type { Disk } from '../../lib/disk'
import { isServed } from '../../lib/net/json-socket'
import type { Log } from '../../lib/log'
import type { Paths } from '../../lib/paths'
import type { Processes } from '../../lib/programs/processes'
import { LuxiClient } from '../../rpc/luxi/client'
import { endJobs, killJobProcesses } from '../../bootstrap/end-jobs'

export interface EndOptions {
  readonly paths: Paths
  readonly clock: Clock
  readonly disk: Disk
  readonly processes: Processes
  readonly log: Log
}

/** luxid gives them a moment and writes how they ended. `stop` stops the master's daemons. */
export async function endMaster(options: EndOptions, stop: () => Promise<void>): Promise<void> {
  const { paths, clock, log, disk, processes } = options
  const note = (text: string) => log.info({ text }, 'ending the jobs of this master')
  const path = paths.socket('query')
  if (await isServed(path)) {
    const luxi = new LuxiClient({ path, clock })
    await endJobs(luxi, clock, note).catch((error: unknown) => log.error({ err: error }, 'luxid cannot end its jobs'))
    luxi.close()
  }
  await stop()
  const killed = await killJobProcesses(paths, disk, processes)
  if (killed.length > 0) log.warn({ jobs: killed }, 'killed the processes of jobs')
}
