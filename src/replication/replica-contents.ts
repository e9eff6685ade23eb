// Compares two master candidates: finds what one has and the other lacks, in the configuration and the queue.
import type { ReplicaContents } from '../rpc/node/dicts'

/**
 * The other's newer configuration, and jobs that only it has, or that have ended only there; undefined if there is
 * nothing.
 */
export async function compareReplicas(
  own: ReplicaContents,
  other: ReplicaContents,
  isArchived: (job: number) => Promise<boolean>,
): Promise<string | undefined> {
  const newer = other.config_serial !== null && (own.config_serial ?? -1) < other.config_serial
  const ended = new Map(own.jobs)
  const missing: number[] = []
  for (const [id, over] of other.jobs) {
    const behind = ended.has(id) ? over && ended.get(id) === false : !(await isArchived(id))
    if (behind) missing.push(id)
  }
  const what = [
    ...(newer
      ? [`the configuration with serial number ${other.config_serial} (here: ${own.config_serial ?? 'none'})`]
      : []),
    ...(missing.length > 0
      ? [`${missing.length === 1 ? 'job' : 'jobs'} ${missing.sort((a, b) => a - b).join(', ')}`]
      : []),
  ]
  return what.length === 0 ? undefined : what.join(' and ')
}
