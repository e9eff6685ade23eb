// Questions to the allocation and their answers, as /3 has them. Memory and disk are in MiB.

/** A new instance as it would be. */
export interface InstanceSpecification {
  /** How its disks are stored: `drbd`, `plain`, `file`. */
  disk_template: string
  /** MiB. @isInt @minimum 1 */
  memory_mib: number
  /** @isInt @minimum 1 */
  vcpus: number
  /** The size of each disk in MiB; none when left out. @isInt */
  disks_mib?: readonly number[]
  /** How much it works on its spindles: 1 when left out. @isInt @minimum 0 */
  spindle_use?: number
  tags?: readonly string[]
  /** Networks by name that its node group must be connected to. */
  networks?: readonly string[]
}

/** A node that was looked at as the place of an instance, and what came of it. */
export interface CandidateNode {
  node: string
  /** The other node of a pair: the best one. Null for an instance on one node, and where nothing fits. */
  secondary: string | null
  accepted: boolean
  /** How much worse (above 0) or better (below 0) the score becomes; null where it does not fit. @isDouble */
  score_change: number | null
  /** Why it does not fit, null where it does; the first nine are the names that Ganeti's programs print. */
  reject:
    | 'FailMem'
    | 'FailDisk'
    | 'FailCPU'
    | 'FailN1'
    | 'FailTags'
    | 'FailMig'
    | 'FailDiskCount'
    | 'FailSpindles'
    | 'FailInternal'
    | 'policy'
    | 'offline'
    | 'drained'
    | 'not vm_capable'
    | 'no answer'
    | 'not locked'
    | 'other group'
    | 'unallocable'
    | 'no network'
    | 'no secondary'
    | 'own node'
    | 'evacuated'
    | 'not wanted'
    | null
  /** The same in words. */
  reason: string | null
  /** The amount that there is of the resource that is short: MiB or CPUs; null where it is no number. @isDouble */
  free: number | null
  /** The amount that would be needed of it. @isDouble */
  needed: number | null
}

export type Reject = NonNullable<CandidateNode['reject']>

/** By name: all that an answer may tell of, and that what it plans may touch. */
export interface Visible {
  readonly groups: readonly string[]
  readonly nodes: readonly string[]
  readonly instances: readonly string[]
}

/** How evenly a node group is loaded: 0 is best. */
export interface GroupScore {
  group: string
  /** @isDouble */
  score_before: number
  /** @isDouble */
  score_after: number
}

/** Which moves are wanted. */
export interface BalanceRequest {
  /** Who plans it: `hail`, the built-in one, or a script; when left out, the cluster's default allocators for `balance`. */
  iallocator?: string
  /** Node groups by name; all that the caller sees when left out. */
  groups?: readonly string[]
  /** At most so many moves; when left out, as many as one job can hold. @isInt @minimum 1 */
  max_moves?: number
  /** Whether disks may be copied: true when left out. */
  disk_moves?: boolean
  /** Whether instances may change their primary node: true when left out. */
  instance_moves?: boolean
  /** Only instances whose node is offline or drained. */
  evacuate?: boolean
  /** Instances leave only nodes that are offline or drained. */
  restricted_migration?: boolean
  /** The least gain of a move once the score is below `min_gain_limit`: 0.01 when left out. @isDouble */
  min_gain?: number
  /** 0.1 when left out. @isDouble */
  min_gain_limit?: number
  /** Tells of each step every node that the instance could go to. */
  explain?: boolean
}

/** One part of the score, which is the weighted sum of all. */
export interface ScoreComponent {
  /** As Ganeti's programs call it: `free_mem_cv`. */
  name: string
  /** Its part of the score. @isDouble */
  before: number
  /** @isDouble */
  after: number
}

