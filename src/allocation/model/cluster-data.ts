// The cluster as the allocation sees it: plain records, filled by the loaders. Nodes, groups and instances refer to
// each other by their index in these lists, never by name.
import {
  ALLOCATION_TEMPLATES,
  type DiskTemplate,
  factsOf,
  isMirroredInside,
  isMirroredOutside,
} from '../../model/templates'

export type AllocPolicy = 'preferred' | 'last_resort' | 'unallocable'

export interface Spec {
  readonly memory: number
  readonly cpus: number
  readonly disk: number
  readonly disks: number
  readonly nics: number
  readonly spindles: number
}

export interface Policy {
  readonly minMax: readonly { readonly min: Spec; readonly max: Spec }[]
  readonly standard: Spec
  readonly templates: readonly DiskTemplate[]
  readonly vcpuRatio: number
  readonly spindleRatio: number
}

export interface GroupData {
  readonly name: string
  readonly uuid: string
  readonly allocPolicy: AllocPolicy
  readonly tags: readonly string[]
  readonly networks: readonly string[]
  policy: Policy
}

/** Memory and disk in MiB. */
export interface NodeData {
  readonly name: string
  readonly totalMemory: number
  readonly nodeMemory: number
  /** As the node reported it. */
  readonly freeMemory: number
  readonly totalDisk: number
  readonly freeDisk: number
  readonly totalCpus: number
  readonly nodeCpus: number
  offline: boolean
  /** Why it counts as offline, if the reason is another: drained, for example. */
  readonly unusable?: string
  readonly master: boolean
  readonly group: number
  readonly spindles: number
  readonly freeSpindles: number
  readonly tags: readonly string[]
  readonly exclusiveStorage: boolean
  readonly cpuSpeed: number
}

export interface DiskData {
  /** MiB. */
  readonly size: number
  readonly spindles: number | undefined
}

/** Undefined if one of the disks has no number of them. */
export const spindlesOf = (disks: readonly { readonly spindles?: number | undefined }[]): number | undefined =>
  disks.reduce<number | undefined>(
    (sum, { spindles }) => (sum === undefined || spindles === undefined ? undefined : sum + spindles),
    0,
  )

export interface InstanceData {
  readonly name: string
  readonly memory: number
  /** All disks together. */
  readonly disk: number
  readonly vcpus: number
  readonly status: string
  readonly autoBalance: boolean
  readonly primary: number
  /** NO_NODE without one. */
  readonly secondary: number
  readonly template: DiskTemplate
  readonly tags: readonly string[]
  readonly spindleUse: number
  /** Spindles of its disks, where they are counted. */
  readonly spindles: number | undefined
  readonly forthcoming: boolean
  /** If the disks are not known individually: one disk of the whole size. */
  readonly disks?: readonly DiskData[]
  /** Networks by uuid that its group must be connected to. */
  readonly networks?: readonly string[]
  /** Whether its disks take room in the nodes' storage that is counted. By default only volumes do, as in Ganeti. */
  readonly local?: boolean
}

export interface ClusterData {
  readonly groups: readonly GroupData[]
  readonly nodes: readonly NodeData[]
  readonly instances: readonly InstanceData[]
  readonly tags: readonly string[]
  readonly policy: Policy
}

/** The data cannot be used; the text says where and why. */
export class BadClusterData extends Error {}

export const NO_NODE = -1

const LOWEST: Spec = { memory: 128, cpus: 1, disk: 1024, disks: 1, nics: 1, spindles: 1 }
const HIGHEST: Spec = { memory: 32768, cpus: 8, disk: 1048576, disks: 16, nics: 8, spindles: 12 }

export const DEFAULT_POLICY: Policy = {
  minMax: [{ min: LOWEST, max: HIGHEST }],
  standard: LOWEST,
  templates: ALLOCATION_TEMPLATES,
  vcpuRatio: 4,
  spindleRatio: 32,
}

/**
 * Whether the check of global N+1 moves such an instance to another node, or makes it anew. As in Ganeti, adopted
 * devices stay.
 */
export const escapesWhole = (template: DiskTemplate): boolean =>
  isMirroredOutside(template) && factsOf(template).adoptedOnly !== true

/** A mirrored instance has two nodes. */
export const nodesNeeded = (template: DiskTemplate): number => (isMirroredInside(template) ? 2 : 1)

/** There are disks, and every node of the group reaches them. */
export const isShared = (template: DiskTemplate): boolean =>
  isMirroredOutside(template) && factsOf(template).empty !== true

export const isRunning = (status: string): boolean => status === 'running' || status === 'ERROR_up'

/** What the htools keep for a KVM node itself unless `--static-kvm-node-memory` says otherwise. Source: htools(1). */
export const KVM_NODE_MEMORY_MIB = 4096

/** What a node's instances have and can get: not what the node uses itself, though it may look free at the moment. */
export const memoryForInstances = (total_mib: number, own_mib: number, free_mib: number, used_mib: number): number =>
  Math.min(total_mib - own_mib, used_mib + free_mib)

export const isOffline = (status: string): boolean => status === 'ADMIN_offline'

const WITHOUT_MEMORY = ['ADMIN_down', 'ADMIN_offline', 'ERROR_down', 'USER_down']

export const usesMemory = ({ status, forthcoming }: InstanceData): boolean =>
  !forthcoming && !WITHOUT_MEMORY.includes(status)
