// Names of live-locks, the sockets which prove that a job's process lives. A name contains the job and the process, so
// a restarted luxid learns from the folder which processes have which jobs.
import type { JobId } from '../rpc/luxi/calls'
import type { Job } from './job'

export const livelockName = (id: JobId, seconds: number, pid: number): string =>
  `job_${String(id).padStart(6, '0')}_${seconds}_${pid}`

const NAME = /^job_(\d+)_\d+_(\d+)$/

export type Holder = Required<Pick<Job, 'livelock' | 'process_id'>>

/** Which process has which job, from the names in a folder. */
export function holdersIn(directory: string, names: readonly string[]): Map<JobId, Holder> {
  const holders = new Map<JobId, Holder>()
  for (const name of [...names].sort()) {
    const [, id, pid] = NAME.exec(name) ?? []
    if (id !== undefined) holders.set(Number(id), { livelock: `${directory}/${name}`, process_id: Number(pid) })
  }
  return holders
}