/** One relocation of a plan. */
export interface BalanceStep {
  instance: string
  group: string
  /** The kind of move: `migrate` (live; `failover` when it does not run), `replace-secondary`, `migrate-and-replace` and so on. */
  kind: string
  /** Its nodes before, the primary first. */
  from: string[]
  to: string[]
  /** The group's score. @isDouble */
  score_before: number
  /** @isDouble */
  score_after: number
  /** MiB of disks that are copied to another node; 0 where none are. @isInt */
  copied_mib: number
  /** The parts of the score that change, those that gain most first. */
  components: ScoreComponent[]
  /** Which of the plan's opcodes are this step's: the first one, and how many. @isInt */
  first_op: number
  /** @isInt */
  op_count: number
  /** Each node that was looked at; null without `explain`, and for steps after the first 20,000 nodes that were told. */
  candidates: CandidateNode[] | null
}

/** How many instances of a specification fit. */
export interface CapacityRequest {
  spec: InstanceSpecification
  /** Who counts: `hail`, the built-in one, or a script; when left out, the cluster's default allocators for `capacity`. */
  iallocator?: string
  /** Node groups by name; all that the caller sees when left out. */
  groups?: readonly string[]
  /** Looks no further than so many in each group; 0 only explains where one would fit. @isInt @minimum 0 */
  max_instances?: number
  /** Tells for each node of each group whether the next instance fits there, and why not or how good it is. */
  explain?: boolean
}

/** The instances that fit into a node group while the others stay as they are. */
export interface GroupCapacity {
  group: string
  /** `preferred`, `last_resort`, or `unallocable`: then only who names the group gets into it. */
  alloc_policy: string
  /** @isInt */
  fits: number
  /** The nodes of each instance, the primary first, in the order in which instances would be placed. */
  nodes: string[][]
  /** Why no more fit; null where no more were asked for. */
  reason: string | null
  /** For the next instance, each node of the group; null without `explain`. */
  candidates: CandidateNode[] | null
}

export interface Capacity {
  /** In all groups together. @isInt */
  fits: number
  groups: GroupCapacity[]
}

/** The course of events: nodes die first, then instances arrive. */
export interface WhatIfRequest {
  /** Nodes by name that die. */
  nodes?: readonly string[]
  /** All nodes with this tag die, too. */
  node_tag?: string
  /** Instances that arrive, one after the other. */
  instances?: readonly ArrivingInstances[]
  /** Tells of what cannot be placed each node that was looked at. */
  explain?: boolean
}

export interface ArrivingInstances {
  spec: InstanceSpecification
  /** 1 when left out. @isInt @minimum 1 */
  count?: number
  /** Only into this node group. */
  group?: string
}

/** An instance of a node that died. */
export interface RestoredInstance {
  instance: string
  from: string[]
  to: string[]
}

export interface LostInstance {
  instance: string
  /** Its nodes before. */
  nodes: string[]
  reason: string
  /** Each node that was looked at; null without `explain`, and where none was. */
  candidates: CandidateNode[] | null
}

export interface PlacedInstance {
  /** The number of its entry in the request, from 0. @isInt */
  entry: number
  nodes: string[]
}

export interface RefusedInstances {
  /** The number of their entry in the request, from 0. @isInt */
  entry: number
  /** How many of it. @isInt */
  count: number
  reason: string
  candidates: CandidateNode[] | null
}

export interface WhatIf {
  /** The nodes that died. */
  dead: string[]
  /** In the order in which they come back: what ran on a dead node, and where it runs then. */
  restored: RestoredInstance[]
  /** Instances that ran on a dead node and cannot come back. */
  lost: LostInstance[]
  /** Instances that run on, or have come back, but have lost their mirror, and where it gets a new one. */
  mirrored: RestoredInstance[]
  /** Instances that run on without a mirror. */
  unmirrored: LostInstance[]
  placed: PlacedInstance[]
  refused: RefusedInstances[]
  /** Nodes that could not take over what they would have to if one more node died. */
  without_reserve: string[]
  groups: GroupScore[]
}
