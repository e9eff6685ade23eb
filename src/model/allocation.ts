// Questions to the allocation and their answers, as /3 has them. Memory and disk are in MiB.

/** A new instance to place. */
export interface InstanceSpecification {
  /** How its disks are stored: `drbd`, `plain`, `file`. */
  disk_template: string
  /** MiB. @isInt @minimum 1 */
  memory_mib: number
  /** @isInt @minimum 1 */
  vcpus: number
  /** The size of each disk in MiB; none when left out. @isInt */
  disks_mib?: readonly number[]
  /** How many physical volumes each of these disks gets for itself on nodes whose storage is exclusive. @isInt */
  disks_spindles?: readonly number[]
  /** How much it works on its spindles: 1 by default. @isInt @minimum 0 */
  spindle_use?: number
  tags?: readonly string[]
  /** Networks by name that its node group must be connected to. */
  networks?: readonly string[]
}

/** A node that was considered for the instance, and the verdict on it. */
export interface CandidateNode {
  node: string
  /** The best second node for a pair. Null for an instance on one node, and if no node fits. */
  secondary: string | null
  accepted: boolean
  /** By how much the score gets worse (above 0) or better (below 0); null if the instance does not fit. @isDouble */
  score_change: number | null
  /** Why the instance does not fit; null if it fits. The first nine are names that Ganeti's programs print. */
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
  /** The reason in words. */
  reason: string | null
  /** How much the node has of the scarce resource: MiB or CPUs. Null if the reason is not a number. @isDouble */
  free: number | null
  /** How much of it is needed. @isDouble */
  needed: number | null
}

export type Reject = NonNullable<CandidateNode['reject']>

/** Objects (by name) that an answer may mention and a plan may change. */
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
  /** The allocator that plans it: `hail` (built in) or a script; by default the cluster's allocators for `balance`. */
  iallocator?: string
  /** Node groups by name; by default all that the caller sees. */
  groups?: readonly string[]
  /** The most moves; by default as many as one job can hold. @isInt @minimum 1 */
  max_moves?: number
  /** Whether disks may be copied: true by default. */
  disk_moves?: boolean
  /** Whether instances may change their primary node: true by default. */
  instance_moves?: boolean
  /** Only instances whose node is offline or drained. */
  evacuate?: boolean
  /** Instances leave only nodes that are offline or drained. */
  restricted_migration?: boolean
  /** The least gain of a move once the score is below `min_gain_limit`: 0.01 by default. @isDouble */
  min_gain?: number
  /** 0.1 by default. @isDouble */
  min_gain_limit?: number
  /** Lists for each step every node that the instance could go to. */
  explain?: boolean
}

/** One part of the score, which is a weighted sum. */
export interface ScoreComponent {
  /** The name in Ganeti's programs: `free_mem_cv`. */
  name: string
  /** Its contribution to the score. @isDouble */
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
  /** The instance's nodes before, the primary first. */
  from: string[]
  to: string[]
  /** The group's score. @isDouble */
  score_before: number
  /** @isDouble */
  score_after: number
  /** MiB of disks that are copied to another node; 0 if none. @isInt */
  copied_mib: number
  /** The parts of the score that change, the largest gains first. */
  components: ScoreComponent[]
  /** The first of the plan's opcodes that belong to this step, and their number. @isInt */
  first_op: number
  /** @isInt */
  op_count: number
  /** Each node that was considered. Null without `explain`, and for steps after the first 20,000 listed nodes. */
  candidates: CandidateNode[] | null
}

/** How many instances of a specification fit. */
export interface CapacityRequest {
  spec: InstanceSpecification
  /** The allocator that counts: `hail` (built in) or a script; by default the cluster's allocators for `capacity`. */
  iallocator?: string
  /** Node groups by name; by default all that the caller sees. */
  groups?: readonly string[]
  /** Stops counting at this number in each group; 0 only explains where one would fit. @isInt @minimum 0 */
  max_instances?: number
  /** Says for each node of each group whether the next instance fits there, and why not or how good it is. */
  explain?: boolean
}

/** The instances that fit into a node group while the others stay as they are. */
export interface GroupCapacity {
  group: string
  /** `preferred`, `last_resort`, or `unallocable`: only requests that name such a group may use it. */
  alloc_policy: string
  /** @isInt */
  fits: number
  /** The nodes of each instance, the primary first, in the order of placement. */
  nodes: string[][]
  /** Why no more fit; null if the question asked for no more. */
  reason: string | null
  /** Each node of the group, judged for the next instance; null without `explain`. */
  candidates: CandidateNode[] | null
}

export interface Capacity {
  /** In all groups together. @isInt */
  fits: number
  groups: GroupCapacity[]
}

/** What happens: first nodes die, then instances arrive. */
export interface WhatIfRequest {
  /** Names of nodes that die. */
  nodes?: readonly string[]
  /** All nodes with this tag also die. */
  node_tag?: string
  /** Instances that arrive, one after the other. */
  instances?: readonly ArrivingInstances[]
  /** Lists each considered node for everything that cannot be placed. */
  explain?: boolean
}

export interface ArrivingInstances {
  spec: InstanceSpecification
  /** 1 by default. @isInt @minimum 1 */
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
  /** Each node that was considered; null without `explain`, and if there was none. */
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
  /** How many of these instances. @isInt */
  count: number
  reason: string
  candidates: CandidateNode[] | null
}

export interface WhatIf {
  /** The nodes that died. */
  dead: string[]
  /** Instances that ran on a dead node, in the order in which they come back. `to` lists no dead node: new mirrors come later. */
  restored: RestoredInstance[]
  /** Instances that ran on a dead node and cannot come back. */
  lost: LostInstance[]
  /** Instances that run (still or again) without their mirror, and where the new mirror goes. `from` ends with its dead node. */
  mirrored: RestoredInstance[]
  /** Instances that go on without a mirror. */
  unmirrored: LostInstance[]
  /** Instances whose node was offline before anything died. They cannot run there, and nothing moves them. */
  already_down: LostInstance[]
  placed: PlacedInstance[]
  refused: RefusedInstances[]
  /** Nodes that could not take over their share if one more node died. */
  without_reserve: string[]
  groups: GroupScore[]
}
