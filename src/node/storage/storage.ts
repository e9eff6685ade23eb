// The interface of the drivers, one for each disk template. One contract suite runs against every driver. A driver knows devices, files and
// programs. It does not know instances, and it does not manage the children of its disk: `disks.ts` opens these for it. It does not check
// whether its disk exists either: `disks.ts` calls `find` first, and passes on the device that was found.
import type { DiskDict } from '../../rpc/node/dicts'
import type { NodeContext } from '../context'
import type { NodeFailure } from '../failure'

/** The parts of the node that a driver needs. */
export type StorageContext = Pick<
  NodeContext,
  'paths' | 'files' | 'run' | 'processes' | 'clock' | 'hostname' | 'log' | 'ssconf' | 'userVolumes' | 'mirrorProgram'
>

/** A disk that exists on this node. */
export interface Device {
  /** The disk exists, but must be assembled before this node can use it. */
  readonly idle?: true
  /** The file or block device, as a local path. Empty if only a hypervisor reaches the disk, by its URI. */
  readonly path: string
  /** The URI by which a hypervisor reaches the disk without a path, if that is possible. */
  readonly uri?: string
  /** True for a block device, false for a plain file. */
  readonly block: boolean
  /** The numbers of a block device, if they are known. */
  readonly major?: number
  readonly minor?: number
}

export interface Child {
  /** The path of the disk's device, whether the device exists or not. Missing if the path is not known in advance. */
  readonly place?: string
  readonly device?: Device
}

/** The devices of a disk's children, in the children's order. */
export type Children = readonly Child[]

export interface Dimensions {
  readonly size_bytes: number
  /** Null if spindles are not counted. */
  readonly spindles: number | null
}

/** How a node shares its volume groups. Under exclusive storage, instances get whole physical volumes. */
export interface Sharing {
  readonly exclusive?: boolean
}

export interface Making extends Sharing {
  /** A text to write at the disk. */
  readonly info?: string
}

/** The health of the data, in the terms of `BlockDeviceStatus`. */
export interface Health {
  readonly sync_percent?: number
  readonly estimated_time?: number
  readonly is_degraded: boolean
  readonly ldisk_status: number
}

/** The parts of a disk's id. A secret is left out. */
export type DiskId = readonly (string | number | null)[]
export type NewId = readonly (string | number)[]

export interface Driver {
  /** False for a template whose instances have no disks. */
  readonly hasDisks: boolean
  /** What the nodes other than the primary one do when the instance's disks are assembled. If it is missing, they do nothing. */
  readonly onSecondary?: 'assembled' | 'opened'
  /** The disk works even if children are missing. */
  readonly worksWithoutChildren?: true
  /** Announces the disks that a call will need, so that a driver can list all at once instead of asking for each. */
  expect?(disk: DiskDict): void
  /** The path of the disk's device, whether the device exists or not. */
  place?(disk: DiskDict): string
  /** Makes the disk with its full size and returns its id. Fails if the disk exists. After a failure nothing is left. */
  create(disk: DiskDict, size_mib: number, children: Children, making: Making): Promise<DiskId>
  /** True if `setInfo` is not needed after `create`, because `create` has written the note or the children hold it. */
  readonly isMadeWithInfo?: true
  /**
   * Returns the device, or undefined if the disk is missing. Looking changes nothing. Children with a known path are not looked up, so they
   * have no device here.
   */
  find(disk: DiskDict, children: Children): Promise<Device | undefined>
  /** Leave it out if the storage protects the data by itself. */
  health?(disk: DiskDict, device: Device): Promise<Health>
  /**
   * Makes an existing disk usable on this node. Fails if it is missing. A second call changes nothing. `shared`: one other node has it open
   * too, because a guest moves from there to here.
   */
  assemble(disk: DiskDict, children: Children, how?: { readonly shared?: boolean }): Promise<Device>
  /** Reverses `assemble`. The data stays. Leave it out if the disk is always usable. */
  shutdown?(disk: DiskDict, device: Device): Promise<void>
  /** Gives this node write access. Does nothing if assembling is enough. `fresh`: the disk was just made and has no known content. */
  open(disk: DiskDict, device: Device, how: { readonly exclusive: boolean; readonly fresh?: boolean }): Promise<void>
  close(disk: DiskDict, device: Device): Promise<void>
  /**
   * The clients on any node that have the disk open. Asked only while the guest on this node is stopped. Leave it out if the storage cannot
   * tell.
   */
  users?(disk: DiskDict): Promise<readonly string[]>
  /** Grows the disk's own part. Its children have already grown. A dry run only checks. */
  grow(disk: DiskDict, device: Device, amount_mib: number, how: Sharing & { readonly dryRun: boolean }): Promise<void>
  /** Deletes the data. */
  remove(disk: DiskDict, device: Device): Promise<void>
  /**
   * Deletes remains that `find` does not report, such as a disk that cannot be attached. Drivers that can have such remains implement it.
   */
  removeUnseen?(disk: DiskDict, broken?: NodeFailure): Promise<void>
  /** Moves the data to another logical id. */
  rename(disk: DiskDict, device: Device, newId: NewId): Promise<void>
  /** Writes a note at the disk, if its storage can keep one. */
  setInfo(disk: DiskDict, device: Device, info: string): Promise<void>
  /** Returns the snapshot's logical id. Never called for a disk with children, because its first child has the data. */
  snapshot(disk: DiskDict, device: Device, name: string | null, size_mib: number | null): Promise<NewId | string>
  /** Why no snapshot of it can be made; null if nothing is known. Leave it out if only the snapshot itself tells. */
  snapshotProblem?(device: Device): Promise<string | null>
  dimensions(disk: DiskDict, device: Device): Promise<Dimensions>
  /** Runs `work` with a file that stands for the whole disk. Leave it out if the device itself can be used. */
  lend?<T>(disk: DiskDict, device: Device, work: (file: string) => Promise<T>): Promise<T>
  /** Lends a file that stands for the disk to a program that works longer than one call. Leave it out if the device itself can be used. */
  lender?(disk: DiskDict): Promise<Lender>
  /** Leave it out if no other node has a copy. */
  readonly mirror?: Mirror
}

/** Lends the file of a disk to a process for as long as the process stays connected to the socket. */
export interface Lender {
  readonly socket: string
  readonly minor: number
  readonly file: string
}

/** Further operations of a disk that two nodes keep. */
export interface Mirror {
  connection(disk: DiskDict, device: Device): Promise<Connection>
  /** Both nodes may write only while a guest moves from one to the other. */
  connect(disk: DiskDict, device: Device, dualPrimary: boolean): Promise<void>
  disconnect(disk: DiskDict, device: Device): Promise<void>
  /** Replaces a disk's children after it lost or gave them up. */
  attach(disk: DiskDict, device: Device, children: Children): Promise<void>
  detach(disk: DiskDict, device: Device, children: Children): Promise<void>
  pauseSync(disk: DiskDict, device: Device, pause: boolean): Promise<void>
}

export interface Connection {
  /** The state in words, for messages. */
  readonly state: string
  /** The disk has no connection, and does not try to make one. */
  readonly standalone: boolean
  /** The disk has no local data. */
  readonly diskless: boolean
  /** The disk is connected to the right node. */
  readonly connected: boolean
  readonly syncing: boolean
  readonly sync_percent?: number
  /** Both nodes have all data. */
  readonly upToDate: boolean
  /** The disk is connected to another node, or keeps its data elsewhere, than the configuration says. */
  readonly astray: boolean
}

export type DriverFactory = (context: StorageContext) => Driver
