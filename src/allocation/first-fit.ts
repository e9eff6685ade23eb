// Allocation: where instances go. Pure: it is given the nodes as they are and answers with a choice and its reasons; it reads
// nothing, asks nobody, and changes nothing. This file: the simplest placement, onto the node with the most free memory that fits.

export interface CandidateNode {
  readonly uuid: string
  readonly name: string
  readonly group: string
  readonly offline: boolean
  readonly drained: boolean
  readonly vmCapable: boolean
  /** What the node reported just now; undefined when it did not answer. */
  readonly live?: { readonly memoryFree_mib: number; readonly diskFree_mib?: number }
  /** Memory kept for instances that are about to be made. */
  readonly promised_mib: number
}

export interface CandidateGroup {
  readonly uuid: string
  readonly name: string
  readonly policy: 'preferred' | 'last_resort' | 'unallocable'
}

export interface Demand {
  readonly memory_mib: number
  /** On the node itself; 0 for shared and external storage. */
  readonly disk_mib: number
  /** Only this group, whatever its policy. */
  readonly group?: string
  /** Nodes that are no choice, such as the one an instance leaves. */
  readonly exclude?: readonly string[]
}

export type Placement =
  { readonly ok: true; readonly node: CandidateNode } | { readonly ok: false; readonly why: string }

const POLICY_ORDER = { preferred: 0, last_resort: 1, unallocable: 2 }

export function firstFit(
  nodes: readonly CandidateNode[],
  groups: readonly CandidateGroup[],
  demand: Demand,
): Placement {
  const groupOf = new Map(groups.map((group) => [group.uuid, group]))
  const reasons = new Map<string, number>()
  const fitting: CandidateNode[] = []
  for (const node of nodes) {
    const reason = misfit(node, groupOf.get(node.group), demand)
    if (reason === undefined) fitting.push(node)
    else reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  const rank = (node: CandidateNode) => POLICY_ORDER[groupOf.get(node.group)?.policy ?? 'unallocable']
  fitting.sort((a, b) => rank(a) - rank(b) || free(b) - free(a) || (a.name < b.name ? -1 : 1))
  const [best] = fitting
  if (best !== undefined) return { ok: true, node: best }
  const parts = [...reasons].map(([reason, count]) => `${reason}: ${count}`)
  return { ok: false, why: `No suitable node among ${nodes.length}; ${parts.join(', ') || 'the cluster has none'}` }
}

const free = (node: CandidateNode): number => (node.live?.memoryFree_mib ?? 0) - node.promised_mib

/** Why the node is no choice, in words that are counted over all nodes. */
function misfit(node: CandidateNode, group: CandidateGroup | undefined, demand: Demand): string | undefined {
  if (demand.exclude?.includes(node.uuid)) return 'excluded'
  if (demand.group !== undefined ? node.group !== demand.group : group?.policy === 'unallocable') return 'other group'
  if (node.offline) return 'offline'
  if (node.drained) return 'drained'
  if (!node.vmCapable) return 'not vm_capable'
  if (node.live === undefined) return 'no answer'
  if (free(node) < demand.memory_mib) return 'not enough memory'
  if (demand.disk_mib > 0 && (node.live.diskFree_mib ?? Infinity) < demand.disk_mib) return 'not enough disk space'
  return undefined
}
