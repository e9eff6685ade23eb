// Options that only gnt-network has.
import { value } from '../input/option'

export const oAddReservedIps = value(
  '--add-reserved-ips',
  'add_reserved_ips',
  'string',
  'addresses to reserve, comma list',
)
export const oConnectionParameters = value(
  '--nic-parameters',
  'nicparams',
  'keyval',
  'mode, link, vlan of the connection',
  { short: '-N' },
)
export const oGateway = value('--gateway', 'gateway', 'string', 'IPv4 gateway')
export const oGateway6 = value('--gateway6', 'gateway6', 'string', 'IPv6 gateway')
export const oNetwork = value('--network', 'network', 'string', 'network in CIDR form')
export const oNetwork6 = value('--network6', 'network6', 'string', 'IPv6 network in CIDR form')
export const oNetworkMacPrefix = value('--mac-prefix', 'mac_prefix', 'string', 'MAC prefix of the network', {
  short: '-m',
  metavar: 'PREFIX',
})
export const oRemoveReservedIps = value(
  '--remove-reserved-ips',
  'remove_reserved_ips',
  'string',
  'addresses to free, comma list',
)
