// Disks as logical volumes: those of template plain, and the children of DRBD disks.
import { KEEP_UNTIL_UNKNOWN } from '../../../model/leftovers'
import { LOCAL_DISK_STATUS } from '../../../model/constants/disks'
import { HELD_DEVICE_S } from '../../../model/limits/storage'
import type { DiskDict } from '../../../rpc/node/dicts'
import { fail } from '../../failure'
import { blockDevice } from '../block-device'
import type {
  Children,
  Device,
  Dimensions,
  DiskId,
  Driver,
  DriverFactory,
  Health,
  Making,
  NewId,
  Sharing,
  StorageContext,
} from '../storage'
import { attempt, order, orderHeld } from '../tools'
import { OWNER, asTag, checkName, volumeOf } from './names'
import { placing, standardSize_mib, type Wish } from './placing'
import { lvmProblem, MORE_ROOM } from './problem'
import { physicalVolumes, volumeGroups } from './units'
import { type Volume, Volumes } from './volumes'

const EXISTS = /already exists/
/** Also one that is suspended. */
const INVALID_SNAPSHOT = /^[sS]...[IS]/
const [KIB, MIB] = [1 << 10, 1 << 20]
/** Tried in this order. Each policy finds space where the one before it does not. */
const POLICIES = ['contiguous', 'cling', 'normal']

class LvmDriver implements Driver {
  readonly hasDisks = true
  readonly onSecondary = 'opened'
  readonly place = pathOf
  readonly isMadeWithInfo = true
  private readonly volumes: Volumes
  /** The volumes that this call has made or activated. Asking LVM to activate them again would take long. */
  private readonly active = new Set<string>()

  constructor(private readonly context: StorageContext) {
    this.volumes = new Volumes(context)
  }

  async find(disk: DiskDict): Promise<Device | undefined> {
    const { vg, name } = volumeOf(disk.logical_id)
    const found = await this.volumes.get(vg, name)
    return found && { path: pathOf(disk), block: true, ...found.numbers }
  }

  async create(
    disk: DiskDict,
    size_mib: number,
    _children: Children,
    { exclusive = false, info = '' }: Making,
  ): Promise<DiskId> {
    const { vg, name } = volumeOf(disk.logical_id)
    const wish = { vg, size_mib, stripes: stripesOf(disk), exclusive, spindles: disk.spindles }
    const volume = { vg, name, size_mib, info, stripe_kib: stripeSizeOf(disk) }
    await this.changing(this.createVolume(volume, wish))
    this.active.add(pathOf(disk))
    return [vg, name]
  }

  async assemble(disk: DiskDict): Promise<Device> {
    const path = pathOf(disk)
    if (!(this.active.has(path) || (await isActive(this.context, disk))))
      await this.order(disk, ['lvchange', '-ay', path], `Cannot activate ${title(disk)}`)
    this.active.add(path)
    return { path, block: true }
  }

  async health(disk: DiskDict): Promise<Health> {
    // A virtual or partial volume has lost physical volumes, and an invalid snapshot its data: it has run full.
    const { attributes } = await this.existing(disk)
    const is_degraded = attributes.startsWith('v') || attributes[8] === 'p' || INVALID_SNAPSHOT.test(attributes)
    return { is_degraded, ldisk_status: is_degraded ? LOCAL_DISK_STATUS.faulty : LOCAL_DISK_STATUS.ok }
  }

  /** Volumes stay active, so there is no shutdown. */
  open = (): Promise<void> => Promise.resolve()
  close = (): Promise<void> => Promise.resolve()

  async grow(
    disk: DiskDict,
    device: Device,
    amount_mib: number,
    { dryRun, exclusive = false }: Sharing & { readonly dryRun: boolean },
  ): Promise<void> {
    if (amount_mib < 0) fail(`Cannot shrink ${title(disk)} (by ${-amount_mib} MiB)`)
    const { vg } = volumeOf(disk.logical_id)
    const growth = { vg, amount_mib, dryRun, exclusive }
    await this.changing(growVolume(this.context, device.path, await this.existing(disk), growth))
  }

  async remove(disk: DiskDict): Promise<void> {
    const { vg, name } = volumeOf(disk.logical_id)
    const command = ['lvremove', '-f', `${vg}/${name}`]
    this.active.delete(pathOf(disk))
    const what = `Cannot remove ${title(disk)}`
    await this.changing(orderHeld(this.context, command, what, HELD_DEVICE_S, this.problem(disk)))
  }

  async rename(disk: DiskDict, _device: Device, newId: NewId): Promise<void> {
    const [from, to] = [volumeOf(disk.logical_id), volumeOf(newId)]
    if (from.vg !== to.vg) fail(`The ${title(disk)} cannot move to another group, '${to.vg}'`)
    await this.refuseExisting(to.vg, to.name, `${title(disk)} cannot get this name`)
    this.active.delete(pathOf(disk))
    await this.order(disk, ['lvrename', from.vg, from.name, to.name], `Cannot rename ${title(disk)} to '${to.name}'`)
  }

