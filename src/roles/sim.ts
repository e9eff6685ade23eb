// All nodes of a recorded cluster.
import * as path from 'node:path'
import { loadConfig } from '../config/upgrade'
import { startSim } from '../daemons/sim/sim'
import { systemClock as clock } from '../lib/clock'
import { systemRandom as random } from '../lib/random'
import { ownedDisk as disk } from '../model/owners'
import { fail } from './common/options'
import type { Running, Start } from './common/start'

export async function sim({ paths, log, options }: Start): Promise<Running> {
  const config = await disk.read(options.config ?? paths.configFile)
  if (config === undefined) fail(`sim: there is no configuration at ${options.config ?? paths.configFile}`)
  return startSim({
    config: loadConfig(config.toString('utf8'), random).config,
    socket: options.socket ?? path.join(path.dirname(paths.root), 'sim.sock'),
    stateFile: options.state ?? path.join(path.dirname(paths.root), 'sim.json'),
    ...{ clock, log },
  })
}
