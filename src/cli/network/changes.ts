// gnt-network: the commands that submit jobs.
import {
  OpNetworkAdd,
  OpNetworkConnect,
  OpNetworkDisconnect,
  OpNetworkRemove,
  OpNetworkRename,
  OpNetworkSetParams,
} from '../../opcodes/network'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { NIC_MODES } from '../../model/constants/params'
import { ECODE } from '../../model/errors'
import type { Call } from '../command'
import { CommandFailure, EXIT, refusal } from '../outcome'
import { NOTHING_GIVEN } from '../instance/modify'
import { firstArgument, opcodeOf, submitting } from '../submit/submit'

/** Surplus commas in a list of addresses are ignored. */
const addresses = (list: readonly string[] | undefined): string[] | undefined => list?.filter((part) => part !== '')

export const addNetwork = submitting(OpNetworkAdd, (call) => {
  const { options } = call
  if (options.text('network') === undefined)
    throw refusal('The --network option must be given: a network has an IPv4 part, and --network6 adds one for IPv6')
  return {
    ...options.parametersOf(OpNetworkAdd),
    network_name: firstArgument(call),
    add_reserved_ips: addresses(options.list('add_reserved_ips')),
  }
})

export const modifyNetwork = submitting(OpNetworkSetParams, (call) => {
  const { options } = call
  const changes = {
    ...options.parametersOf(OpNetworkSetParams),
    add_reserved_ips: addresses(options.list('add_reserved_ips')),
    remove_reserved_ips: addresses(options.list('remove_reserved_ips')),
  }
  if (Object.values(changes).every((value) => value === undefined)) throw new CommandFailure(NOTHING_GIVEN)
  return { network_name: firstArgument(call), ...changes }
})

export const removeNetwork = submitting(OpNetworkRemove, (call) => ({
  network_name: firstArgument(call),
  force: call.options.flag('force'),
}))

export const renameNetwork = submitting(OpNetworkRename, ({ args }) => ({ network_name: args[0], new_name: args[1] }))

export function connectNetwork(call: Call): Promise<number> {
  const { options } = call
  const { mode, link, vlan } = options.keyValues('nicparams') ?? {}
  return onGroups(call, (network_name, group_name) =>
    opcodeOf(OpNetworkConnect, {
      ...options.parametersOf(OpNetworkConnect),
      network_name,
      group_name,
      network_mode: mode ?? 'bridged',
      network_link: link ?? 'xen-br0',
      network_vlan: vlan ?? undefined,
    }),
  )
}

export const disconnectNetwork = (call: Call): Promise<number> =>
  onGroups(call, (network_name, group_name) => opcodeOf(OpNetworkDisconnect, { network_name, group_name }))

/** One job after the other, for each named group or for all groups; stops at the first failure. */
async function onGroups(call: Call, opcodeFor: (network: string, group: string) => WireOpCode): Promise<number> {
  const [network = '', ...named] = call.args
  const known = (await call.master.queryGroups([], ['name', 'uuid'], false)).map((row) => row.map(String))
  const wrong = named.find((one) => !known.some((ids) => ids.includes(one)))
  if (wrong !== undefined) throw noGroup(wrong, named, network)
  for (const group of named.length > 0 ? named : known.map(([name = '']) => name))
    await call.jobs.run(opcodeFor(network, group))
  return EXIT.ok
}

/** Old versions of Ganeti had arguments where there are options now: NETWORK GROUP MODE LINK. */
function noGroup(wrong: string, named: readonly string[], network: string): Error {
  const at = named.indexOf(wrong)
  const [group = '', link = 'br0'] = [named[at - 1], named[at + 1]]
  const hint = NIC_MODES.some((mode) => mode === wrong)
    ? `; the mode and the link are options: -N mode=${wrong},link=${link} ${network} ${group}`.trimEnd()
    : '; gnt-group list shows them'
  return refusal(`Node group '${wrong}' not found${hint}`, ECODE.NOENT)
}
