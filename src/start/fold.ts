// gantryd fold: makes plain files for other tools from the journals that a killed master has left.
import { openStore } from '../config/store'
import { openLocks } from '../daemons/wconfd/lock-keeper'
import { noReplicas } from '../jobs/replicas'
import { QueueStore } from '../jobs/store'
import { systemClock as clock } from '../lib/clock'
import { isServed } from '../lib/net/json-socket'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import { systemRandom as random } from '../lib/random'
import { ownedDisk as disk } from '../model/owners'

/** Returns a text about what was done. Refuses while a daemon that owns one of the files runs. */
export async function fold(paths: Paths, log: Log): Promise<string> {
  if (await isServed(paths.socket('wconfd')))
    throw new Error('wconfd is running: it owns the configuration; stop it first')
  await (await openStore({ paths, disk, clock, random, log })).close(true)
  await (await openLocks({ paths, disk, clock, log })).close()
  if (await isServed(paths.socket('query'))) throw new Error('luxid is running: it owns the queue; stop it first')
  await new QueueStore(disk, paths, log, noReplicas, clock).fold()
  return `${paths.configFile} holds the whole configuration, and ${paths.queueDir} all jobs\n`
}
