// Disks as images in a Ceph pool. If the kernel is to reach an image, assembling maps it, and only then it has a device on this node.
// Looking for an image does not map it. If QEMU reaches the image by itself, nothing is mapped, and the node does not need the kernel
// module. A name with `@` is a snapshot.
import { IMAGES_ASKED_SINGLY_MAX, RBD_ANSWER_S, RBD_REMOVE_S, RBD_WATCH_S } from '../../../model/limits/storage'
import type { CommandResult } from '../../../lib/programs/run-command'
import type { DiskDict } from '../../../rpc/node/dicts'
import { fail } from '../../failure'
import { blockDevice, blockDeviceSize } from '../block-device'
import type { Children, Device, Dimensions, DiskId, Driver, DriverFactory, NewId, StorageContext } from '../storage'
import { attempt, untilFree } from '../tools'
import { retryUntil } from '../retry-until'
import { type Mapped, readImageSize, readNames, readMappedJson, readMappedTable, readWatchers } from './mapped'
import { isMissingImage, rbdProblem } from './problem'

interface Image {
  readonly pool: string
  readonly name: string
  readonly snapshot?: string
  /** The user of Ceph. Empty for Ceph's default. */
  readonly user: string
  /** QEMU reaches the image without the kernel. */
  readonly userspace: boolean
}

class RbdDriver implements Driver {
  readonly hasDisks = true
  /** The images that this node has mapped. Read again after a change. */
  private listed: Promise<readonly Mapped[]> | undefined
  /** The number of images of each pool that this call uses. */
  private readonly expected = new Map<string, number>()
  /** The names of all images, by pool. */
  private readonly names = new Map<string, Promise<ReadonlySet<string>>>()

  constructor(private readonly context: StorageContext) {}

  expect({ params = {} }: DiskDict): void {
    const pool = poolKey(params['pool'], params['user-id'])
    this.expected.set(pool, (this.expected.get(pool) ?? 0) + 1)
  }

  async create(disk: DiskDict, size_mib: number): Promise<DiskId> {
    const image = imageOf(disk)
    await this.order(image, ['create', ...specOf(image), '--size', String(size_mib)], 'create')
    return ['rbd', image.name]
  }

  async find(disk: DiskDict): Promise<Device | undefined> {
    const image = imageOf(disk)
    const mapped = image.userspace ? undefined : await this.mapped(image)
    if (mapped !== undefined) return mapped
    if (!(await this.exists(image))) return undefined
    return image.userspace ? unmapped(image) : { ...unmapped(image), idle: true }
  }

  /**
   * Refuses an image that is in use elsewhere, because two machines that write to it would destroy it. Ceph forgets a dead client after a
   * while. If nothing is mapped, the client may be this node's own guest, so only a guest that begins looks for other clients. During a live
   * migration one other machine has the image, too.
   */
  async assemble(disk: DiskDict, _children: Children, { shared = false } = {}): Promise<Device> {
    const image = imageOf(disk)
    const found = image.userspace ? undefined : await this.mapped(image)
    if (found === undefined) await this.require(image)
    if (image.userspace) return unmapped(image)
    const others = await this.strangers(image, (found === undefined ? 0 : 1) + (shared ? 1 : 0))
    if (others.length > 0)
      fail(
        `The ${title(image)} is in use at ${others.join(', ')}, so node ${this.context.hostname} does not map it: ` +
          'stop the programs that use it there, or unmap it there with rbd unmap',
      )
    return found ?? this.map(image)
  }

  async users(disk: DiskDict): Promise<readonly string[]> {
    const image = imageOf(disk)
    return image.userspace ? this.strangers(image, 0) : []
  }

  async shutdown(disk: DiskDict, device: Device): Promise<void> {
    await this.unmap(imageOf(disk), device)
  }

  open = (): Promise<void> => Promise.resolve()
  close = (): Promise<void> => Promise.resolve()
  setInfo = (): Promise<void> => Promise.resolve()

  async grow(disk: DiskDict, _device: Device, amount_mib: number, { dryRun }: { dryRun: boolean }): Promise<void> {
    const image = imageOf(disk)
    if (amount_mib < 0) fail(`Cannot shrink the ${title(image)} (by ${-amount_mib} MiB)`)
    if (dryRun || amount_mib === 0) return
    const size_mib = disk.size + amount_mib
    await this.order(image, ['resize', ...specOf(image), '--size', String(size_mib), '--no-progress'], 'grow')
  }

  async remove(disk: DiskDict, device: Device): Promise<void> {
    const image = imageOf(disk)
    await this.unmap(image, device)
    const command = image.snapshot === undefined ? ['rm', ...specOf(image)] : ['snap', 'rm', fullName(image)]
    await this.orderHeld(image, [...command, '--no-progress'], 'remove', RBD_REMOVE_S)
  }

