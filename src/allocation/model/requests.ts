// Questions to the allocation and its answers as plain data, by name. The allocator protocol has the same in JSON.
import type { Reject } from '../../model/allocation'
import type { InstanceData } from './cluster-data'

export interface NewInstance {
  /** Its nodes are not known yet: NO_NODE. */
  readonly data: InstanceData
  /** 2 for a mirrored one, else 1. */
  readonly requiredNodes: number
  /** The name of the only allowed group, whatever its policy. */
  readonly group: string | undefined
}

export type EvacMode = 'primary-only' | 'secondary-only' | 'all'

export type Request =
  | { readonly type: 'allocate'; readonly instance: NewInstance; readonly restrictTo: readonly string[] | undefined }
  | { readonly type: 'multi-allocate'; readonly instances: readonly NewInstance[] }
  | { readonly type: 'allocate-secondary'; readonly name: string }
  | {
      readonly type: 'relocate'
      readonly name: string
      readonly requiredNodes: number
      readonly relocateFrom: readonly string[]
    }
  | { readonly type: 'node-evacuate'; readonly instances: readonly string[]; readonly mode: EvacMode }
  | { readonly type: 'change-group'; readonly instances: readonly string[]; readonly targetGroups: readonly string[] }
  | { readonly type: 'balance'; readonly maxMoves: number; readonly group?: string }
  | { readonly type: 'capacity'; readonly instance: NewInstance; readonly most: number }

/** A node that was considered for the instance. */
export interface Candidate {
  readonly node: string
  /** The other node of a pair, the best one. */
  readonly secondary?: string
  /** How much worse (above 0) or better the score becomes; only if it fits. */
  readonly scoreChange?: number
  readonly reject?: Reject
  /** Details of the reason. */
  readonly detail?: string
  /** How much there was of the scarce resource, if it is a number: MiB of memory and disk, CPUs, spindles. */
  readonly free?: number
  readonly needed?: number
}

export interface Moved {
  readonly instance: string
  readonly group: string
  readonly nodes: readonly string[]
}

export interface Failed {
  readonly instance: string
  /** In the words of Ganeti's programs. */
  readonly why: string
  /** Considered nodes; only if requested. */
  readonly candidates?: readonly Candidate[]
}

/** An opcode on the wire: OP_ID and parameters. */
export type Step = Readonly<Record<string, unknown>> & { readonly OP_ID: string }

/**
 * The answer to an evacuation or a change of group. `jobs` has the opcodes of each moved instance, in the same order.
 */
export interface Evacuation {
  readonly moved: readonly Moved[]
  readonly failed: readonly Failed[]
  readonly jobs: readonly (readonly Step[])[]
}
