// Opcodes on IP networks.
import { listOf } from '../lib/shapes/containers'
import { nonEmpty, none, text } from '../lib/shapes/leaves'
import { ipv4Address, ipv4Network, ipv6Address, ipv6Network, orNone } from './addresses'
import {
  pAddReservedIps,
  pConflictsCheck,
  pForce,
  pGateway,
  pGateway6,
  pGroupName,
  pMacPrefix,
  pNetwork6,
  pNetworkName,
  pNewName,
  pTags,
} from './common'
import { maybe, newName, opcode, opt, req } from './opcode'
import { nicMode } from './types'

export const OpNetworkAdd = opcode('OP_NETWORK_ADD', {
  doc: 'Creates an IP network.',
  permission: 'networks.create',
  summary: 'network_name',
  result: none,
  params: {
    network_name: newName('network', pNetworkName),
    network: req(ipv4Network, 'Network in CIDR form'),
    gateway: pGateway,
    network6: pNetwork6,
    gateway6: pGateway6,
    mac_prefix: pMacPrefix,
    add_reserved_ips: pAddReservedIps,
    conflicts_check: pConflictsCheck,
    tags: pTags,
  },
})

export const OpNetworkRemove = opcode('OP_NETWORK_REMOVE', {
  doc: 'Deletes an unconnected network.',
  permission: 'networks.remove',
  summary: 'network_name',
  result: none,
  params: {
    network_name: pNetworkName,
    force: pForce,
  },
})

export const OpNetworkRename = opcode('OP_NETWORK_RENAME', {
  doc: 'Renames a network; returns the new name.',
  permission: 'networks.rename',
  result: nonEmpty,
  params: {
    network_name: pNetworkName,
    new_name: newName('network', pNewName),
  },
})

export const OpNetworkSetParams = opcode('OP_NETWORK_SET_PARAMS', {
  doc: 'Modifies a network (IPv4 subnet is fixed).',
  permission: 'networks.modify',
  summary: 'network_name',
  result: none,
  params: {
    network_name: pNetworkName,
    gateway: maybe(orNone(ipv4Address), 'IPv4 gateway; "none" removes it'),
    network6: maybe(orNone(ipv6Network), 'IPv6 network in CIDR form; "none" removes it'),
    gateway6: maybe(orNone(ipv6Address), 'IPv6 gateway; "none" removes it'),
    mac_prefix: maybe(orNone(nonEmpty), 'MAC prefix; "none" removes it'),
    add_reserved_ips: pAddReservedIps,
    remove_reserved_ips: maybe(listOf(ipv4Address), 'Addresses to free'),
  },
})

export const OpNetworkConnect = opcode('OP_NETWORK_CONNECT', {
  doc: 'Connects a network to a group with mode/link/vlan.',
  permission: 'networks.connect',
  summary: 'network_name',
  result: none,
  params: {
    group_name: pGroupName,
    network_name: pNetworkName,
    network_mode: req(nicMode, 'NIC mode for the group'),
    network_link: req(nonEmpty, 'NIC link for the group'),
    network_vlan: opt(text, '', 'NIC VLAN for the group'),
    conflicts_check: pConflictsCheck,
  },
})

export const OpNetworkDisconnect = opcode('OP_NETWORK_DISCONNECT', {
  doc: 'Removes the network link from a group.',
  permission: 'networks.disconnect',
  summary: 'network_name',
  result: none,
  params: {
    group_name: pGroupName,
    network_name: pNetworkName,
  },
})
