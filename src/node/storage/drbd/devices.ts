// The devices of DRBD on this node: the kernel's state of each, and its configuration. One object of this class serves one node call.
import type { DiskDict } from '../../../rpc/node/dicts'
import { fail } from '../../failure'
import { nameOf } from '../name'
import type { Children, StorageContext } from '../storage'
import { order } from '../tools'
import { type End, endOf, resourceName } from './commands'
import { type Kernel, type MinorState, readKernel, requireKernel } from './kernel'
import { type Shown, parseShown } from './shown'

/** A configured minor. */
export interface Configured {
  readonly state: MinorState
  readonly shown: Shown
}

export class Devices {
  private report: Promise<ReadonlyMap<number, Shown>> | undefined

  constructor(private readonly context: StorageContext) {}

  kernel = (): Promise<Kernel | undefined> => readKernel(this.context)
  required = (): Promise<Kernel> => requireKernel(this.context)

  /** Returns undefined if the minor is not configured. */
  async configured(minor: number, kernel: Kernel | undefined): Promise<Configured | undefined> {
    const state = kernel?.minors.get(minor)
    if (state === undefined) return undefined
    return { state, shown: (await this.all()).get(minor) ?? { resource: resourceName(minor) } }
  }

  /**
   * Returns the resource of others that has taken a minor but does not use it yet. A half-configured minor of ours is configured again
   * instead.
   */
  async holder(minor: number, { named }: Kernel): Promise<Shown | undefined> {
    if (!named.has(minor)) return undefined
    const displayed = (await this.all()).get(minor)
    return displayed?.resource === resourceName(minor) ? undefined : displayed
  }

  /** Must be called after each change, also after one that failed. */
  forget(): void {
    this.report = undefined
  }

  private all(): Promise<ReadonlyMap<number, Shown>> {
    this.report ??= order(this.context, ['drbdsetup', 'show'], 'Cannot list the devices of DRBD').then(parseShown)
    return this.report
  }
}

export const requireEnd = (disk: DiskDict, node: string): End =>
  endOf(disk) ?? fail(`Disk ${nameOf(disk)} has no minor on node ${node}, which is not one of its two nodes`)

/** Returns why a minor is not this disk's: it belongs to another disk, or to one that is gone. Undefined if it is this disk's. */
export function stranger({ shown: displayed }: Configured, end: End, [data]: Children): string | undefined {
  if (displayed.disk !== undefined) {
    const isOther = data?.place !== undefined && data.place !== displayed.disk
    return isOther ? `keeps its data on ${displayed.disk}` : undefined
  }
  const { addresses } = end
  const isOther = addresses !== undefined && displayed.local !== undefined && displayed.local !== addresses.local
  return isOther ? `is connected at ${displayed.local}` : undefined
}
