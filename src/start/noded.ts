// Starts noded with all that it needs.
import { supervisedDaemons } from '../daemons/node/requests'
import { startNoded } from '../daemons/noded/noded'
import { systemClock as clock } from '../lib/clock'
import { lockFile } from '../lib/file-lock'
import { thisMachine as machine } from '../lib/machine'
import { systemRandom as random } from '../lib/random'
import { PORT } from '../model/constants/daemons'
import { PATH } from '../model/constants/paths'
import { ownedDisk as disk } from '../model/owners'
import { BUNDLED_OS } from '../node/os-folders'
import { ownAddress } from './own-address'
import { PROGRAM } from './program'
import type { Start } from './start'

export const start: Start = async ({ paths, log, options }) => {
  const userVolumes = paths.local(PATH.USER_VOLUMES_DIR)
  return startNoded({
    ...{ paths, log, clock, random, disk, machine, lockFile },
    hostname: paths.hostname,
    address: options.bind?.[0] ?? (await ownAddress(paths)) ?? '0.0.0.0',
    port: options.port ?? PORT.noded,
    daemons: supervisedDaemons(process),
    bundledOs: BUNDLED_OS,
    ...(machine.files.existsSync(userVolumes) && { userVolumes }),
    mirrorProgram: [process.execPath, PROGRAM, 'mirrors'],
  })
}
