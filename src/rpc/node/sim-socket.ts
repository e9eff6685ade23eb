// Where the simulator of a recorded cluster listens for calls to its nodes.
import * as path from 'node:path'
import type { Paths } from '../../lib/paths'

/** `sim.sock` beside the folder of a virtual node; a real node has none. */
export const defaultSimSocket = (paths: Pick<Paths, 'root'>): string | undefined =>
  paths.root === '' ? undefined : path.join(path.dirname(paths.root), 'sim.sock')
