// The file in which the last hours outlive the process. What cannot be read there is lost, and nothing else is.
import type { Disk } from '../../lib/disk'
import type { Log } from '../../lib/log'
import { dictOf } from '../../lib/shapes/containers'
import { objectOf } from '../../lib/shapes/objects'
import type { Shape } from '../../lib/shapes/shape'
import { errorText } from '../../lib/system-failure'
import type { InstanceHistory, NodeHistory } from '../../model/history'
import { HISTORY_BYTES_MAX } from '../../model/limits/history'
import { instanceHistory, nodeHistory } from '../../rpc/mond/history'

export interface SavedHistory {
  readonly node: NodeHistory
  readonly instances: Readonly<Record<string, InstanceHistory>>
}

const saved: Shape<SavedHistory> = objectOf(
  { node: nodeHistory, instances: dictOf(instanceHistory) },
  { others: 'refused' },
)

/** Undefined where there is none. */
export async function readHistory(disk: Pick<Disk, 'read'>, file: string, log: Log): Promise<SavedHistory | undefined> {
  try {
    const text = await disk.read(file, HISTORY_BYTES_MAX)
    return text === undefined ? undefined : saved.parse(JSON.parse(text.toString('utf8')))
  } catch (error) {
    log.warn({ file, failure: errorText(error) }, 'the last hours that were saved cannot be read')
    return undefined
  }
}

/** After a crash of the machine nobody misses it. */
export const writeHistory = (disk: Pick<Disk, 'write'>, file: string, history: SavedHistory): Promise<void> =>
  disk.write(file, JSON.stringify(history), { durable: false })
