// Starts luxid with all that it needs.
import * as path from 'node:path'
import { startLuxid } from '../daemons/luxid/luxid'
import { systemClock as clock } from '../lib/clock'
import { systemFiles } from '../lib/files'
import { forkedJobs } from '../jobs/pool'
import { systemProcesses } from '../lib/programs/processes'
import { systemRandom as random } from '../lib/random'
import { WorkerPool } from '../lib/work/worker-pool'
import { ALLOCATION_MEMORY_MIB, ALLOCATION_S, ALLOCATION_THREADS } from '../model/limits/allocation'
import { PATH } from '../model/constants/paths'
import { ownedDisk as disk } from '../model/owners'
import { openMonds } from '../rpc/mond/endpoints'
import { openNodeConsoles } from '../rpc/node/consoles'
import { masterNodes } from './master'
import type { Start, Surroundings } from './start'

export const start: Start = async (surroundings) => {
  let hungUp: (address: string) => void = () => undefined
  const nodes = await masterNodes(surroundings, (address) => hungUp(address))
  const { paths, log } = surroundings
  const threads = new WorkerPool({
    ...{ entry: path.join(__dirname, '../allocation-thread.js'), clock, limit_s: ALLOCATION_S },
    ...{ threads: ALLOCATION_THREADS, memory_mib: ALLOCATION_MEMORY_MIB },
  })
  const masterFile = async (file: string) => (await disk.read(paths.local(file)))?.toString('utf8')
  return startLuxid({
    ...{ paths, log, clock, random, disk, nodes, monds: openMonds(paths, systemFiles) },
    openConsole: openNodeConsoles({ paths, files: systemFiles, clock }),
    onHangUp: (listener) => void (hungUp = listener),
    callWatcher: (why) => callWatcher(why, surroundings),
    jobs: { entry: path.join(__dirname, '../../bin/job.js'), processes: forkedJobs(systemProcesses) },
    async planJob(ops, documents, requested) {
      const { planJob } = await import('../operations/plan/plan.js')
      return planJob(ops, { ...documents, nodes: requested, clock, random, paths, log, masterFile })
    },
    allocation: {
      async picture(questions, config, template) {
        const { clusterPicture } = await import('../operations/plan/picture.js')
        return clusterPicture(questions, config, template)
      },
      run: (parts, signal) => threads.run(parts, signal),
      close: () => threads.close(),
    },
  })
}

/**
 * Calls the watcher through the parent of the node's daemons. Without a parent, systemd starts it when it sees a file.
 */
function callWatcher(why: string, { paths, log }: Surroundings): void {
  if (process.connected) return void process.send?.({ id: 0, action: 'watch', why })
  disk.write(paths.local(PATH.WATCHER_CALL), `${why}\n`, { durable: false }).catch((error: unknown) => {
    log.warn({ err: error, why }, 'the watcher cannot be called; it runs at its regular time')
  })
}
