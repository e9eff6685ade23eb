// The common part of the master's daemons: they start only when the other nodes agree.
import { systemClock as clock } from '../lib/clock'
import { systemFiles as files } from '../lib/files'
import { ownedDisk as disk } from '../model/owners'
import { openNodeClient } from '../rpc/node/client'
import { checkVotes } from '../bootstrap/votes'
import type { Surroundings } from './start'

/** The client for calls to nodes, after the majority has confirmed that this node is the master. */
export async function masterNodes({ paths, log, options }: Surroundings, onHangUp?: (address: string) => void) {
  const nodes = openNodeClient({ paths, clock, files, ...(onHangUp && { onHangUp }) })
  await checkVotes({ paths, disk, nodes, clock, log, noVoting: options['no-voting'], yesDoIt: options['yes-do-it'] })
  return nodes
}
