// Starts the process that plays all nodes, with everything that it needs.
import * as path from 'node:path'
import { loadConfig } from '../config/upgrade'
import { startSim } from '../daemons/sim/sim'
import { systemClock as clock } from '../lib/clock'
import { systemFiles as files } from '../lib/files'
import { systemRandom as random } from '../lib/random'
import { ownedDisk as disk } from '../model/owners'
import type { Start } from './start'

export const start: Start = async ({ paths, log, options }) => {
  const file = options.config ?? paths.configFile
  const config = await disk.read(file)
  if (config === undefined) throw new Error(`there is no configuration at ${file}; name one with --config`)
  const besideNodes = path.dirname(paths.root)
  return startSim({
    config: loadConfig(config.toString('utf8'), random).config,
    socket: options.socket ?? path.join(besideNodes, 'sim.sock'),
    stateFile: options.state ?? path.join(besideNodes, 'sim.json'),
    ...{ clock, disk, files, log },
  })
}
