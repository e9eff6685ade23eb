// Everything that verify knows about a group: the part of the cluster that it checks, and the nodes' answers.
import type { ConfigData, Disk, Instance, Node, NodeGroup } from '../../../model/config'
import type { NodeResult } from '../../../rpc/node/client'
import type { BlockDeviceStatus, StoredFile } from '../../../rpc/node/dicts'
import type { AncillaryFile } from '../ancillary-files'
import { type DiskTemplate } from '../../../model/templates'

export interface Scope {
  readonly config: ConfigData
  readonly group: NodeGroup
  /** All nodes of the group. */
  readonly nodes: readonly Node[]
  /** Instances that this job has locked and whose primary node is in the group. */
  readonly instances: readonly Instance[]
}

export interface NodeImage {
  readonly node: Node
  readonly result: NodeResult<Record<string, unknown>>
  /** The answers to the checks; empty if the node did not answer. */
  readonly answer: Readonly<Record<string, unknown>>
  /** Names of running instances; undefined if the node could not say. */
  readonly running: readonly string[] | undefined
  /** `vg/lv`; undefined if the node was not asked, or could not say. */
  readonly volumes: ReadonlyMap<string, number | undefined> | undefined
}

/** The part of an image that tells which volumes a node has. */
export type Holder = Pick<NodeImage, 'node' | 'volumes'>

export interface DiskState {
  readonly node: Node
  readonly index: number
  readonly disk: Disk
  readonly status: readonly [true, BlockDeviceStatus] | readonly [false, string]
  /** A mirror that has its data, but does not look for its other node. */
  readonly standsAlone?: true
}

/** The contents of one storage directory on one node. */
export interface Listing {
  readonly node: Node
  readonly template: DiskTemplate
  readonly directory: string
  readonly files: ReadonlyMap<string, StoredFile>
}

/** On a node that has answered. */
export const runsSomewhere = (
  { images, others }: { readonly images: readonly NodeImage[]; readonly others: readonly NodeImage[] },
  name: string,
): boolean => [...images, ...others].some(({ running }) => running?.includes(name))

export interface GroupState extends Scope {
  /** The files that must be equal on all nodes. */
  readonly compared: readonly AncillaryFile[]
  readonly images: readonly NodeImage[]
  /** Answers about files of nodes outside the group, for comparison. */
  readonly others: readonly NodeImage[]
  /** Nodes of other groups with volumes. Only asked if a volume of this group has no owner. */
  readonly holders: readonly Holder[]
  /** When the question was sent, and when the last answer arrived. */
  readonly asked_ms: readonly [from: number, to: number]
  readonly disks: ReadonlyMap<string, readonly DiskState[]>
  readonly listings: readonly Listing[]
  /** Instances that jobs are working on: they and their files may come and go. */
  readonly busy: ReadonlySet<string>
  /** The noted snapshots, by the uuids of their disks. */
  readonly snapshots: Readonly<Record<string, unknown>>
  /** Those that have run full, as JSON of their ids on their nodes. */
  readonly invalidSnapshots: ReadonlySet<string>
  /** The rounds of maintenance, and what it has noted of nodes. */
  readonly maintenance: Readonly<Record<string, unknown>>
}
