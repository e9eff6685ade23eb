// An instance's disks and NICs: their places on the guest's buses, and the QEMU options for them. Pure.
import type { DiskDict, NicDict } from '../../../rpc/node/dicts'
import type { LinkedDisk } from '../hypervisor'
import { HypervisorFailure } from '../hypervisor'
import { SERVED_EXPORT } from '../../../model/constants/disks'
import { SERVER_RETURNS_S } from '../../../model/limits/hypervisor'
import { COMMUNICATION, METADATA_ADDRESS, USER_MODE_DNS, USER_MODE_HOST } from '../../../model/constants/communication'
import { quoteForShell } from '../../../lib/ssh/ssh'
import { relayCommand } from './metadata-relay'
import { optionValue } from './layout'
import type { KvmParams } from './params'
import type { DevicePlace, PlacedDisk, PlacedNic, RuntimeDisk } from './runtime'
import { hidesWrites, isFileBased } from '../../../model/templates'
import { blockOfUri } from '../../storage/uri'

const SCSI_TYPES: readonly string[] = ['scsi', 'scsi-block', 'scsi-cd', 'scsi-generic', 'scsi-hd']

/** The guest speaks with a SCSI device of the node, and so with that one's cache. */
const PASSED_THROUGH: readonly string[] = ['scsi-block', 'scsi-generic']

export const isScsi = (type: string): boolean => SCSI_TYPES.includes(type)

/** Ganeti's device id. QEMU's ids have at most 30 characters, so the UUID lacks its last two parts. */
export const deviceId = (kind: 'disk' | 'nic', device: { readonly uuid: string }): string =>
  `${kind}-${device.uuid.split('-').slice(0, 3).join('-')}`

export function checkDiskType(type: string): void {
  if (type !== 'paravirtual' && type !== 'ide' && !isScsi(type))
    throw new HypervisorFailure(`QEMU does not support disk driver '${type}'`)
}

export class PlaceAllocator {
  private readonly scsiIds = new Set<number>()

  constructor(
    private readonly params: KvmParams,
    private readonly pci: (first: number) => DevicePlace | undefined,
    taken: readonly (DevicePlace | undefined)[] = [],
  ) {
    for (const place of taken) if (place?.['scsi-id'] !== undefined) this.scsiIds.add(Number(place['scsi-id']))
  }

  disk(disk: DiskDict): DevicePlace {
    const type = this.params.text('disk_type')
    const id = deviceId('disk', disk)
    if (type === 'paravirtual') return { driver: 'virtio-blk-pci', id, ...this.pciSlot() }
    if (type === 'ide') return { driver: 'ide-hd', id }
    checkDiskType(type)
    return {
      driver: type === 'scsi' ? 'scsi-hd' : type,
      id,
      bus: 'scsi.0',
      channel: 0,
      'scsi-id': this.scsiId(),
      lun: 0,
    }
  }

  nic(nic: NicDict): DevicePlace {
    const { driver = '', ...rom } = nicModel(this.params)
    const slot = this.params.text('nic_type') === 'paravirtual' ? this.pciSlot() : {}
    return { driver, id: deviceId('nic', nic), ...slot, ...rom }
  }

  private pciSlot(): DevicePlace {
    const place = this.pci(this.params.number('kvm_pci_reservations'))
    if (place === undefined) throw new HypervisorFailure('All PCI slots of the instance are in use')
    return place
  }

  private scsiId(): number {
    let id = 0
    while (this.scsiIds.has(id)) id++
    this.scsiIds.add(id)
    return id
  }
}

/**
 * The boot ROM is only needed to boot from the network. Without it the guest starts sooner, and the node needs no ROM
 * files.
 */
export function nicModel(params: KvmParams): DevicePlace {
  const type = params.text('nic_type')
  const noRom = params.text('boot_order') !== 'network' && type !== 'ne2k_isa'
  return { driver: type === 'paravirtual' ? 'virtio-net-pci' : type, ...(noRom && { romfile: '' }) }
}

