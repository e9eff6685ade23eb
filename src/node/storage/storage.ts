// Disks of instances on this node, one file per disk template behind this interface; one contract suite runs against every one.
// A storage knows devices and files; it neither knows instances nor keeps links to them.
import type { DiskDict } from '../../rpc/node/dicts'
import type { NodeContext } from '../context'

/** The parts of the node that a storage needs. */
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

export interface Storage {
  /** False where instances of this template have no disks. */
  readonly hasDisks: boolean
  /** Makes the disk in its whole size; fails when it exists, and leaves nothing behind when it fails. */
  create(disk: DiskDict, size_mib: number): Promise<void>
  /** The device, or undefined when there is none. */
  find(disk: DiskDict): Promise<Device | undefined>
  /** Makes an existing disk usable here; fails when it is missing. Doing it again changes nothing. */
  assemble(disk: DiskDict): Promise<Device>
  /** The opposite of assemble; the data stays. */
  shutdown(disk: DiskDict): Promise<void>
  /** Gives this node write access, where that is more than assembling. */
  open(disk: DiskDict, exclusive: boolean): Promise<void>
  close(disk: DiskDict): Promise<void>
  /** A dry run only checks. */
  grow(disk: DiskDict, amount_mib: number, dryRun: boolean): Promise<void>
  /** Overwrites a range with zeros; fails when it goes beyond the end. */
  wipe(disk: DiskDict, offset_mib: number, size_mib: number): Promise<void>
  /** Deletes the data; a disk that is gone already is fine. */
  remove(disk: DiskDict): Promise<void>
  /** Moves the data to another logical id. */
  rename(disk: DiskDict, newId: readonly (string | number)[]): Promise<void>
  /** Keeps a text with the disk, where there is a place for it. */
  setInfo(disk: DiskDict, info: string): Promise<void>
  /** Returns the snapshot's logical id. */
  snapshot(disk: DiskDict, name: string | null, size_mib: number | null): Promise<readonly (string | number)[] | string>
  dimensions(disk: DiskDict): Promise<{ size_bytes: number; spindles: number | null } | undefined>
}

export type StorageFactory = (context: StorageContext) => Storage