  async setInfo(disk: DiskDict, device: Device, info: string): Promise<void> {
    const tag = asTag(info)
    const { tags } = await this.existing(disk)
    const old = tags.filter((one) => one.startsWith(OWNER) && one !== tag)
    if (old.length === 0 && tags.includes(tag)) return
    const changes = [...old.flatMap((one) => ['--deltag', one]), '--addtag', tag]
    const what = `Cannot write the owner of ${title(disk)} into its tags`
    await this.order(disk, ['lvchange', ...changes, device.path], what)
  }

  async snapshot(disk: DiskDict, device: Device, wished: string | null, size: number | null): Promise<NewId> {
    const { vg, name: origin } = volumeOf(disk.logical_id)
    const whole = wished === null ? disk.size : disk.size + tables_mib(disk.size)
    const [name, size_mib] = [checkName(wished ?? `${origin}.snap`), size ?? whole]
    // A snapshot left by an interrupted export is replaced. A snapshot that a user named is kept.
    if (wished === null && (await this.volumes.get(vg, name)))
      await this.order(disk, ['lvremove', '-f', `${vg}/${name}`], `Cannot remove the old snapshot '${vg}/${name}'`)
    await this.refuseExisting(vg, name, 'give the snapshot another name')
    const free_mib = (await volumeGroups(this.context.run)).find((one) => one.name === vg)?.free_mib ?? 0
    if (free_mib < size_mib)
      fail(
        `No room for a snapshot of ${size_mib} MiB: volume group '${vg}' on node ${this.context.hostname} has ` +
          `${Math.floor(free_mib)} MiB left; ${MORE_ROOM}`,
      )
    const command = ['lvcreate', `-L${size_mib}m`, '-s', `-n${name}`, device.path]
    await this.order(disk, command, `Cannot make a snapshot of ${title(disk)}`)
    return [vg, name]
  }

  async dimensions(disk: DiskDict): Promise<Dimensions> {
    const { size_bytes, devices } = await this.existing(disk)
    return { size_bytes, spindles: devices.length }
  }

  private async createVolume(volume: NewVolume, wish: Wish): Promise<void> {
    const { context } = this
    const { vg, name } = volume
    let refused: string | undefined
    const isPlacedByLvm = !wish.exclusive && wish.stripes === 1
    if (isPlacedByLvm) {
      // Reports take as long as making the volume does. They are made only to say why LVM has refused it.
      refused = await refusal(context, volume, 1, [])
      if (refused === undefined) return
    }
    if (refused === undefined || EXISTS.test(refused)) await this.refuseExisting(vg, name, KEEP_UNTIL_UNKNOWN)
    const { devices, stripes } = placing(await physicalVolumes(context.run), wish, context.hostname)
    // If the free space is spread unevenly, it may suffice only for fewer stripes.
    for (let count = isPlacedByLvm ? 0 : stripes; count > 0; count--) {
      refused = await refusal(context, volume, count, devices)
      if (refused === undefined) return
      if (EXISTS.test(refused)) break
    }
    const { hostname } = context
    const why = lvmProblem(refused ?? '', vg, hostname)
    fail(`Cannot create logical volume '${vg}/${name}' on node ${hostname}: ${why}`)
  }

  private async existing(disk: DiskDict): Promise<Volume> {
    const { vg, name } = volumeOf(disk.logical_id)
    return (
      (await this.volumes.get(vg, name)) ?? fail(`The ${title(disk)} does not exist on node ${this.context.hostname}`)
    )
  }

  private async refuseExisting(vg: string, name: string, way: string): Promise<void> {
    if ((await this.volumes.get(vg, name)) === undefined) return
    fail(`Logical volume '${vg}/${name}' exists already on node ${this.context.hostname}: ${way}`)
  }

  private order = (disk: DiskDict, argv: readonly string[], what: string): Promise<string> =>
    this.changing(order(this.context, argv, what, this.problem(disk)))

  private problem = (disk: DiskDict) => (output: string) =>
    lvmProblem(output, volumeOf(disk.logical_id).vg, this.context.hostname)

  /** Success or failure, the lists are outdated afterwards. */
  private changing = <T>(work: Promise<T>): Promise<T> => work.finally(() => this.volumes.forget())
}

export const lvmDriver: DriverFactory = (context) => new LvmDriver(context)

interface NewVolume {
  readonly vg: string
  readonly name: string
  readonly size_mib: number
  readonly info: string
  /** 0 is LVM's own size. */
  readonly stripe_kib: number
}

