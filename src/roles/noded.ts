// What obeys the master on a node.
import * as path from 'node:path'
import { supervisedDaemons } from '../daemons/node/requests'
import { startNoded } from '../daemons/noded/noded'
import { systemClock as clock } from '../lib/clock'
import { systemRandom as random } from '../lib/random'
import { PORT } from '../model/constants/daemons'
import { ownedDisk as disk } from '../model/owners'
import { ownAddress } from './common/own-address'
import type { Running, Start } from './common/start'

export async function noded({ paths, log, options }: Start): Promise<Running> {
  return startNoded({
    ...{ paths, log, clock, random, disk },
    hostname: paths.hostname,
    address: options.bind?.[0] ?? (await ownAddress(paths)) ?? '0.0.0.0',
    port: options.port ?? PORT.noded,
    daemons: supervisedDaemons(process),
    bundledOs: [path.join(__dirname, '../../os')],
  })
}
