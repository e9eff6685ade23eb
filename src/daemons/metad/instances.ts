// This node's instances that may ask, by the addresses of their communication NICs. Public data is in a file for each,
// so that a restart loses nothing important. Private and secret OS parameters are only in memory, and only during the
// installation: until its machine ends, an hour has passed, or this daemon ends.
import { isIPv4 } from 'node:net'
import type { Clock, Timer } from '../../lib/clock'
import type { Disk } from '../../lib/disk'
import type { Log } from '../../lib/log'
import { Mutex } from '../../lib/work/mutex'
import { errorText } from '../../lib/system-failure'
import { isCommunicationNic } from '../../model/constants/communication'
import { GenericError } from '../../model/errors'
import { INSTALLATION_S, METAD_FRAME_BYTES_MAX, METAD_INSTANCES_MAX } from '../../model/limits/metad'
import type { MetadataDict } from '../../rpc/node/dicts'
import { metadata } from '../../rpc/node/shapes'

type OsParams = Readonly<Record<string, string>>

/** The public data of an instance. */
type Shown = Omit<MetadataDict, 'osparams_private' | 'osparams_secret'>

export interface Guest extends Shown {
  /** Empty except during its installation. */
  readonly osparams_private: OsParams
  readonly osparams_secret: OsParams
}

export interface InstancesOptions {
  readonly disk: Disk
  readonly clock: Clock
  readonly log: Log
  /** The folder of the files. */
  readonly folder: string
  /** The largest number of known instances. */
  readonly most?: number
  /** Called when the known addresses have changed. */
  readonly onAddresses: (addresses: readonly string[]) => Promise<void>
}

interface Known {
  readonly guest: Guest
  /** Ends the installation. */
  readonly timer?: Timer
}

const NONE: OsParams = {}

export class Instances {
  private readonly byAddress = new Map<string, Known>()
  private readonly turns = new Mutex()

  constructor(private readonly options: InstancesOptions) {}

  at(address: string): Guest | undefined {
    return this.byAddress.get(address)?.guest
  }

  /** Loads the data of before a restart. */
  load(): Promise<void> {
    const { disk, folder, log } = this.options
    return this.turns.runExclusive(async () => {
      for (const name of await disk.list(folder)) {
        try {
          const text = (await disk.read(`${folder}/${name}`, METAD_FRAME_BYTES_MAX))?.toString('utf8') ?? ''
          const guest = asGuest(metadata.parse(JSON.parse(text)), NONE, NONE)
          const address = addressOf(guest)
          if (address !== undefined) this.byAddress.set(address, { guest })
        } catch (error) {
          log.error({ file: name, failure: errorText(error) }, 'a note about an instance cannot be read')
        }
      }
      await this.tell()
    })
  }

  /** Begins an installation if there are private or secret parameters, and ends it otherwise. */
  update(instance: MetadataDict): Promise<void> {
    return this.turns.runExclusive(() => {
      const { osparams_private: hidden = NONE, osparams_secret: secret = NONE } = instance
      return this.keep(asGuest(instance, hidden, secret))
    })
  }

  show(instance: MetadataDict): Promise<void> {
    return this.turns.runExclusive(() => {
      const before = this.named(instance.name)
      const known = before?.guest.uuid === instance.uuid ? before.guest : undefined
      return this.keep(
        asGuest(instance, known?.osparams_private ?? NONE, known?.osparams_secret ?? NONE),
        before?.timer,
      )
    })
  }

  forget(name: string): Promise<void> {
    return this.turns.runExclusive(() => this.drop(name))
  }

  close(): void {
    for (const { timer } of this.byAddress.values()) timer?.cancel()
    this.byAddress.clear()
  }

  /** `timer` belongs to an installation that continues. */
  private async keep(guest: Guest, timer?: Timer): Promise<void> {
    const { disk, folder, log } = this.options
    const { name } = guest
    const address = addressOf(guest)
    if (address === undefined) {
      log.info({ instance: name }, 'it has no communication NIC')
      return this.drop(name)
    }
    const before = this.named(name)
    if (before === undefined) await this.makeRoom()
    const other = this.byAddress.get(address)?.guest.name
    if (other !== undefined && other !== name) await this.drop(other)
    if (before !== undefined) {
      if (before.timer !== timer) before.timer?.cancel()
      this.byAddress.delete(addressOf(before.guest) ?? '')
    }
    const { osparams_private: hidden, osparams_secret: secret, ...displayed } = guest
    const isInstalled = Object.keys({ ...hidden, ...secret }).length > 0
    this.byAddress.set(address, { guest, ...(isInstalled && { timer: timer ?? this.endLater(name) }) })
    try {
      await disk.makeDirectory(folder, 0o700)
      await disk.write(`${folder}/${name}`, JSON.stringify(displayed), { mode: 0o600, durable: false })
    } catch (error) {
      log.error({ instance: name, failure: errorText(error) }, 'it may ask only until this daemon is started anew')
    }
    await this.tell()
    log.info({ instance: name, address, isInstalled }, 'it may ask')
  }

  /** noded removes the notes of instances whose removal this daemon has missed. */
  private async makeRoom(): Promise<void> {
    const { disk, folder, most = METAD_INSTANCES_MAX } = this.options
    if (this.byAddress.size < most) return
    const noted = new Set(await disk.list(folder))
    for (const { guest } of [...this.byAddress.values()]) if (!noted.has(guest.name)) await this.drop(guest.name)
    if (this.byAddress.size < most) return
    throw new GenericError(`metad knows ${most} instances already, so it takes no other one`)
  }

  private async drop(name: string): Promise<void> {
    const { disk, folder, log } = this.options
    const known = this.named(name)
    if (known !== undefined) {
      known.timer?.cancel()
      this.byAddress.delete(addressOf(known.guest) ?? '')
      log.info({ instance: name }, 'forgotten')
    }
    await disk.remove(`${folder}/${name}`)
    await this.tell()
  }

  private endLater(name: string): Timer {
    return this.options.clock.after(INSTALLATION_S * 1000, () => this.endInstallation(name), { background: true })
  }

  private endInstallation(name: string): void {
    const known = this.named(name)
    if (known === undefined) return
    this.options.log.info({ instance: name }, 'its installation took too long: its secrets are forgotten')
    this.byAddress.set(addressOf(known.guest) ?? '', { guest: asGuest(known.guest, NONE, NONE) })
  }

  private named(name: string): Known | undefined {
    return [...this.byAddress.values()].find(({ guest }) => guest.name === name)
  }

  private tell(): Promise<void> {
    return this.options.onAddresses([...this.byAddress.keys()])
  }
}

/** Only the data for guests is kept. */
const asGuest = (instance: MetadataDict, hidden: OsParams, secret: OsParams): Guest => ({
  ...{ name: instance.name, uuid: instance.uuid, os: instance.os, osparams: instance.osparams },
  ...{ nics: instance.nics, disks_info: instance.disks_info, tags: instance.tags ?? [] },
  ...{ osparams_private: hidden, osparams_secret: secret },
})

/** The address of its communication NIC. */
function addressOf({ nics, name }: Pick<MetadataDict, 'nics' | 'name'>): string | undefined {
  const nic = nics.find(isCommunicationNic)
  if (nic === undefined) return undefined
  if (nic.ip !== undefined && isIPv4(nic.ip)) return nic.ip
  throw new GenericError(
    `The communication NIC of instance ${name} has no IPv4 address, so metad cannot tell it from others`,
  )
}
