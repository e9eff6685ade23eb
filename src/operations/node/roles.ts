// A node has one role, which three flags express: at most one of them is set.
import type { ConfigData, Node } from '../../model/config'

export type Role = 'candidate' | 'drained' | 'offline' | 'regular'
export const ROLE_FLAGS = ['master_candidate', 'drained', 'offline'] as const
type RoleFlag = (typeof ROLE_FLAGS)[number]
export type RoleFlags = Readonly<Record<RoleFlag, boolean>>
/** The flags that an opcode requests; missing ones stay as they are. */
export type AskedFlags = Partial<Record<RoleFlag, boolean | undefined>>

export const flagsOf = (role: Role): RoleFlags => ({
  master_candidate: role === 'candidate',
  drained: role === 'drained',
  offline: role === 'offline',
})

export function roleOf(node: RoleFlags): Role {
  if (node.master_candidate) return 'candidate'
  if (node.drained) return 'drained'
  return node.offline ? 'offline' : 'regular'
}

/** Removing the only flag makes a regular node. */
export function roleAfter(old: Role, requested: AskedFlags): Role {
  if (requested.master_candidate) return 'candidate'
  if (requested.drained) return 'drained'
  if (requested.offline) return 'offline'
  return ROLE_FLAGS.some((flag) => requested[flag] === false) ? 'regular' : old
}

export interface CandidateStats {
  readonly now: number
  /** The number of candidates that the cluster wants and its nodes allow. */
  readonly wanted: number
}

export function candidateStats(config: ConfigData, except: readonly string[] = []): CandidateStats {
  const nodes = Object.values(config.nodes).filter((node) => !except.includes(node.uuid))
  return {
    now: nodes.filter((node) => node.master_candidate).length,
    wanted: Math.min(nodes.filter(canBeCandidate).length, config.cluster.candidate_pool_size),
  }
}

const canBeCandidate = (node: Node): boolean => !node.offline && !node.drained && node.master_capable

/** Whether a node that becomes eligible should also become a candidate. */
export function lacksCandidate(config: ConfigData, except: readonly string[] = []): boolean {
  const { now, wanted: desired } = candidateStats(config, except)
  return now < Math.min(desired + 1, config.cluster.candidate_pool_size)
}
