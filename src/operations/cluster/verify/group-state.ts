// All that verify knows of a group: which part of the cluster it looks at, and what the nodes told.
import type { ConfigData, Disk, Instance, Node, NodeGroup } from '../../../model/config'
import type { NodeResult } from '../../../rpc/node/client'
import type { BlockDeviceStatus, StoredFile } from '../../../rpc/node/dicts'
import { type DiskTemplate } from '../../../model/templates'

export interface Scope {
  readonly config: ConfigData
  readonly group: NodeGroup
  /** All nodes of the group. */
  readonly nodes: readonly Node[]
  /** Those whose primary node is in the group, and which this job has locked. */
  readonly instances: readonly Instance[]
}

export interface NodeImage {
  readonly node: Node
  readonly result: NodeResult<Record<string, unknown>>
  /** The answers to the checks; empty when the node did not answer. */
  readonly answer: Readonly<Record<string, unknown>>
  /** Names of running instances; undefined when the node could not say. */
  readonly running: readonly string[] | undefined
  /** `vg/lv`; undefined when it was not asked, or could not say. */
  readonly volumes: ReadonlySet<string> | undefined
}

export interface DiskState {
  readonly node: Node
  readonly index: number
  readonly disk: Disk
  readonly status: readonly [true, BlockDeviceStatus] | readonly [false, string]
}

/** The contents of one storage directory on one node. */
export interface Listing {
  readonly node: Node
  readonly template: DiskTemplate
  readonly directory: string
  readonly files: ReadonlyMap<string, StoredFile>
}

export interface GroupState extends Scope {
  readonly images: readonly NodeImage[]
  /** Answers about files of nodes outside the group, to compare with. */
  readonly others: readonly NodeImage[]
  /** When the question was asked and when the last answer was there. */
  readonly asked_ms: readonly [from: number, to: number]
  readonly disks: ReadonlyMap<string, readonly DiskState[]>
  readonly listings: readonly Listing[]
  /** Instances that some job is working on: they and their files may come and go. */
  readonly busy: ReadonlySet<string>
  /** The notes of snapshots, by the uuids of their disks. */
  readonly snapshots: Readonly<Record<string, unknown>>
}
