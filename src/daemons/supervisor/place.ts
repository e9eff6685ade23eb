// Which daemons this node should have, according to its ssconf files.
import type { Files } from '../../lib/files'
import { isMissing } from '../../lib/disk'
import type { Paths } from '../../lib/paths'
import { FOREIGN_DAEMONS } from '../../model/constants/daemons'
import { type Role, wantedLines } from '../../roles/role'

interface Node {
  readonly paths: Paths
  readonly files: Files
}

/** The place and the lines decide; a daemon of the master also needs the votes. */
export function isFor(role: Role, node: Node): boolean {
  const isHere = role.place !== 'candidate' || names(node, 'master_candidates')
  return isHere && wantedLines(role, node.paths.hostname).every(([list, line]) => hasLine(node, list, line))
}

/** The role that the master means by a daemon's name. Undefined: only Ganeti has it, so it never runs here, and there is nothing to stop. */
export function roleToEnsure(roles: readonly Role[], daemon: string, run: boolean): Role | undefined {
  const role = roles.find(({ program, place }) => program === daemon && place !== 'system')
  if (role !== undefined) return role
  if (run) throw new Error(`there is no ${daemon} to start: this version has none`)
  if (FOREIGN_DAEMONS.includes(daemon)) return undefined
  throw new Error(`there is no ${daemon} that could be stopped: no daemon has this name`)
}

/** Whether this node's files name it as the master; the votes decide. */
export const isMaster = (node: Node): boolean => names(node, 'master_node')

/** Whether a list of nodes contains this one. */
const names = (node: Node, list: string): boolean => hasLine(node, list, node.paths.hostname)

function hasLine({ paths, files }: Node, list: string, line: string): boolean {
  try {
    return files.readFileSync(paths.ssconf(list), 'utf8').split('\n').includes(line)
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
