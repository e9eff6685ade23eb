// The actions on a network.
import { schema as add } from 'openapi:POST /3/networks'
import { schema as connect } from 'openapi:POST /3/networks/{name}/connect'
import { schema as modify } from 'openapi:PATCH /3/networks/{name}'
import { schema as rename } from 'openapi:POST /3/networks/{name}/rename'
import type { Named } from '../../api/named'
import type { components } from '../../api/schema'
import { fieldOf, otherFields } from '../../forms/schema'
import { type Action, nothingChanged } from '../../parts/action'
import { gntText } from '../../parts/gnt'
import type { Seen } from '../../parts/request-dialog'
import { texts } from '../../texts'

export type Network = Named<components['schemas']['NetworkView']>
/** A network, and a group connected to it. */
export interface Connection {
  readonly network: string
  readonly group: string
}

const own = texts.networks.actions

export const networkPath = ({ name }: Pick<Network, 'name'>, verb = ''): string =>
  `/3/networks/${encodeURIComponent(name)}${verb}`

/** Shown if somebody else has changed the network meanwhile. */
const seenOf = ({ uuid, serial_no: serial, ...network }: Network): Seen => ({
  etag: `"network/${uuid ?? ''}/${serial ?? 0}"`,
  facts: {
    ...{ gateway: network.gateway, network6: network.network6, gateway6: network.gateway6 },
    ...{ mac_prefix: network.mac_prefix, external_reservations: network.external_reservations },
  },
})

export const ADD_NETWORK: Action<null> = {
  ...{ id: 'add', label: own.add, permission: 'networks.create' },
  text: () => own.addText,
  fields: [
    fieldOf(add, 'network_name', { label: texts.networks.columns.name, text: '' }),
    fieldOf(add, 'network', { placeholder: '10.0.0.0/24' }),
    fieldOf(add, 'gateway', { placeholder: '10.0.0.1' }),
    fieldOf(add, 'add_reserved_ips', { label: own.reserve, text: own.addresses }),
  ],
  others: otherFields(add, ['network_name', 'network', 'gateway', 'add_reserved_ips']),
  request(_none, body) {
    const { network_name: name = 'NETWORK', ...others } = body
    return {
      ...{ method: 'POST', path: '/3/networks', body },
      gnt: gntText('network add', others, [String(name)], { add_reserved_ips: 'add-reserved-ips' }),
    }
  },
}

const CONNECT: Action<Network> = {
  ...{ id: 'connect', label: own.connect, permission: 'networks.connect' },
  beyond: () => 'machines',
  text: ({ name }) => own.connectText(name),
  fields: [
    fieldOf(connect, 'group_name', { source: 'groups', text: '' }),
    fieldOf(connect, 'network_mode', { initial: 'bridged' }),
    fieldOf(connect, 'network_link', { placeholder: 'br0' }),
    fieldOf(connect, 'network_vlan'),
  ],
  others: [fieldOf(connect, 'conflicts_check')],
  request(network, input) {
    const body = { network_mode: 'bridged', ...input } as Readonly<Record<string, unknown>>
    const {
      network_mode: mode,
      network_link: link = 'LINK',
      group_name: group = 'GROUP',
      network_vlan: vlan,
      ...others
    } = body
    const nic = { mode, link, ...(vlan !== undefined && { vlan }) }
    return {
      ...{ method: 'POST', path: networkPath(network, '/connect'), body },
      gnt: gntText('network connect', { 'nic-parameters': nic, ...others }, [network.name, String(group)]),
    }
  },
}

export const DISCONNECT: Action<Connection> = {
  ...{ id: 'disconnect', label: own.disconnect, permission: 'networks.disconnect', danger: true },
  text: ({ network, group }) => own.disconnectText(network, group),
  fields: [],
  request: ({ network, group }, body) => ({
    ...{ method: 'POST', path: networkPath({ name: network }, '/disconnect'), body: { ...body, group_name: group } },
    gnt: gntText('network disconnect', {}, [network, group]),
  }),
}

/** The value that unsets a property of the network. */
const NONE = 'none'

const MODIFY: Action<Network> = {
  ...{ id: 'modify', label: own.modify, permission: 'networks.modify' },
  text: ({ name }) => own.modifyText(name),
  fields: (network) => [
    fieldOf(modify, 'add_reserved_ips', { label: own.reserve, text: own.addresses }),
    fieldOf(modify, 'remove_reserved_ips', { label: own.release, text: own.addresses }),
    fieldOf(modify, 'gateway', { initial: network.gateway, cleared: NONE }),
    fieldOf(modify, 'network6', { initial: network.network6, cleared: NONE }),
    fieldOf(modify, 'gateway6', { initial: network.gateway6, cleared: NONE }),
    fieldOf(modify, 'mac_prefix', { initial: network.mac_prefix, cleared: NONE }),
  ],
  seen: seenOf,
  complaint: (_network, body) => nothingChanged(body),
  request: (network, body) => ({
    ...{ method: 'PATCH', path: networkPath(network), body },
    gnt: gntText('network modify', body, [network.name]),
  }),
}

const RENAME: Action<Network> = {
  ...{ id: 'rename', label: own.rename, permission: 'networks.rename' },
  text: ({ name }) => own.renameText(name),
  fields: [fieldOf(rename, 'new_name', { text: '' })],
  request: (network, body) => ({
    ...{ method: 'POST', path: networkPath(network, '/rename'), body },
    gnt: gntText('network rename', {}, [network.name, String(body['new_name'] ?? 'NAME')]),
  }),
}

export const NETWORK_ACTIONS: readonly Action<Network>[] = [
  CONNECT,
  MODIFY,
  RENAME,
  {
    ...{ id: 'remove', label: own.remove, permission: 'networks.remove', danger: true },
    text: ({ name }) => own.removeText(name),
    fields: [],
    typed: ({ name }) => name,
    unfit: ({ group_cnt: count }) => (count === 0 ? undefined : own.connected),
    request: (network, body) => ({
      ...{ method: 'DELETE', path: networkPath(network), body },
      gnt: gntText('network remove', {}, [network.name]),
    }),
  },
]