  async rename(disk: DiskDict, device: Device, newId: NewId): Promise<void> {
    const [image, target] = [imageOf(disk), imageOf({ ...disk, logical_id: newId })]
    if (await this.exists(target))
      fail(`The ${title(target)} exists already, so the ${title(image)} cannot get its name`)
    await this.unmap(image, device)
    await this.order(image, ['mv', fullName(image), fullName(target)], 'rename')
  }

  async snapshot(disk: DiskDict, _device: Device, wished: string | null): Promise<NewId> {
    const origin = imageOf(disk)
    const snapshot = wished ?? 'snap'
    const image = imageOf({ ...disk, logical_id: ['rbd', `${origin.name}@${snapshot}`] })
    // A snapshot left by an interrupted export is replaced. A snapshot that a user named is kept.
    if (wished === null && (await this.exists(image))) {
      const device = image.userspace ? unmapped(image) : await this.mapped(image)
      if (device !== undefined) await this.unmap(image, device)
      await this.order(image, ['snap', 'rm', fullName(image), '--no-progress'], 'remove the old')
    }
    await this.order(image, ['snap', 'create', fullName(image), '--no-progress'], 'make')
    return ['rbd', `${origin.name}@${snapshot}`]
  }

  async dimensions(disk: DiskDict, { path }: Device): Promise<Dimensions> {
    const image = imageOf(disk)
    if (path !== '') return { size_bytes: await blockDeviceSize(this.context, path), spindles: null }
    const size_bytes = readImageSize((await this.info(image)) ?? '')
    return size_bytes === undefined
      ? fail(`rbd info on node ${this.context.hostname} reports no size for the ${title(image)}`)
      : { size_bytes, spindles: null }
  }

  private async exists(image: Image): Promise<boolean> {
    const pool = poolKey(image.pool, image.user)
    // The list of a pool does not contain its snapshots. For a few images, asking for each is faster than the list.
    if (image.snapshot !== undefined || (this.expected.get(pool) ?? 0) <= IMAGES_ASKED_SINGLY_MAX)
      return (await this.info(image)) !== undefined
    const names = this.names.get(pool) ?? this.namesBeside(image)
    this.names.set(pool, names)
    return (await names).has(image.name)
  }

  private async namesBeside(image: Image): Promise<ReadonlySet<string>> {
    const ran = await this.attempt(image, ['ls', '-p', image.pool, '--format', 'json'])
    if (ran.code !== 0) return isMissingImage(ran) ? new Set() : this.failed(image, ran, 'look for')
    return (
      readNames(ran.stdout) ??
      fail(`rbd ls on node ${this.context.hostname} prints what cannot be read about the pool '${image.pool}'`)
    )
  }

  /** Returns undefined if the image does not exist. */
  private async info(image: Image): Promise<string | undefined> {
    const ran = await this.lookFor(image)
    if (ran.code === 0) return ran.stdout
    return isMissingImage(ran) ? undefined : this.failed(image, ran, 'look for')
  }

  /** Fails if the image does not exist. The error says if its pool is missing. */
  private async require(image: Image): Promise<void> {
    const ran = await this.lookFor(image)
    if (ran.code !== 0) this.failed(image, ran, 'find')
  }

  private lookFor = (image: Image): Promise<CommandResult> =>
    this.attempt(image, ['info', ...specOf(image), '--format', 'json'])

  private async map(image: Image): Promise<Device> {
    const readOnly = image.snapshot === undefined ? [] : ['--read-only']
    await this.order(image, ['map', ...specOf(image), ...readOnly], 'map').finally(() => this.forget())
    return (
      (await this.mapped(image)) ??
      fail(`The ${title(image)} was mapped on node ${this.context.hostname}, but rbd showmapped does not list it`)
    )
  }

  private async unmap(image: Image, { path }: Device): Promise<void> {
    if (image.userspace || path === '') return
    await this.orderHeld(image, ['unmap', path], 'unmap', RBD_ANSWER_S).finally(() => this.forget())
  }

  private forget(): void {
    this.listed = undefined
  }

  private async mapped(image: Image): Promise<Device | undefined> {
    this.listed ??= this.allMapped(image)
    const [own, other] = (await this.listed).filter(
      ({ pool, image: name, snapshot }) => pool === image.pool && name === image.name && snapshot === image.snapshot,
    )
    if (own === undefined) return undefined
    const { hostname } = this.context
    if (other !== undefined)
      return fail(
        `The ${title(image)} is mapped twice on node ${hostname}, to ${own.device} and ${other.device}: unmap one`,
      )
    const found = await blockDevice(this.context, own.device)
    if (typeof found === 'string')
      return fail(`The ${title(image)} is mapped to ${own.device} on node ${hostname}, but there is no block device`)
    return { ...found, uri: uriOf(image) }
  }