export interface CacheSettings {
  readonly writeback: boolean
  readonly direct: boolean
}

export function cacheSettings(cache: string, disk: DiskDict): CacheSettings {
  if (cache === 'none' || hidesWrites(disk.dev_type, disk.params?.['access'])) return { writeback: true, direct: true }
  if (cache === 'writethrough') return { writeback: false, direct: false }
  if (cache === 'writeback' || cache === 'default') return { writeback: true, direct: false }
  throw new HypervisorFailure(`Invalid KVM cache setting '${cache}'`)
}

export type BlockOptions = {
  readonly [key: string]: string | number | boolean | BlockOptions | readonly BlockOptions[]
}

export interface DiskSetup {
  /** Options of the block back end, in QMP's form. */
  readonly blockdev: BlockOptions
  readonly device: BlockOptions
}

/** The target of a disk's link. */
export interface Backing {
  /** False if the file system needs a cache. */
  readonly directIo: boolean
  /** Missing if the template's kind applies. */
  readonly kind?: 'file' | 'device' | 'server'
}

/** `path` is the local link. */
export function diskSetup(
  entry: LinkedDisk & { disk: PlacedDisk },
  path: string,
  params: KvmParams,
  { directIo, kind = isFileBased(entry.disk.dev_type) ? 'file' : 'device' }: Backing,
): DiskSetup {
  const { disk, uri } = entry
  const place = disk.hvinfo
  if (disk.mode !== undefined && disk.mode !== 'rw')
    throw new HypervisorFailure('Instance has read-only disks which are not supported by KVM')
  if (place === undefined) throw new HypervisorFailure(`Disk ${disk.uuid} has no place in the KVM runtime data`)
  const cache = cacheSettings(params.text('disk_cache'), disk)
  const id = String(place['id'] ?? deviceId('disk', disk))
  const native = params.text('disk_aio') === 'native' && !(cache.direct && directIo)
  const file: BlockOptions =
    uri !== undefined && disk.params?.['access'] === 'userspace'
      ? blockOfUri(uri)
      : kind === 'server'
        ? served(path)
        : {
            driver: kind === 'file' ? 'file' : 'host_device',
            filename: path,
            aio: native ? 'threads' : params.text('disk_aio') || 'threads',
          }
  return {
    blockdev: {
      driver: 'raw',
      'node-name': id,
      discard: params.text('disk_discard') === 'unmap' ? 'unmap' : 'ignore',
      cache: { direct: cache.direct && directIo, 'no-flush': false },
      // Otherwise QEMU reopens the image for writing later, when it may have dropped the right to do so.
      'auto-read-only': false,
      file,
    },
    device: {
      ...{ ...place, drive: id },
      ...(!PASSED_THROUGH.includes(String(place['driver'])) && { 'write-cache': cache.writeback ? 'on' : 'off' }),
    },
  }
}

export function diskArguments(setup: DiskSetup, boot: boolean): string[] {
  return [
    ...['-blockdev', optionString(setup.blockdev)],
    ...['-device', deviceString({ ...setup.device, ...(boot ? { bootindex: 1 } : {}) })],
  ]
}

/** The instance asks metad through QEMU: its address, and metad's socket for it. */
interface UserModeMetadata {
  readonly ip: string
  readonly socket: string
}

/** How a NIC is connected on this node. */
export type NicBackend =
  | {
      readonly kind: 'tap'
      readonly interface: string
      readonly vhost: boolean
      readonly queues: number
      /** Says how it is less than was asked for. */
      readonly remarks: readonly string[]
    }
  | { readonly kind: 'user'; readonly reason?: string; readonly metadata?: UserModeMetadata }

export interface NicSetup {
  readonly netdev: BlockOptions
  readonly device: BlockOptions
}

