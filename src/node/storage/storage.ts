// The driver of a disk template on a node, in a file of its own. One contract suite runs against every driver.
// A driver knows devices, files and programs. It neither knows instances, nor looks after the disks that its disk consists of: these
// are its children, which `disks.ts` opens for it.
import type { DiskDict } from '../../rpc/node/dicts'
import type { NodeContext } from '../context'

/** The parts of the node that a driver needs. */
export type StorageContext = Pick<NodeContext, 'paths' | 'files' | 'run'>

/** A disk that is there and usable on this node. */
export interface Device {
  /** The file or block device, as a local path. */
  readonly path: string
  /** How a hypervisor reaches it without a path, where there is such a way. */
  readonly uri?: string
  /** Whether it is a block device; else it is a plain file. */
  readonly block: boolean
}

/** The devices of a disk's children, in their order. */
export type Children = readonly Device[]

export interface Dimensions {
  readonly size_bytes: number
  /** Null where spindles are not counted. */
  readonly spindles: number | null
}

export interface Driver {
  /** False where instances of this template have no disks. */
  readonly hasDisks: boolean
  /** Makes the disk in its whole size; fails when it exists, and leaves nothing behind when it fails. */
  create(disk: DiskDict, size_mib: number, children: Children): Promise<void>
  /** The device, or undefined when there is none. Children that are missing are left out. */
  find(disk: DiskDict, children: Children): Promise<Device | undefined>
  /** Makes an existing disk usable here; fails when it is missing. Doing it again changes nothing. */
  assemble(disk: DiskDict, children: Children): Promise<Device>
  /** The opposite of assemble; the data stays. */
  shutdown(disk: DiskDict): Promise<void>
  /** Gives this node write access, where that is more than assembling. */
  open(disk: DiskDict, exclusive: boolean): Promise<void>
  close(disk: DiskDict): Promise<void>
  /** Grows the disk's own part; its children have grown before. A dry run only checks. */
  grow(disk: DiskDict, amount_mib: number, dryRun: boolean): Promise<void>
  /** Deletes the data; a disk that is gone already is fine. */
  remove(disk: DiskDict): Promise<void>
  /** Moves the data to another logical id. */
  rename(disk: DiskDict, newId: readonly (string | number)[]): Promise<void>
  /** Notes a text at the disk, where its storage has a place for one. */
  setInfo(disk: DiskDict, info: string): Promise<void>
  /** Returns the snapshot's logical id. A disk with children is never asked: the first of them has the data. */
  snapshot(disk: DiskDict, name: string | null, size_mib: number | null): Promise<readonly (string | number)[] | string>
  dimensions(device: Device): Promise<Dimensions>
}

export type DriverFactory = (context: StorageContext) => Driver
