// gantryd mirrors ROOT HOSTNAME: the process that serves a node's mirrored disks in user space. noded starts it, and it
// survives noded.
import * as path from 'node:path'
import { systemClock as clock } from '../lib/clock'
import { systemFiles as files } from '../lib/files'
import { createLog } from '../lib/log'
import { pathsOf } from '../lib/paths'
import { systemRandom as random } from '../lib/random'
import { runCommand as run } from '../lib/programs/run-command'
import { EXIT } from '../model/constants/daemons'
import { ownedLockFile, ownedLogFile } from '../model/owners'
import { mirrorsSocket } from '../node/mirror/client'
import { serveMirrors } from '../node/mirror/server'
import { watchDefects } from './defects'

export async function startMirrors([root, hostname, ...more]: readonly string[]): Promise<void> {
  if (root === undefined || !hostname || more.length > 0)
    throw new Error('mirrors needs the ROOT and the HOSTNAME of its node; "gantryd mirrors --help" describes it')
  const paths = pathsOf(root, hostname)
  const log = createLog('mirrors', { file: ownedLogFile(paths.logFile('mirrors')) })
  watchDefects({ process, log, losesNothing: false, end: () => process.exit(EXIT.failure) })
  if ((await ownedLockFile(paths.roleLock('mirrors'), 'exclusive')) === undefined)
    throw new Error(
      `the mirrors of ${hostname} are served already: another process has locked ${paths.roleLock('mirrors')}`,
    )
  const folder = path.join(paths.runDir, 'mirrors')
  await serveMirrors({
    files,
    run,
    clock,
    random,
    log,
    socket: mirrorsSocket({ paths }),
    folder,
    end: () => process.exit(0),
  })
}
