// Disks on this node, as the trees that they are: a disk is made after its children and removed before them, and what is done with it
// is done with them. Drivers do what is a template's own.
import type { DiskDict } from '../../rpc/node/dicts'
import { fail } from '../failure'
import { overwrite } from './zeros'
import { DRIVERS } from './registry'
import type { Children, Device, Dimensions, Driver, StorageContext } from './storage'

export class Disks {
  constructor(
    private readonly context: StorageContext,
    private readonly drivers = DRIVERS,
  ) {}

  /** Its children exist already: the master makes each disk of a tree by a call of its own. */
  async create(disk: DiskDict, size_mib: number): Promise<void> {
    await this.driver(disk).create(disk, size_mib, await this.assembleChildren(disk))
  }

  async find(disk: DiskDict): Promise<Device | undefined> {
    const children = await Promise.all(childrenOf(disk).map((child) => this.find(child)))
    return this.driver(disk).find(
      disk,
      children.flatMap((one) => one ?? []),
    )
  }

  async assemble(disk: DiskDict): Promise<Device> {
    return this.driver(disk).assemble(disk, await this.assembleChildren(disk))
  }

  async shutdown(disk: DiskDict): Promise<void> {
    await this.driver(disk).shutdown(disk)
    for (const child of childrenOf(disk)) await this.shutdown(child)
  }

  open(disk: DiskDict, exclusive: boolean): Promise<void> {
    return this.driver(disk).open(disk, exclusive)
  }

  close(disk: DiskDict): Promise<void> {
    return this.driver(disk).close(disk)
  }

  /** First what the data is kept on, on all nodes, then what lies above it, where there is something. A dry run looks at the former. */
  async grow(disk: DiskDict, amount_mib: number, { dryRun = false, backing = true }): Promise<void> {
    const [data] = childrenOf(disk)
    if (data === undefined) {
      if (backing || dryRun) await this.driver(disk).grow(disk, amount_mib, dryRun)
    } else if (backing || dryRun) await this.grow(data, amount_mib, { dryRun, backing: true })
    else await this.driver(disk).grow(disk, amount_mib, false)
  }

  /** Overwrites a range with zeros; fails when it goes beyond the end. */
  async wipe(disk: DiskDict, offset_mib: number, size_mib: number): Promise<void> {
    const device = await this.assemble(disk)
    const { size_bytes: end_bytes } = await this.driver(disk).dimensions(device)
    await overwrite(this.context.files, device.path, { offset_mib, size_mib, end_bytes })
  }

  async remove(disk: DiskDict): Promise<void> {
    await this.driver(disk).remove(disk)
    for (const child of childrenOf(disk)) await this.remove(child)
  }

  rename(disk: DiskDict, newId: readonly (string | number)[]): Promise<void> {
    return this.driver(disk).rename(disk, newId)
  }

  async setInfo(disk: DiskDict, info: string): Promise<void> {
    await this.driver(disk).setInfo(disk, info)
    for (const child of childrenOf(disk)) await this.setInfo(child, info)
  }

  snapshot(disk: DiskDict, name: string | null, size_mib: number | null): ReturnType<Driver['snapshot']> {
    const [data] = childrenOf(disk)
    return data === undefined ? this.driver(disk).snapshot(disk, name, size_mib) : this.snapshot(data, name, size_mib)
  }

  /** Undefined when it is missing. */
  async dimensions(disk: DiskDict): Promise<Dimensions | undefined> {
    const device = await this.find(disk)
    return device && this.driver(disk).dimensions(device)
  }

  private async assembleChildren(disk: DiskDict): Promise<Children> {
    const devices: Device[] = []
    for (const child of childrenOf(disk)) {
      devices.push(await this.assemble(child))
      await this.open(child, true)
    }
    return devices
  }

  private driver({ dev_type }: DiskDict): Driver {
    const factory = Object.hasOwn(this.drivers, dev_type) ? this.drivers[dev_type] : undefined
    return factory?.(this.context) ?? fail(`This node has no support for disks of template '${dev_type}'`)
  }
}

const childrenOf = ({ children }: DiskDict): readonly DiskDict[] => children ?? []
