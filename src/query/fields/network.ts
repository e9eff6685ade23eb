// Query fields of networks.
import { formatIp4, rangeOf } from '../../config/addresses'
import { ECODE, OpPrereqError } from '../../model/errors'
import type { Network } from '../../model/network'
import { ConfigIndex } from '../config-index'
import { type FieldTable, cell, field, optional, stampFields, tagsField, TEXTS } from '../field'
import type { Resource } from '../resource'

interface NetworkRow {
  readonly network: Network
  readonly index: ConfigIndex
}

const fields: FieldTable<NetworkRow> = {
  ...stampFields('Network', ({ network }) => network),
  ...tagsField(({ network }) => network.tags),
  addresses: field(
    'Addresses',
    'text',
    'Subnets, gateways and the prefix of MAC addresses, separated by spaces, so that a filter finds a network by a part of one',
    ({ network: { network, gateway, network6, gateway6, mac_prefix } }) =>
      cell([network, gateway, network6, gateway6, mac_prefix].filter(Boolean).join(' ')),
    { ours: true },
  ),
  external_reservations: field('ExternalReservations', 'text', 'External reservations', ({ network }) =>
    cell(addresses(network, network.ext_reservations ?? '').join(', ')),
  ),
  free_count: field('FreeCount', 'number', 'Number of available addresses', ({ network }) => cell(count(network, '.'))),
  gateway: field('Gateway', 'other', 'IPv4 gateway', ({ network }) => optional(network.gateway), { shape: 'string' }),
  gateway6: field('IPv6Gateway', 'other', 'IPv6 gateway', ({ network }) => optional(network.gateway6), {
    shape: 'string',
  }),
  group_cnt: field('NodeGroups', 'number', 'Number of nodegroups', (row) => cell(connections(row).length)),
  group_list: field(
    'GroupList',
    'other',
    'List of nodegroups (group name, NIC mode, NIC link)',
    (row) => cell(connections(row)),
    { shape: 'string[][]' },
  ),
  inst_cnt: field('Instances', 'number', 'Number of instances', ({ network, index }) =>
    cell(index.instancesOfNetwork(network.uuid).length),
  ),
  inst_list: field(
    'InstanceList',
    'other',
    'List of instances',
    ({ network, index }) => cell(index.instancesOfNetwork(network.uuid).map(({ name }) => name)),
    { shape: TEXTS },
  ),
  mac_prefix: field('MacPrefix', 'other', 'MAC address prefix', ({ network }) => optional(network.mac_prefix), {
    shape: 'string',
  }),
  map: field('Map', 'text', 'Actual mapping', ({ network }) => cell(map(network))),
  name: field('Network', 'text', 'Name', ({ network }) => cell(network.name)),
  network: field('Subnet', 'text', 'IPv4 subnet', ({ network }) => cell(network.network)),
  network6: field('IPv6Subnet', 'other', 'IPv6 subnet', ({ network }) => optional(network.network6), {
    shape: 'string',
  }),
  owners: field(
    'Owners',
    'other',
    'List of addresses of instances (address, instance name)',
    ({ network, index }) => cell(owners(network, index)),
    { shape: 'string[][]', ours: true },
  ),
  reserved_count: field('ReservedCount', 'number', 'Number of reserved addresses', ({ network }) =>
    cell(count(network, 'X')),
  ),
}

export const networkResource: Resource<NetworkRow> = {
  nameField: 'name',
  fields,
  all({ config }) {
    const index = ConfigIndex.of(config)
    return index.networks().map((network) => ({ network, index }))
  },
  find({ config }, name) {
    const index = ConfigIndex.of(config)
    const network = index.networks().find((candidate) => candidate.name === name || candidate.uuid === name)
    return network && { network, index }
  },
  notFound: (name) => new OpPrereqError(`Network '${name}' not found`, ECODE.NOENT),
}

/** In the order of the groups' uuids. */
function connections({ network, index }: NetworkRow): string[][] {
  return Object.values(index.config.nodegroups).flatMap((group) => {
    const params = group.networks[network.uuid]
    return params === undefined ? [] : [[group.name, params.mode ?? '-', params.link ?? '-', params.vlan ?? '-']]
  })
}

function owners({ uuid }: Network, index: ConfigIndex): string[][] {
  return index
    .instancesOfNetwork(uuid)
    .flatMap(({ name, nics }) =>
      nics.flatMap(({ network, ip }) => (network === uuid && typeof ip === 'string' ? [[ip, name]] : [])),
    )
}

function map({ reservations = '', ext_reservations = '' }: Network): string {
  const length = Math.max(reservations.length, ext_reservations.length)
  return Array.from({ length }, (_, at) => (reservations[at] === '1' || ext_reservations[at] === '1' ? 'X' : '.')).join(
    '',
  )
}

const count = (network: Network, mark: string): number => map(network).split(mark).length - 1

function addresses(network: Network, taken: string): string[] {
  const { base } = rangeOf(network)
  return [...taken].flatMap((bit, index) => (bit === '1' ? [formatIp4(base + index)] : []))
}
