// Disks of external storage. A provider's scripts create them, attach them to this node, and delete them. The only way to learn whether a
// volume exists is to attach it. `find` leaves it attached, because no script says whether it was attached before: a guest on this node may
// be using it.
import { pythonText } from '../../../lib/text/python-text'
import { EXT_SCRIPT_S } from '../../../model/limits/storage'
import type { DiskDict } from '../../../rpc/node/dicts'
import { NodeFailure, fail } from '../../failure'
import { blockDevice, blockDeviceSize } from '../block-device'
import type { Device, Dimensions, DiskId, Driver, DriverFactory, NewId, StorageContext } from '../storage'
import { findProvider, type ProviderScript } from './providers'
import { CORRECT, runScript, SCRIPT_BOUNDS, ScriptRefused, title, type Volume } from './scripts'

const MIB = 1 << 20
const METADATA_LENGTH_MAX = 128
/** A disk without a device is reachable only for QEMU, by its URI. */
const URI_PREFIX = 'kvm:'

type Variables = Readonly<Record<string, string>>

class ExtDriver implements Driver {
  readonly hasDisks = true
  /** Why volumes could not be attached in this call, by the name of the volume. */
  private readonly refusals = new Map<string, string>()
  /** All scripts of a call share the time that its caller waits for. */
  private deadline_ms: number | undefined

  constructor(private readonly context: StorageContext) {}

  async create(disk: DiskDict, size_mib: number): Promise<DiskId> {
    await this.run(disk, 'create', { VOL_SIZE: String(size_mib) })
    const { provider, name } = volumeOf(disk.logical_id)
    return [provider, name]
  }

  /**
   * If the provider refuses to attach a volume, the volume is missing. If the script hangs or names a wrong device, the provider is broken.
   */
  async find(disk: DiskDict): Promise<Device | undefined> {
    try {
      return await this.assemble(disk)
    } catch (error) {
      if (!(error instanceof ScriptRefused)) throw error
      this.context.log.warn({ error: error.message }, 'a volume of external storage cannot be attached')
      this.refusals.set(volumeOf(disk.logical_id).name, error.message)
      return undefined
    }
  }

  async assemble(disk: DiskDict): Promise<Device> {
    const answer = (await this.run(disk, 'attach')) ?? ''
    const [path = '', ...uris] = answer.split('\n').map((line) => line.trim())
    const uri = uris.find((one) => one.toLowerCase().startsWith(URI_PREFIX))?.slice(URI_PREFIX.length)
    const reached = { ...(uri !== undefined && { uri }) }
    const userspace = disk.params?.['access'] === 'userspace'
    if (userspace && uri === undefined)
      this.lied(disk, `names no ${URI_PREFIX}URI after its device, which the disk parameter access=userspace needs`)
    if (path !== '') return { ...(await this.device(disk, path)), ...reached }
    if (userspace) return { path: '', block: true, ...reached }
    const way = uri === undefined ? '' : '; it has a URI, so the disk parameter access=userspace may do'
    return this.lied(disk, `names no block device${way}`)
  }

  async shutdown(disk: DiskDict): Promise<void> {
    await this.run(disk, 'detach')
  }

  /** Checks the device that the provider says it has made, before anything relies on it. */
  async open(
    disk: DiskDict,
    device: Device,
    { exclusive, fresh = false }: { readonly exclusive: boolean; readonly fresh?: boolean },
  ): Promise<void> {
    await this.run(disk, 'open', { VOL_OPEN_EXCLUSIVE: pythonText(exclusive) })
    if (!fresh || device.path === '') return
    const size_mib = (await blockDeviceSize(this.context, device.path)) / MIB
    if (size_mib < disk.size)
      this.lied(disk, `names ${device.path}, which has ${Math.floor(size_mib)} MiB of the ${disk.size} that were made`)
  }

  async close(disk: DiskDict): Promise<void> {
    await this.run(disk, 'close')
  }

  async grow(disk: DiskDict, _device: Device, amount_mib: number, { dryRun }: { dryRun: boolean }): Promise<void> {
    const { name } = volumeOf(disk.logical_id)
    if (amount_mib < 0) fail(`Cannot shrink the external volume '${name}' (by ${-amount_mib} MiB)`)
    if (dryRun || amount_mib === 0) return
    await this.run(disk, 'grow', { VOL_SIZE: String(disk.size), VOL_NEW_SIZE: String(disk.size + amount_mib) })
  }

  async remove(disk: DiskDict): Promise<void> {
    await this.run(disk, 'detach')
    await this.run(disk, 'remove')
  }

