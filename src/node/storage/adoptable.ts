// Looks at block devices that are to become disks as they are. A device has many names below /dev, so devices are compared by their numbers.
// A device that the machine itself uses would be written by two, and its data lost.
import { errorCode, isMissing } from '../../lib/disk'
import { constants } from '../../lib/files'
import type { NodeContext } from '../context'
import { blockDevice } from './block-device'
import { reportsOf } from './volume-reports'

export interface SeenDevice {
  /** The numbers of the device, as `major:minor`. */
  readonly numbers: string
  /** What the machine does with it, or null. */
  readonly held: string | null
}

/** Leaves out devices that are missing, and files that are not devices. Only those that are `wanted` are looked at closely. */
export async function seenDevices(
  context: NodeContext,
  desired: readonly string[],
  others: readonly string[],
): Promise<Record<string, SeenDevice>> {
  const observed: Record<string, SeenDevice> = {}
  for (const device of others) {
    const numbers = await numbersOf(context, device)
    if (numbers !== undefined) observed[device] = { numbers, held: null }
  }
  for (const device of desired) {
    const numbers = await numbersOf(context, device)
    if (numbers !== undefined) observed[device] = { numbers, held: (await holderOf(context, device, numbers)) ?? null }
  }
  return observed
}

async function numbersOf({ files }: NodeContext, device: string): Promise<string | undefined> {
  if (!device.startsWith('/dev/') || device.split('/').includes('..')) return undefined
  const found = await blockDevice({ files }, device)
  return typeof found === 'string' ? undefined : `${found.major ?? 0}:${found.minor ?? 0}`
}

async function holderOf(context: NodeContext, device: string, numbers: string): Promise<string | undefined> {
  return (
    (await mountOf(context, numbers)) ??
    (await layerOn(context, numbers)) ??
    (await groupOf(context, numbers)) ??
    (await exclusiveUser(context, device))
  )
}

async function mountOf({ files }: NodeContext, numbers: string): Promise<string | undefined> {
  const mounts = await files.readFile('/proc/self/mountinfo', 'utf8')
  const rows = mounts.split('\n').map((line) => line.split(' '))
  const place = rows.find(([, , device]) => device === numbers)?.[4]
  return place && `it is mounted at ${place}`
}

/** Volumes, arrays and encrypted devices that are made of it. */
async function layerOn({ files }: NodeContext, numbers: string): Promise<string | undefined> {
  try {
    const layers = await files.readdir(`/sys/dev/block/${numbers}/holders`)
    return layers.length === 0 ? undefined : `it is below ${layers.join(', ')}`
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** The kernel does not know of a volume group whose volumes are not active. */
async function groupOf(context: NodeContext, numbers: string): Promise<string | undefined> {
  for (const { name, vg } of await reportsOf(context).physical())
    if ((await numbersOf(context, name)) === numbers)
      return vg === '' ? 'it is a physical volume of LVM' : `it is a physical volume of the volume group ${vg}`
  return undefined
}

/** The kernel lets only one open a device exclusively: a file system, swap space, an array, or a program. */
async function exclusiveUser({ files }: NodeContext, device: string): Promise<string | undefined> {
  try {
    await (await files.open(device, constants.O_RDONLY | constants.O_EXCL)).close()
    return undefined
  } catch (error) {
    if (errorCode(error) === 'EBUSY') return 'the kernel or a program has it, or a part of it, for itself'
    throw error
  }
}
