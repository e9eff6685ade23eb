// Starts wconfd with all that it needs.
import { startWconfd } from '../daemons/wconfd/server'
import { systemClock as clock } from '../lib/clock'
import { systemRandom as random } from '../lib/random'
import { ownedDisk as disk, ownedLockFile as lockFile } from '../model/owners'
import { masterNodes } from './master'
import type { Start } from './start'

export const start: Start = async (surroundings) => {
  const nodes = await masterNodes(surroundings)
  const { paths, log } = surroundings
  return startWconfd({ paths, log, clock, random, disk, nodes, lockFile })
}
