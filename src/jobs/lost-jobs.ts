// Jobs that a master candidate has and the queue lacks, because the master has lost files or came back with older ones.
// The queue takes them over before its own files replace the candidate's.
import { within, type Clock } from '../lib/clock'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import { JobFileCorrupted } from '../model/errors'
import { isUnknownCall, type NodeClient, type NodeTarget } from '../rpc/node/client'
import { missingJobs, type OwnJobs } from '../rpc/node/missing-jobs'
import type { JobId } from '../rpc/luxi/calls'
import type { Job } from './job'
import { parseJob } from './job-file'
import { withinTime } from './replicas'
import { jobFile, type QueueStore } from './store'

export interface LostJob {
  readonly id: JobId
  readonly ended: boolean
  /** The name of the candidate that has it. */
  readonly node: string
  /** Undefined if it is gone, or unreadable. */
  read(): Promise<Job | undefined>
}

export interface LostJobs {
  /** The highest job number that the candidate has seen. */
  readonly serial: JobId
  readonly jobs: readonly LostJob[]
}

interface Surroundings {
  readonly nodes: NodeClient
  readonly clock: Clock
  readonly paths: Paths
  readonly log: Log
}

interface Listed {
  readonly jobs: readonly { readonly id: JobId }[]
  readonly ended: readonly { readonly id: JobId }[]
}

/** What a queue had when it was read. */
export async function ownJobs(
  loading: Listed | Promise<Listed>,
  store: Pick<QueueStore, 'isArchived'>,
): Promise<OwnJobs> {
  const { jobs, ended } = await loading
  const here = new Map([...jobs.map(({ id }) => [id, false] as const), ...ended.map(({ id }) => [id, true] as const)])
  return { ended: (id) => here.get(id), isArchived: (id) => store.isArchived(id) }
}

/** Throws if the candidate does not tell what it has. */
export async function lostJobs(
  target: NodeTarget,
  own: OwnJobs | Promise<OwnJobs>,
  { nodes, clock, paths, log }: Surroundings,
  patience_s: number,
): Promise<LostJobs> {
  const requested = nodes.one(target, 'gantry_replica_status', []).catch((error: unknown) => {
    // Ganeti's noded cannot tell.
    if (isUnknownCall(error)) return { serial: 0, jobs: [] }
    throw error
  })
  const contents = await within(clock, patience_s, requested)
  if (contents === undefined) throw new Error(`it does not tell within ${patience_s} s which jobs it has`)
  const read = async (id: JobId): Promise<Job | undefined> => {
    const text = await withinTime(clock, nodes.one(target, 'gantry_jobqueue_read', [jobFile(paths, id)]))
    try {
      return text === null ? undefined : parseJob(text)
    } catch (error) {
      if (!(error instanceof JobFileCorrupted)) throw error
      log.error(
        { node: target.name, job: id, err: error },
        'only this master candidate has the job, and it is unreadable: the node keeps it in a file of its own',
      )
      return undefined
    }
  }
  const missing = await missingJobs(await own, contents.jobs)
  return {
    serial: contents.jobs.reduce((highest, [id]) => Math.max(highest, id), contents.serial ?? 0),
    jobs: missing.map(([id, ended]) => ({ id, ended, node: target.name, read: () => read(id) })),
  }
}
