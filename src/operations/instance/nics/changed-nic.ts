// A new or changed NIC of an existing instance, with the requirements of its network and mode.
import { fillNicParams } from '../../../config/filled'
import { findNetwork as networkNamed } from '../../../config/lookup'
import type { Network, Nic, NicParams } from '../../../model/config'
import { VALUE } from '../../../model/constants/words'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { networkUuid, nicUuid } from '../../../model/ids'
import type { NicParams as GivenNic } from '../../../opcodes/types'
import { findNetwork } from '../../find'
import type { UnitContext } from '../../unit-context'
import type { DeviceAction } from '../parameters/device-changes'
import { checkForeignAddress, checkInside, isNone, knownMode, knownIp, reserved, wantedMac } from './spec'
import type { InstanceView } from '../view'

export interface NicChange {
  readonly given: GivenNic
  /** Undefined for a new NIC. */
  readonly old: Nic | undefined
  readonly conflictsCheck: boolean
  readonly force: boolean
}

const refusal = (text: string) => new OpPrereqError(text, ECODE.INVAL)

/** Checks of a change that do not need the cluster. */
export function checkNicChange(action: DeviceAction, input: GivenNic): void {
  if (action !== 'add' && action !== 'modify') return
  const { mac, ip, network } = input
  const none = network === undefined || isNone(network)
  if (!none && (input.mode !== undefined || linkOf(input) !== undefined))
    throw refusal('If network is given mode or link should not')
  if (ip !== undefined && !isNone(ip)) {
    if (ip.toLowerCase() !== POOL) knownIp(ip)
    else if (none && action === 'add') throw refusal('If ip=pool, parameter network cannot be none')
  }
  if (mac !== undefined) wantedMac(mac)
  if (mac === VALUE.auto && action === 'modify')
    throw refusal("'auto' is not a valid MAC address when modifying an existing NIC")
}

/** The changed NIC for the configuration, with all parameters. */
export async function changedNic(ctx: UnitContext, view: InstanceView, change: NicChange): Promise<Nic> {
  const { given: input, old } = change
  const { networks } = view.config
  const before = old?.network === undefined ? undefined : networks[old.network]
  const network = await networkFor(ctx, view, input, before)
  const nicparams = paramsFor(view, change, network)
  const name = input.name === undefined ? old?.name : isNone(input.name) ? undefined : input.name
  const desired = wantedIp(change)
  await checkMode(ctx, view, change, nicparams, desired, network)
  const mac = await macFor(ctx, change, before, network)
  const ip = await ipFor(ctx, view, change, { wanted: desired, before, network })
  return {
    mac,
    ...(ip !== undefined && { ip }),
    nicparams,
    ...(network && { network: networkUuid(network.uuid) }),
    ...(name !== undefined && { name }),
    uuid: old?.uuid ?? nicUuid(ctx.env.random.uuid()),
  }
}

const linkOf = ({ link, bridge }: GivenNic): string | undefined => link ?? bridge

async function networkFor(
  ctx: UnitContext,
  view: InstanceView,
  input: GivenNic,
  before: Network | undefined,
): Promise<Network | undefined> {
  if (input.network === undefined) return before
  if (isNone(input.network)) return undefined
  return networkNamed(view.config, input.network) ?? (await findNetwork(ctx, input.network)).object
}

/** The network's parameters in the node's group, otherwise the old ones with the given changes. */
function paramsFor(view: InstanceView, { given: input, old }: NicChange, network: Network | undefined): NicParams {
  const { config, primary } = view
  if (network !== undefined) {
    const params = config.nodegroups[primary.group]?.networks[network.uuid]
    if (params !== undefined) return params
    throw refusal(`No netparams found for the network ${network.name}, probably not connected`)
  }
  const { mode, vlan } = input
  const own: Record<string, string | undefined> = { ...old?.nicparams }
  for (const [name, value] of Object.entries({ mode, link: linkOf(input), vlan })) {
    if (value === VALUE.default || value === VALUE.auto) own[name] = undefined
    else if (value !== undefined) own[name] = value
  }
  const set = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))
  const filled = fillNicParams(config.cluster, { nicparams: set })
  return { mode: knownMode(filled.mode), link: filled.link, vlan: filled.vlan }
}

const POOL = 'pool'

/** An address, `pool` for any of the network's, or none. */
function wantedIp({ given: { ip }, old }: NicChange): string | undefined {
  if (ip === undefined) return old?.ip
  if (isNone(ip)) return undefined
  return ip.toLowerCase() === POOL ? POOL : knownIp(ip)
}

async function checkMode(
  ctx: UnitContext,
  { primary }: InstanceView,
  { force }: NicChange,
  { mode, link }: NicParams,
  ip: string | undefined,
  network: Network | undefined,
): Promise<void> {
  if (mode === 'openvswitch') ctx.log.info('OVS links are currently not checked for correctness')
  if (mode === 'routed' && ip === undefined && network === undefined)
    throw refusal('Cannot set the NIC IP address to None on a routed NIC if not attached to a network')
  if (mode !== 'bridged') return
  const result = await ctx.nodes.attempt(primary, 'bridges_exist', [[link]])
  if (result.ok) return
  const text = `Error checking bridges on node '${primary.name}': ${result.error}`
  if (!force) throw new OpPrereqError(text, ECODE.ENVIRON)
  ctx.log.say(`WARNING: ${text}`)
}

/** A NIC that moves to a network with another MAC prefix gets a new MAC. */
async function macFor(
  ctx: UnitContext,
  { given: input, old }: NicChange,
  before: Network | undefined,
  network: Network | undefined,
): Promise<string> {
  const { wconfd, client } = ctx.env
  if (input.mac === undefined && old !== undefined && before?.mac_prefix === network?.mac_prefix) return old.mac
  const mac = wantedMac(input.mac)
  if (mac === old?.mac) return mac
  if (mac === VALUE.auto) return wconfd.generateMAC(client, network?.uuid ?? null)
  await reserved(wconfd.reserveMAC(client, mac), `MAC address '${mac}' already in use in cluster`, ECODE.NOTUNIQUE)
  return mac
}

interface Addressing {
  readonly wanted: string | undefined
  readonly before: Network | undefined
  readonly network: Network | undefined
}

async function ipFor(
  ctx: UnitContext,
  { config }: InstanceView,
  { given: input, old, conflictsCheck }: NicChange,
  { wanted: desired, before, network }: Addressing,
): Promise<string | undefined> {
  const { wconfd, client } = ctx.env
  if (desired === old?.ip && network?.uuid === before?.uuid) {
    if (before !== undefined && (input.mode !== undefined || linkOf(input) !== undefined))
      throw refusal('Not allowed to change link or mode of a NIC that is connected to a network')
    return desired
  }
  if (desired === POOL) {
    if (network === undefined) throw refusal('ip=pool, but no network found')
    const none = 'Unable to get a free IP from the address pool'
    const ip = await reserved(wconfd.generateIp(client, network.uuid), none, ECODE.STATE)
    ctx.log.info(`Chose IP ${ip} from network ${network.name}`)
    return ip
  }
  if (desired === undefined) return undefined
  if (network === undefined) {
    if (conflictsCheck) checkForeignAddress(config, desired)
    return desired
  }
  checkInside(network, desired)
  const taken = `IP ${desired} not available in network ${network.name}`
  await reserved(wconfd.reserveIp(client, network.uuid, desired, conflictsCheck), taken, ECODE.NOTUNIQUE)
  ctx.log.info(`Reserving IP ${desired} in network ${network.name}`)
  return desired
}
