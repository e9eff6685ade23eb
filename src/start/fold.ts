// gantryd fold: makes plain files for other tools from the journals that a killed daemon has left.
import { openStore } from '../config/store'
import { openLocks } from '../daemons/wconfd/lock-keeper'
import { noReplicas } from '../jobs/replicas'
import { QueueStore } from '../jobs/store'
import { systemClock as clock } from '../lib/clock'
import { type HeldLock, openFailure } from '../lib/file/lock'
import { isServed } from '../lib/net/json-socket'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import { systemRandom as random } from '../lib/random'
import { ConfigurationError } from '../model/errors'
import { ownedDisk as disk, ownedLockFile } from '../model/owners'
import { FollowFeed, serveFollow } from '../rpc/wconfd/follow-server'

/**
 * Returns a text about what was done. `takeFiles`: config.data and gantry.data are right as they are, without the
 * journal and whatever the candidates have. Refuses while a process runs that writes one of the files.
 */
export async function fold(paths: Paths, log: Log, takeFiles = false): Promise<string> {
  await disk.makeDirectory(paths.socketDir)
  const held: HeldLock[] = []
  try {
    await lockOutOwners(paths, held)
    return await foldFiles(paths, log, takeFiles)
  } finally {
    for (const lock of held) lock.release()
  }
}

async function foldFiles(paths: Paths, log: Log, takeFiles: boolean): Promise<string> {
  // Followers learn why nobody feeds them.
  const path = paths.socket('follow')
  const follow = await serveFollow({ path, log }, new FollowFeed(folding, false))
  try {
    await (await openStore({ paths, disk, clock, random, log, takeFiles })).close(true)
    await (await openLocks({ paths, disk, clock, log })).close()
    await new QueueStore(disk, paths, log, noReplicas, clock).fold()
  } finally {
    await follow.close()
  }
  return `${paths.configFile} holds the whole configuration, and ${paths.queueDir} all jobs\n`
}

/**
 * Every process that writes these files, by a socket that it serves, and by the lock that it holds even before. With their locks, none of them
 * starts meanwhile.
 */
async function lockOutOwners(paths: Paths, held: HeldLock[]): Promise<void> {
  const owners = [
    [paths.socket('wconfd'), paths.roleLock('wconfd'), 'wconfd is running: it owns the configuration; stop it first'],
    [paths.socket('query'), paths.roleLock('luxid'), 'luxid is running: it owns the queue; stop it first'],
    [
      paths.socket('follow'),
      paths.configLock,
      'another process has the configuration, on a master candidate noded; stop it first',
    ],
    // noded writes nothing of this on the master.
    ...((await isMaster(paths))
      ? []
      : ([
          [
            paths.figuresSocket('noded'),
            paths.roleLock('noded'),
            'noded is running: it keeps the copies of a candidate; stop it first',
          ],
        ] as const)),
  ] as const
  for (const [socket, file, refusal] of owners) {
    if (await isServed(socket)) throw new Error(refusal)
    const lock = await ownedLockFile(file, 'exclusive')
    if (lock !== undefined) held.push(lock)
    else throw new Error(openFailure(file) ?? refusal)
  }
}

const isMaster = async (paths: Paths): Promise<boolean> =>
  (await disk.read(paths.ssconf('master_node')))?.toString('utf8').trim() === paths.hostname

function folding(): never {
  throw new ConfigurationError('The files are being folded; ask again in a moment')
}
