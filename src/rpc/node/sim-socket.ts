// The socket on which the simulator of a recorded cluster takes calls to its nodes.
import * as path from 'node:path'
import type { Paths } from '../../lib/paths'

/** `sim.sock` beside a virtual node's folder; a real node has none. */
export const defaultSimSocket = (paths: Pick<Paths, 'root'>): string | undefined =>
  paths.root === '' ? undefined : path.join(path.dirname(paths.root), 'sim.sock')
