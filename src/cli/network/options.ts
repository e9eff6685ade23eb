// Options that only gnt-network has.
import { OpNetworkAdd, OpNetworkSetParams } from '../../opcodes/network'
import { parameter, value } from '../input/option'

export const oAddReservedIps = parameter(OpNetworkAdd, 'add_reserved_ips')
export const oConnectionParameters = value(
  '--nic-parameters',
  'nicparams',
  'keyval',
  'mode, link, vlan of the connection',
  { short: '-N' },
)
export const oGateway = parameter(OpNetworkSetParams, 'gateway')
export const oGateway6 = parameter(OpNetworkSetParams, 'gateway6')
export const oNetwork = parameter(OpNetworkAdd, 'network')
export const oNetwork6 = parameter(OpNetworkSetParams, 'network6')
export const oNetworkMacPrefix = parameter(OpNetworkAdd, 'mac_prefix', {
  short: '-m',
  metavar: 'PREFIX',
  help: 'MAC prefix of the network',
})
export const oRemoveReservedIps = parameter(OpNetworkSetParams, 'remove_reserved_ips')