  /** The volume may exist although it cannot be attached. If it cannot be removed either, only its provider knows whether it is gone. */
  async removeUnseen(disk: DiskDict, broken?: NodeFailure): Promise<void> {
    try {
      if (broken !== undefined) await this.run(disk, 'detach')
      await this.run(disk, 'remove')
    } catch (error) {
      if (!(error instanceof NodeFailure) || (broken === undefined && !(error instanceof ScriptRefused))) throw error
      const { provider, name } = volumeOf(disk.logical_id)
      const refusal = broken?.message ?? this.refusals.get(name) ?? 'it cannot be attached'
      fail(
        `${refusal}; and it cannot be removed: ${error.message}; see whether provider '${provider}' still has volume '${name}', and ` +
          'remove it there: gnt-instance remove --ignore-failures does without it',
      )
    }
  }

  rename = async (disk: DiskDict): Promise<void> =>
    fail(`The external volume '${volumeOf(disk.logical_id).name}' keeps its name: its provider cannot rename it`)

  async setInfo(disk: DiskDict, _device: Device, info: string): Promise<void> {
    await this.run(disk, 'setinfo', { VOL_METADATA: asMetadata(info) })
  }

  async snapshot(disk: DiskDict, _device: Device, wished: string | null, size: number | null): Promise<NewId> {
    const { provider, name: volume } = volumeOf(disk.logical_id)
    const name = wished ?? `${volume}.snap`
    const variables = { VOL_SNAPSHOT_NAME: name, VOL_SNAPSHOT_SIZE: String(size ?? disk.size) }
    if ((await this.run(disk, 'snapshot', variables)) === undefined)
      fail(`External storage provider '${provider}' on node ${this.context.hostname} has no script snapshot`)
    return [provider, name]
  }

  async dimensions({ logical_id }: DiskDict, { path }: Device): Promise<Dimensions> {
    const { provider, name } = volumeOf(logical_id)
    if (path === '')
      return fail(
        `Volume '${name}' of provider '${provider}' has no device on node ${this.context.hostname}: only QEMU reaches it (access=userspace), so its size is not known`,
      )
    return { size_bytes: await blockDeviceSize(this.context, path), spindles: null }
  }

  private async device(disk: DiskDict, path: string): Promise<Device> {
    if (!path.startsWith('/') || path.split('/').includes('..'))
      return this.lied(disk, `names '${path.slice(0, 200)}' as the block device, which is no absolute path`)
    const found = await blockDevice(this.context, path)
    if (found === 'missing') return this.lied(disk, `names the block device ${path}, which does not exist`)
    return found === 'no block device' ? this.lied(disk, `names ${path}, which is not a block device`) : found
  }

  private lied(disk: DiskDict, what: string): never {
    return fail(`${title('attach', volumeOf(disk.logical_id))} on node ${this.context.hostname} ${what}; ${CORRECT}`)
  }

  private async run(disk: DiskDict, script: ProviderScript, own: Variables = {}): Promise<string | undefined> {
    const volume = volumeOf(disk.logical_id)
    const provider = await findProvider(this.context, volume.provider)
    const bounds = { ...SCRIPT_BOUNDS, seconds: this.secondsLeft(script, volume) }
    return runScript(this.context, provider, script, volume, { ...variablesOf(disk, volume), ...own }, bounds)
  }

  private secondsLeft(script: ProviderScript, volume: Volume): number {
    const now_ms = this.context.clock.monotonic_ms()
    this.deadline_ms ??= now_ms + EXT_SCRIPT_S * 1000
    const left_s = Math.ceil((this.deadline_ms - now_ms) / 1000)
    return left_s > 0
      ? left_s
      : fail(
          `${title(script, volume)} was not started on node ${this.context.hostname}: the scripts before it took ${EXT_SCRIPT_S} seconds, ` +
            'after which nobody waits any more',
        )
  }
}

export const extDriver: DriverFactory = (context) => new ExtDriver(context)

function variablesOf({ params = {}, name, uuid }: DiskDict, volume: Volume): Variables {
  const own = Object.entries(params).map(([key, value]) => [variableOf(key), pythonText(value)] as const)
  return {
    ...Object.fromEntries(own),
    VOL_NAME: volume.name,
    VOL_UUID: uuid,
    ...(name !== undefined && { VOL_CNAME: name }),
  }
}

const variableOf = (parameter: string): string =>
  /^[A-Za-z0-9_.-]+$/.test(parameter)
    ? `EXTP_${parameter.toUpperCase()}`
    : fail(`A parameter of external storage cannot have the name '${parameter}'`)

function volumeOf(id: DiskDict['logical_id']): Volume {
  const [provider, name] = id ?? []
  return typeof provider === 'string' && typeof name === 'string' && name !== '' && id?.length === 2
    ? { provider, name }
    : fail(`An external disk's id is [provider, volume], not ${JSON.stringify(id ?? null)}`)
}

const asMetadata = (text: string): string =>
  text
    .replaceAll(/[^-A-Za-z0-9_+.]/g, '_')
    .replace(/^-/, '_')
    .slice(0, METADATA_LENGTH_MAX)
