// The address of a node's monitoring daemon. For simulated nodes, it is that of the process which plays them all.
import { PORT } from '../../model/constants/daemons'
import type { Files } from '../../lib/files'
import type { Paths } from '../../lib/paths'
import type { NodeTarget } from '../node/client'
import { defaultSimSocket } from '../node/sim-socket'
import { NODE_HEADER } from '../node/protocol'
import { askMond, type MondAnswer, type MondBounds, type MondEndpoint } from './client'

type Target = Pick<NodeTarget, 'name' | 'primary_ip'>

export type AskMond = (node: Target, path: string, bounds: MondBounds) => Promise<MondAnswer>

export function openMonds(paths: Paths, files: Pick<Files, 'existsSync'>): AskMond {
  const simSocket = defaultSimSocket(paths)
  let isSimulated = false
  const endpointOf = ({ name, primary_ip }: Target): MondEndpoint => {
    // A cluster with simulated nodes stays one.
    isSimulated ||= simSocket !== undefined && files.existsSync(simSocket)
    if (isSimulated && simSocket !== undefined) return { socketPath: simSocket, headers: { [NODE_HEADER]: name } }
    return { host: primary_ip, port: PORT.mond }
  }
  return (node, path, bounds) => askMond(endpointOf(node), path, bounds)
}
