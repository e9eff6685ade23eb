// The driver of a disk template on a node, in a file of its own. One contract suite runs against every driver.
// A driver knows devices, files and programs. It neither knows instances, nor looks after the disks that its disk consists of: these
// are its children, which `disks.ts` opens for it. Nor does it look whether its disk is there: `disks.ts` asks `find` first, and hands
// in the device that was found.
import type { DiskDict } from '../../rpc/node/dicts'
import type { NodeContext } from '../context'
import type { NodeFailure } from '../failure'

/** The parts of the node that a driver needs. */
export type StorageContext = Pick<
  NodeContext,
  'paths' | 'files' | 'run' | 'processes' | 'clock' | 'hostname' | 'log' | 'ssconf' | 'userVolumes' | 'mirrorProgram'
>

/** A disk that is there and usable on this node. */
export interface Device {
  /** It is there, but nobody on this node can use it before it is assembled. */
  readonly idle?: true
  /** The file or block device, as a local path; empty where only a hypervisor reaches it, by its URI. */
  readonly path: string
  /** How a hypervisor reaches it without a path, where there is such a way. */
  readonly uri?: string
  /** Whether it is a block device; else it is a plain file. */
  readonly block: boolean
  /** The numbers of a block device, where it has some. */
  readonly major?: number
  readonly minor?: number
}

export interface Child {
  /** The path of its device, whether that is there or not; missing where nobody knows it beforehand. */
  readonly place?: string
  readonly device?: Device
}

/** The devices of a disk's children, in their order. */
export type Children = readonly Child[]

export interface Dimensions {
  readonly size_bytes: number
  /** Null where spindles are not counted. */
  readonly spindles: number | null
}

/** Where the volume groups of a node are given to instances as whole physical volumes. */
export interface Sharing {
  readonly exclusive?: boolean
}

export interface Making extends Sharing {
  /** A text to note at the disk. */
  readonly info?: string
}

/** How well the data is kept, as `BlockDeviceStatus` tells it. */
export interface Health {
  readonly sync_percent?: number
  readonly estimated_time?: number
  readonly is_degraded: boolean
  readonly ldisk_status: number
}

/** Parts of a disk's id; a secret is not told. */
export type DiskId = readonly (string | number | null)[]
export type NewId = readonly (string | number)[]

export interface Driver {
  /** False where instances of this template have no disks. */
  readonly hasDisks: boolean
  /** What nodes other than the primary one do with it when their instance's disks are assembled; they do nothing where it is missing. */
  readonly onSecondary?: 'assembled' | 'opened'
  /** It works while children are missing. */
  readonly worksWithoutChildren?: true
  /** Tells beforehand of which disks a call will ask, where one list of all costs less than a question for each. */
  expect?(disk: DiskDict): void
  /** The path of the disk's device, whether that is there or not. */
  place?(disk: DiskDict): string
  /** Makes the disk in its whole size; fails when it exists, and leaves nothing behind when it fails. Answers its id. */
  create(disk: DiskDict, size_mib: number, children: Children, making: Making): Promise<DiskId>
  /** A disk that was made has its note already, or has its place for one at its children, which were made with theirs. */
  readonly isMadeWithInfo?: true
  /** The device, or undefined when there is none. Who only looks changes nothing. Children whose place is known are not looked for, and have no device here. */
  find(disk: DiskDict, children: Children): Promise<Device | undefined>
  /** Missing where the storage keeps the data by itself. */
  health?(disk: DiskDict, device: Device): Promise<Health>
  /** Makes an existing disk usable here; fails when it is missing. Doing it again changes nothing. */
  assemble(disk: DiskDict, children: Children): Promise<Device>
  /** The opposite of assemble; the data stays. */
  shutdown(disk: DiskDict, device: Device): Promise<void>
  /** Gives this node write access, where that is more than assembling. A disk is fresh whose content nobody knows yet. */
  open(disk: DiskDict, device: Device, how: { readonly exclusive: boolean; readonly fresh?: boolean }): Promise<void>
  close(disk: DiskDict, device: Device): Promise<void>
  /** Who has it open, whichever node that is; asked while this node's guest does not run. Missing where nobody knows. */
  users?(disk: DiskDict): Promise<readonly string[]>
  /** Grows the disk's own part; its children have grown before. A dry run only checks. */
  grow(disk: DiskDict, device: Device, amount_mib: number, how: Sharing & { readonly dryRun: boolean }): Promise<void>
  /** Deletes the data. */
  remove(disk: DiskDict, device: Device): Promise<void>
  /** Deletes what may be there although it is not found, or is there in a way that cannot be used; there where that can be. */
  removeUnseen?(disk: DiskDict, broken?: NodeFailure): Promise<void>
  /** Moves the data to another logical id. */
  rename(disk: DiskDict, device: Device, newId: NewId): Promise<void>
  /** Notes a text at the disk, where its storage has a place for one. */
  setInfo(disk: DiskDict, device: Device, info: string): Promise<void>
  /** Returns the snapshot's logical id. A disk with children is never asked: the first of them has the data. */
  snapshot(disk: DiskDict, device: Device, name: string | null, size_mib: number | null): Promise<NewId | string>
  dimensions(disk: DiskDict, device: Device): Promise<Dimensions>
  /** Does something with a file that stands for the whole disk; missing where the device is one. */
  lend?<T>(disk: DiskDict, device: Device, work: (file: string) => Promise<T>): Promise<T>
  /** Where who reads or writes it for longer than one call borrows its file; missing where the device is one. */
  lender?(disk: DiskDict): Promise<Lender>
  /** Missing where no other node has a copy. */
  readonly mirror?: Mirror
}

/** It lends the file of a disk to a process as long as that has a connection with it. */
export interface Lender {
  readonly socket: string
  readonly minor: number
  readonly file: string
}

/** What can be done besides with a disk that two nodes keep the same. */
export interface Mirror {
  connection(disk: DiskDict, device: Device): Promise<Connection>
  /** Two nodes may write only while a guest moves from one to the other. */
  connect(disk: DiskDict, device: Device, dualPrimary: boolean): Promise<void>
  disconnect(disk: DiskDict, device: Device): Promise<void>
  /** Gives a disk that lost its children, or lets go of them, others to keep the data on. */
  attach(disk: DiskDict, device: Device, children: Children): Promise<void>
  detach(disk: DiskDict, device: Device, children: Children): Promise<void>
  pauseSync(disk: DiskDict, device: Device, pause: boolean): Promise<void>
}

export interface Connection {
  /** In words for messages. */
  readonly state: string
  /** It has no network, and does not look for its other node. */
  readonly standalone: boolean
  /** It has no local data. */
  readonly diskless: boolean
  /** It talks with the node that it is to talk with. */
  readonly connected: boolean
  readonly syncing: boolean
  readonly sync_percent?: number
  /** Both nodes have all data. */
  readonly upToDate: boolean
  /** It looks for another node, or keeps its data elsewhere, than the cluster says. */
  readonly astray: boolean
}

export type DriverFactory = (context: StorageContext) => Driver
