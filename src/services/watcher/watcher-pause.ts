// The end of the watchers' pause: a file on every node, with seconds since the epoch.
import { recordValues } from '../../config/records'
import { pausedUntil } from '../../lib/file/pause-file'
import type { MasterContext } from '../master-context'

export class WatcherPause {
  constructor(private readonly context: Pick<MasterContext, 'config' | 'nodes' | 'disk' | 'paths' | 'clock' | 'log'>) {}

  /** Seconds since the epoch, or null if the watchers are not paused. */
  read(): Promise<number | null> {
    const { disk, paths, clock } = this.context
    return pausedUntil(disk, paths.watcherPause, clock.now_ms() / 1000)
  }

  async set(until: number | null): Promise<number | null> {
    const { nodes, config, log, disk, paths } = this.context
    if (until === null) await disk.remove(paths.watcherPause)
    else await disk.write(paths.watcherPause, `${Math.trunc(until)}\n`)
    const cluster = config()
    const others = recordValues(cluster.nodes).filter(
      (node) => node.uuid !== cluster.cluster.master_node && !node.offline,
    )
    const answers = await nodes.all(others, 'set_watcher_pause', [until])
    const failed = others.flatMap((node) => {
      const answer = answers.get(node.uuid)
      return answer === undefined || answer.ok ? [] : `${node.name}: ${answer.error}`
    })
    if (failed.length > 0) log.warn({ failed }, 'not all nodes know until when the watcher is paused')
    return until
  }
}
