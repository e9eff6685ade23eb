// Compares the jobs that a node tells with those of another one.
import type { ReplicaContents } from './dicts'

/** What the queue has. */
export interface OwnJobs {
  /** Whether the job has ended; undefined if the queue does not have it. */
  ended(id: number): boolean | undefined
  isArchived(id: number): Promise<boolean>
}

/** Jobs that only the other one has, or that have ended only there. */
export async function missingJobs(
  own: OwnJobs,
  others: ReplicaContents['jobs'],
): Promise<ReplicaContents['jobs'][number][]> {
  const missing: ReplicaContents['jobs'][number][] = []
  for (const [id, ended] of others) {
    const here = own.ended(id)
    if (here === undefined ? !(await own.isArchived(id)) : ended && !here) missing.push([id, ended])
  }
  return missing.sort(([a], [b]) => a - b)
}