  private async allMapped(image: Image): Promise<Mapped[]> {
    const limit = { timeout_s: RBD_ANSWER_S }
    const { code, stdout } = await attempt(this.context, ['rbd', 'showmapped', '--format', 'json'], limit)
    const listed = code === 0 ? readMappedJson(stdout) : undefined
    if (listed !== undefined) return listed
    // Old versions of rbd cannot print JSON, and list the images of all pools.
    const ran = await attempt(this.context, ['rbd', 'showmapped'], limit)
    if (ran.code !== 0) this.failed(image, ran, 'see whether this node has mapped')
    return (
      readMappedTable(ran.stdout) ?? fail(`rbd showmapped on node ${this.context.hostname} prints what cannot be read`)
    )
  }

  /** The addresses of all clients, if they are more than those `known` in number. */
  private async strangers(image: Image, known: number): Promise<readonly string[]> {
    if (image.snapshot !== undefined) return []
    const look = async () => {
      const ran = await this.attempt(image, ['status', ...specOf(image), '--format', 'json'])
      if (ran.code !== 0) this.failed(image, ran, 'see who uses')
      const addresses =
        readWatchers(ran.stdout) ??
        fail(
          `rbd status on node ${this.context.hostname} prints what cannot be read, so nobody knows who uses the ${title(image)}: ` +
            `install the version of ceph-common that the Ceph cluster has`,
        )
      return addresses.length > known ? addresses : []
    }
    return retryUntil(this.context.clock, RBD_WATCH_S, look, (addresses) => addresses.length === 0)
  }

  private attempt = (image: Image, command: readonly string[], timeout_s = RBD_ANSWER_S): Promise<CommandResult> =>
    attempt(this.context, commandOf(image, command), { timeout_s })

  private async order(image: Image, command: readonly string[], verb: string): Promise<void> {
    const ran = await this.attempt(image, command)
    if (ran.code !== 0) this.failed(image, ran, verb)
  }

  /** Tries again while a client that has just ended still holds the image. */
  private async orderHeld(image: Image, command: readonly string[], verb: string, timeout_s: number): Promise<void> {
    const ran = await untilFree(this.context.clock, RBD_WATCH_S, () => this.attempt(image, command, timeout_s))
    if (ran.code !== 0) this.failed(image, ran, verb)
  }

  private failed(image: Image, ran: CommandResult, verb: string): never {
    const { hostname } = this.context
    return fail(`Cannot ${verb} the ${title(image)} on node ${hostname}: ${rbdProblem(ran, image)}`)
  }
}

export const rbdDriver: DriverFactory = (context) => new RbdDriver(context)

const commandOf = ({ user }: Image, words: readonly string[]): string[] => [
  'rbd',
  ...words,
  ...(user === '' ? [] : ['--id', user]),
]

const poolKey = (pool: unknown = 'rbd', user: unknown = ''): string => JSON.stringify([pool, user])

const nameOf = ({ name, snapshot }: Image) => (snapshot === undefined ? name : `${name}@${snapshot}`)
const specOf = (image: Image) => ['-p', image.pool, nameOf(image)]
const fullName = (image: Image) => `${image.pool}/${nameOf(image)}`
const title = (image: Image) => `image '${fullName(image)}'`
const unmapped = (image: Image): Device => ({ path: '', block: true, uri: uriOf(image) })
const uriOf = (image: Image) => `rbd:${fullName(image)}${image.user === '' ? '' : `:id=${image.user}`}`

function imageOf({ logical_id: id, params = {} }: DiskDict): Image {
  const [, name] = id ?? []
  if (typeof name !== 'string' || id?.length !== 2)
    return fail(`An image's id is ['rbd', name], not ${JSON.stringify(id ?? null)}`)
  const { pool = 'rbd', 'user-id': user = '', access } = params
  const [image = '', snapshot, ...more] = name.split('@')
  const names = [image, pool, ...(snapshot === undefined ? [] : [snapshot]), ...(user === '' ? [] : [user]), ...more]
  for (const one of names)
    if (typeof one !== 'string' || !/^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/.test(one))
      fail(`${JSON.stringify(one)} is not a valid name of a pool, an image, a snapshot or a user of Ceph`)
  if (more.length > 0) fail(`'${name}' is not a valid name of an image`)
  const userspace = access === 'userspace'
  return { pool: String(pool), name: image, user: String(user), userspace, ...(snapshot !== undefined && { snapshot }) }
}
