// Makes plain files of the journals, and ends.
import { openStore } from '../config/store'
import { openLocks } from '../daemons/wconfd/lock-keeper'
import { noReplicas } from '../jobs/replicas'
import { QueueStore } from '../jobs/store'
import { systemClock as clock } from '../lib/clock'
import { isServed } from '../lib/json-socket'
import { systemRandom as random } from '../lib/random'
import { ownedDisk as disk } from '../model/owners'
import { fail } from './common/options'
import type { Running, Start } from './common/start'

export async function fold({ paths, log }: Start): Promise<Running> {
  if (await isServed(paths.socket('wconfd'))) fail('wconfd is running: it owns the configuration; stop it first')
  await (await openStore({ paths, disk, clock, random, log })).close(true)
  await (await openLocks({ paths, disk, clock, log })).close()
  if (await isServed(paths.socket('query'))) fail('luxid is running: it owns the queue; stop it first')
  await new QueueStore(disk, paths, log, noReplicas, clock).fold()
  process.stdout.write(`${paths.configFile} holds the whole configuration, and ${paths.queueDir} all jobs\n`)
  return { close: () => Promise.resolve() }
}
