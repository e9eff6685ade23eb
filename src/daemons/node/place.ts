// Which daemons this node should have by what its ssconf files say, whoever starts and stops them.
import type { Files } from '../../lib/files'
import { isMissing } from '../../lib/disk'
import type { Paths } from '../../lib/paths'
import type { Role } from '../../roles/role'

interface Node {
  readonly paths: Paths
  readonly files: Files
}

/** The place and the lines decide; a daemon of the master also needs the votes. */
export function isFor({ place, lines = {} }: Role, node: Node): boolean {
  const isHere = place !== 'candidate' || names(node, 'master_candidates')
  return isHere && Object.entries(lines).every(([list, line]) => hasLine(node, list, line))
}

/** Whether this node believes itself to be the master; the votes decide. */
export const isMaster = (node: Node): boolean => names(node, 'master_node')

/** Whether a list of nodes has this one. */
const names = (node: Node, list: string): boolean => hasLine(node, list, node.paths.hostname)

function hasLine({ paths, files }: Node, list: string, line: string): boolean {
  try {
    return files.readFileSync(paths.ssconf(list), 'utf8').split('\n').includes(line)
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