/** What a snapshot needs for its own tables if all of the disk changes: 16 bytes for each 4 KiB, and a beginning. */
const tables_mib = (size_mib: number): number => Math.ceil(size_mib / 256) + 1

/** Returns what LVM says if it refuses the volume. */
async function refusal(
  context: StorageContext,
  { vg, name, size_mib, info, stripe_kib }: NewVolume,
  stripes: number,
  devices: readonly string[],
): Promise<string | undefined> {
  const tag = info === '' ? [] : ['--addtag', asTag(info)]
  // Old signatures are not wiped: LVM would want to ask about them, and refuses the volume if it has no terminal.
  const striping = [`-i${stripes}`, ...(stripes > 1 && stripe_kib > 0 ? [`-I${stripe_kib}k`] : [])]
  const command = ['lvcreate', '-Wn', `-L${size_mib}m`, `-n${name}`, ...striping, ...tag, vg, ...devices]
  const { code, output } = await attempt(context, command)
  return code === 0 ? undefined : output
}

/** Whether the kernel shows this volume where its path leads. A path that was left behind may lead to another volume. */
async function isActive(context: StorageContext, disk: DiskDict): Promise<boolean> {
  const device = await blockDevice(context, pathOf(disk))
  if (typeof device === 'string') return false
  const { vg, name } = volumeOf(disk.logical_id)
  try {
    const mapped = await context.files.readFile(`/sys/dev/block/${device.major}:${device.minor}/dm/name`, 'utf8')
    return mapped.trim() === `${doubled(vg)}-${doubled(name)}`
  } catch {
    return false
  }
}

/** The kernel's name of a volume joins that of its group and its own with one hyphen. */
const doubled = (name: string): string => name.replaceAll('-', '--')

interface Growth {
  readonly vg: string
  readonly amount_mib: number
  readonly dryRun: boolean
  readonly exclusive: boolean
}

async function growVolume(
  context: StorageContext,
  path: string,
  { extent_bytes, stripes, devices }: Volume,
  { vg, amount_mib, dryRun, exclusive }: Growth,
): Promise<void> {
  const step = (extent_bytes / KIB) * stripes
  const amount_kib = Math.ceil((amount_mib * KIB) / step) * step
  if (exclusive) await checkOwnRoom(context, path, devices, (amount_kib * KIB) / MIB, vg)
  // Under exclusive storage, a volume must not grow onto physical volumes of other instances.
  const places = exclusive ? devices : []
  let output = ''
  for (const policy of POLICIES) {
    const command = [
      'lvextend',
      '-L',
      `+${amount_kib}k`,
      ...(dryRun ? ['--test'] : []),
      '--alloc',
      policy,
      path,
      ...places,
    ]
    const result = await attempt(context, command)
    if (result.code === 0) return
    output = result.output
  }
  const { hostname } = context
  fail(`Cannot grow ${path} on node ${hostname} by ${amount_mib} MiB: ${lvmProblem(output, vg, hostname)}`)
}

async function checkOwnRoom(
  { run, hostname }: StorageContext,
  path: string,
  devices: readonly string[],
  amount_mib: number,
  vg: string,
): Promise<void> {
  const group = (await physicalVolumes(run)).filter((one) => one.vg === vg && one.allocatable)
  if (group.length === 0) fail(`No physical volume of group '${vg}' on node ${hostname} may be used`)
  const standard = standardSize_mib(group)
  const own = group.filter(({ name }) => devices.includes(name))
  const free_mib = own.reduce((sum, { free_mib: free, size_mib }) => sum + free - (size_mib - standard), 0)
  if (amount_mib > free_mib)
    fail(
      `The physical volumes of ${path} on node ${hostname} have ${Math.floor(free_mib)} MiB left, and ${amount_mib} are needed`,
    )
}

const title = (disk: DiskDict): string => {
  const { vg, name } = volumeOf(disk.logical_id)
  return `logical volume '${vg}/${name}'`
}

function pathOf(disk: DiskDict): string {
  const { vg, name } = volumeOf(disk.logical_id)
  return `/dev/${vg}/${name}`
}

function stripesOf({ params }: DiskDict): number {
  const stripes = params?.['stripes'] ?? 1
  return typeof stripes === 'number' && Number.isInteger(stripes) && stripes > 0
    ? stripes
    : fail(`The disk parameter stripes is a number from 1 on, not ${JSON.stringify(stripes)}`)
}

function stripeSizeOf({ params }: DiskDict): number {
  const size_kib = params?.['stripe-size'] ?? 0
  return typeof size_kib === 'number' && Number.isInteger(size_kib) && size_kib >= 0
    ? size_kib
    : fail(`The disk parameter stripe-size is in KiB, not ${JSON.stringify(size_kib)}`)
}
