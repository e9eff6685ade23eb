// Query fields of instances' disks and NICs, by number.
import type { Disk } from '../../model/disk'
import { MAX_DISKS } from '../../model/constants/disks'
import { MAX_NICS } from '../../model/constants/params'
import type { Nic } from '../../model/nic'
import { type Field, type FieldKind, type FieldTable, type Part, UNAVAILABLE, cell, field, optional } from '../field'
import type { ConfigIndex } from '../config-index'
import type { InstanceRow } from './instance-live'

/** A property of a disk or NIC, shown as a list of all and as one field for each index. */
interface Property<Device> {
  readonly one: string
  readonly oneTitle: string
  readonly oneDoc: string
  readonly oneKind?: FieldKind
  readonly all: string
  readonly allTitle: string
  readonly allDoc: string
  get(device: Device, index: ConfigIndex): unknown
}

const DISK_PROPERTIES: readonly Property<Disk>[] = [
  {
    ...{ one: 'name', oneTitle: 'DiskName', oneDoc: 'Name' },
    ...{ all: 'names', allTitle: 'Disk_names', allDoc: 'List of disk names' },
    get: (disk) => disk.name,
  },
  {
    ...{ one: 'size', oneTitle: 'Disk', oneDoc: 'Disk size', oneKind: 'unit' },
    ...{ all: 'sizes', allTitle: 'Disk_sizes', allDoc: 'List of disk sizes' },
    get: (disk) => disk.size,
  },
  {
    ...{ one: 'spindles', oneTitle: 'DiskSpindles', oneDoc: 'Spindles', oneKind: 'number' },
    ...{ all: 'spindles', allTitle: 'Disk_spindles', allDoc: 'List of disk spindles' },
    get: (disk) => disk.spindles,
  },
  {
    ...{ one: 'uuid', oneTitle: 'DiskUUID', oneDoc: 'UUID' },
    ...{ all: 'uuids', allTitle: 'Disk_UUIDs', allDoc: 'List of disk UUIDs' },
    get: (disk) => disk.uuid,
  },
]

const NIC_PROPERTIES: readonly Property<Nic>[] = [
  {
    ...{ one: 'bridge', oneTitle: 'NicBridge', oneDoc: 'Bridge' },
    ...{ all: 'bridges', allTitle: 'NIC_bridges', allDoc: "List containing each network interface's bridge" },
    get: (nic, index) => paramIfMode(nic, index, 'bridged', 'link'),
  },
  {
    ...{ one: 'ip', oneTitle: 'NicIP', oneDoc: 'IP address' },
    ...{ all: 'ips', allTitle: 'NIC_IPs', allDoc: "List containing each network interface's IP address" },
    get: (nic) => nic.ip,
  },
  {
    ...{ one: 'link', oneTitle: 'NicLink', oneDoc: 'Link' },
    ...{ all: 'links', allTitle: 'NIC_links', allDoc: "List containing each network interface's link" },
    get: (nic, index) => index.nicParams(nic).link,
  },
  {
    ...{ one: 'mac', oneTitle: 'NicMAC', oneDoc: 'MAC address' },
    ...{ all: 'macs', allTitle: 'NIC_MACs', allDoc: "List containing each network interface's MAC address" },
    get: (nic) => nic.mac,
  },
  {
    ...{ one: 'mode', oneTitle: 'NicMode', oneDoc: 'Mode' },
    ...{ all: 'modes', allTitle: 'NIC_modes', allDoc: "List containing each network interface's mode" },
    get: (nic, index) => index.nicParams(nic).mode,
  },
  {
    ...{ one: 'name', oneTitle: 'NicName', oneDoc: 'Name address' },
    ...{ all: 'names', allTitle: 'NIC_Names', allDoc: "List containing each network interface's name" },
    get: (nic) => nic.name,
  },
  {
    ...{ one: 'network', oneTitle: 'NicNetwork', oneDoc: 'Network' },
    ...{ all: 'networks', allTitle: 'NIC_networks', allDoc: "List containing each interface's network" },
    get: (nic) => nic.network,
  },
  {
    ...{ one: 'network.name', oneTitle: 'NicNetworkName', oneDoc: 'Network name' },
    ...{
      all: 'networks.names',
      allTitle: 'NIC_networks_names',
      allDoc: "List containing the name of each interface's network",
    },
    get: (nic, index) => index.config.networks[nic.network ?? '']?.name,
  },
  {
    ...{ one: 'uuid', oneTitle: 'NicUUID', oneDoc: 'UUID address' },
    ...{ all: 'uuids', allTitle: 'NIC_UUIDs', allDoc: "List containing each network interface's UUID" },
    get: (nic) => nic.uuid,
  },
  {
    ...{ one: 'vlan', oneTitle: 'NicVLAN', oneDoc: 'VLAN' },
    ...{ all: 'vlans', allTitle: 'NIC_VLANs', allDoc: "List containing each network interface's VLAN" },
    get: (nic, index) => paramIfMode(nic, index, 'openvswitch', 'vlan'),
  },
]

