// What master daemons have in common when they start.
import { systemClock as clock } from '../../lib/clock'
import { ownedDisk as disk } from '../../model/owners'
import { openNodeClient } from '../../rpc/node/client'
import { checkVotes } from '../../services/votes'
import type { Start } from './start'

/** The node client of a master daemon, once the other nodes have agreed that this one is the master. */
export async function masterNodes({ paths, log, options }: Start) {
  const nodes = openNodeClient({ paths, clock })
  const noVoting = options['no-voting']
  await checkVotes({ paths, disk, nodes, clock, log, noVoting, yesDoIt: options['yes-do-it'] })
  return nodes
}
