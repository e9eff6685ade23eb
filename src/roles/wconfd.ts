// What keeps the configuration and the locks.
import { startWconfd } from '../daemons/wconfd/server'
import { systemClock as clock } from '../lib/clock'
import { systemRandom as random } from '../lib/random'
import { masterNodes } from './common/master-nodes'
import type { Running, Start } from './common/start'

export async function wconfd(start: Start): Promise<Running> {
  const nodes = await masterNodes(start)
  return startWconfd({ paths: start.paths, log: start.log, clock, random, nodes })
}