const disks = deviceFields('disk', DISK_PROPERTIES, MAX_DISKS, ({ instance, index }) => index.disks(instance))
const nics = deviceFields('nic', NIC_PROPERTIES, MAX_NICS, ({ instance }) => instance.nics)

export const instanceDiskFields: FieldTable<InstanceRow> = {
  ...disks,
  'disk.parameters': field(
    'Disk_parameters',
    'other',
    'List of parameters of disks that the cluster, the group or the disk itself sets: of each its name, its value, and who sets it',
    ({ instance, index }) => cell(index.disks(instance).map((disk) => index.diskParameters(instance, disk))),
    { ours: true, shape: '{ name: string; value: string | number | boolean | null; source: string }[][]' },
  ),
  'disk.count': field('Disks', 'number', 'Number of disks', ({ instance }) => cell(instance.disks.length)),
  ...aliases(disks, { sda_size: 'disk.size/0', sdb_size: 'disk.size/1' }),
}

export const instanceNicFields: FieldTable<InstanceRow> = {
  ...nics,
  'nic.addresses': field(
    'NIC_addresses',
    'text',
    'MAC and IP addresses of all network interfaces, separated by spaces, so that a filter finds an instance by a part of one',
    ({ instance }) => cell(instance.nics.flatMap(({ mac, ip }) => [mac, ip ?? []].flat()).join(' ')),
    { ours: true },
  ),
  'nic.count': field('NICs', 'number', 'Number of network interfaces', ({ instance }) => cell(instance.nics.length)),
  ...aliases(nics, {
    bridge: 'nic.bridge/0',
    ip: 'nic.ip/0',
    mac: 'nic.mac/0',
    nic_link: 'nic.link/0',
    nic_mode: 'nic.mode/0',
    nic_network: 'nic.network/0',
  }),
}

function deviceFields<Device>(
  kind: 'disk' | 'nic',
  properties: readonly Property<Device>[],
  max: number,
  devicesOf: (row: InstanceRow) => readonly Device[],
): FieldTable<InstanceRow> {
  const table: Record<string, Field<InstanceRow>> = {}
  const parts = devicesFrom(devicesOf, max)
  for (const property of properties) {
    const { one, all, oneTitle, oneDoc, oneKind = 'text' } = property
    const shape = oneKind === 'text' ? '(string | null)[]' : '(number | null)[]'
    const getAll = (row: InstanceRow) => cell(devicesOf(row).map((device) => property.get(device, row.index) ?? null))
    table[`${kind}.${all}`] = field(property.allTitle, 'other', property.allDoc, getAll, { shape, part: parts[0] })
    for (const [at, part] of parts.entries()) {
      const doc = `${oneDoc} of ${ordinal(at + 1)} ${kind === 'nic' ? 'network interface' : 'disk'}`
      const get = (row: InstanceRow) => {
        const device = devicesOf(row)[at]
        return device === undefined ? UNAVAILABLE : optional(property.get(device, row.index))
      }
      table[`${kind}.${one}/${at}`] = field(`${oneTitle}/${at}`, oneKind, doc, get, { part })
    }
  }
  return table
}

/**
 * Divides the device fields into parts. Most instances have few devices, so the next two, then four, ... fields share a
 * part.
 */
function devicesFrom<Device>(devicesOf: (row: InstanceRow) => readonly Device[], max: number): Part<InstanceRow>[] {
  const parts: Part<InstanceRow>[] = []
  for (let at = 0; at < max; at++) {
    const isPower = (at & (at - 1)) === 0
    const last = parts.at(-1)
    const part = (row: InstanceRow) => (devicesOf(row).length > at ? devicesOf(row) : undefined)
    parts.push(last === undefined || isPower ? part : last)
  }
  return parts
}

/** 1st, 2nd, 3rd, 4th ...: there are at most 16 devices. */
function ordinal(n: number): string {
  return `${n}${['st', 'nd', 'rd'][n - 1] ?? 'th'}`
}

function paramIfMode(nic: Nic, index: ConfigIndex, mode: string, name: 'link' | 'vlan'): string | null {
  const params = index.nicParams(nic)
  return params.mode === mode ? params[name] : null
}

function aliases(table: FieldTable<InstanceRow>, names: Readonly<Record<string, string>>): FieldTable<InstanceRow> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([alias, name]) => {
      const original = table[name]
      return original === undefined ? [] : [[alias, original]]
    }),
  )
}