export function nicSetup(nic: PlacedNic, backend: NicBackend): NicSetup {
  const place = nic.hvinfo ?? { driver: 'virtio-net-pci', id: deviceId('nic', nic) }
  const id = String(place['id'] ?? deviceId('nic', nic))
  const queues = backend.kind === 'tap' && backend.queues > 1 ? backend.queues : 1
  const tap = (interfaceName: string, vhost: boolean): BlockOptions => ({
    ...{ type: 'tap', id, ifname: interfaceName, script: 'no', downscript: 'no' },
    ...(vhost ? { vhost: true } : {}),
    ...(queues > 1 ? { queues } : {}),
  })
  return {
    netdev: backend.kind === 'user' ? userMode(id, backend.metadata) : tap(backend.interface, backend.vhost),
    device: {
      ...place,
      netdev: id,
      mac: nic.mac,
      ...(queues > 1 ? { mq: 'on', vectors: 2 * queues + 2 } : {}),
    },
  }
}

/** A guest that asks metad reaches only that, and gets its address by DHCP from QEMU. */
function userMode(id: string, metadata: UserModeMetadata | undefined): BlockOptions {
  if (metadata === undefined) return { type: 'user', id }
  const command = relayCommand(metadata.socket).map(quoteForShell).join(' ')
  return {
    ...{ type: 'user', id, net: COMMUNICATION.network, host: USER_MODE_HOST, dns: USER_MODE_DNS },
    ...{ dhcpstart: metadata.ip, restrict: true, ipv6: false },
    // QEMU runs the program for each connection.
    guestfwd: [{ str: `tcp:${METADATA_ADDRESS}:80-cmd:${command}` }],
  }
}

export function nicArguments(setup: NicSetup, boot: boolean): string[] {
  return [
    ...['-netdev', netdevString(setup.netdev)],
    ...['-device', deviceString({ ...setup.device, ...(boot ? { bootindex: 1 } : {}) })],
  ]
}

/** `a=b,c.d=on`: nested QMP options in the command line's form; `driver` or `type` first, as QEMU wants. */
export function optionString(options: BlockOptions): string {
  return flatten(options, '')
    .map(([key, value]) => `${key}=${optionValue(value)}`)
    .join(',')
}

/** On the command line a repeatable text is a plain option. */
function netdevString({ guestfwd, ...rest }: BlockOptions): string {
  const texts = Array.isArray(guestfwd)
    ? guestfwd.map((one: BlockOptions) => optionString({ guestfwd: one['str'] ?? '' }))
    : []
  return [optionString(rest), ...texts].join(',')
}

/** The driver comes first and without its key. */
export function deviceString({ driver, ...rest }: BlockOptions): string {
  const options = optionString(rest)
  return optionString({ driver: driver ?? '' }).slice('driver='.length) + (options && `,${options}`)
}

function flatten(options: BlockOptions, prefix: string): [string, string][] {
  return Object.entries(options).flatMap(([key, value]): [string, string][] => {
    if (isList(value)) return value.flatMap((part, index) => flatten(part, `${prefix}${key}.${index}.`))
    if (typeof value === 'object') return flatten(value, `${prefix}${key}.`)
    return [[prefix + key, typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value)]]
  })
}

const isList = (value: BlockOptions[string]): value is readonly BlockOptions[] => Array.isArray(value)

/**
 * A process of this node serves the disk, and knows who else gets its writes. It may be restarted while the guest runs.
 */
const served = (socket: string): BlockOptions => ({
  driver: 'nbd',
  server: { type: 'unix', path: socket },
  export: SERVED_EXPORT,
  'reconnect-delay': SERVER_RETURNS_S,
})

export const asRuntimeDisk = (entry: LinkedDisk, place: DevicePlace, virtualLink: string): RuntimeDisk => ({
  disk: { ...entry.disk, hvinfo: place },
  link: virtualLink,
  ...(entry.uri === undefined ? {} : { uri: entry.uri }),
})
