// Compares two master candidates: finds what one has and the other lacks, in the configuration and the queue.
import { surplus } from '../config/copy-status'
import { missingJobs } from '../rpc/node/missing-jobs'
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
  const newer = newerConfig(own, other)
  const ended = new Map(own.jobs)
  const missing = await missingJobs({ ended: (id) => ended.get(id), isArchived }, other.jobs)
  const what = [
    ...(newer === undefined ? [] : [newer]),
    ...(missing.length > 0 ? [`${missing.length === 1 ? 'job' : 'jobs'} ${missing.map(([id]) => id).join(', ')}`] : []),
  ]
  return what.length === 0 ? undefined : what.join(' and ')
}

function newerConfig(own: ReplicaContents, other: ReplicaContents): string | undefined {
  if (own.config && other.config) {
    const more = surplus(own.config, other.config)
    return more?.isFormer === false ? more.text : undefined
  }
  // One of them has none, or does not tell more.
  if (other.config_serial === null || (own.config_serial ?? -1) >= other.config_serial) return undefined
  return `config.data with serial number ${other.config_serial} (here: ${own.config_serial ?? 'none'})`
}
