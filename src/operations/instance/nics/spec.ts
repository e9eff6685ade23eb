// The NICs that a user wants (modes, links, networks, MAC and IP addresses): checks them and makes configuration
// objects.
import { canonicalIp, isInNetwork } from '../../../config/addresses'
import type { Cluster, ConfigData, Network, Nic, NicMode, NicParams, Node } from '../../../model/config'
import { NIC_MODES } from '../../../model/constants/params'
import { ConfigurationError, ECODE, GanetiError, OpPrereqError } from '../../../model/errors'
import { isIPv4 } from 'node:net'
import { networkUuid, nicUuid, type NicUuid } from '../../../model/ids'
import { isPlainIPv6 } from '../../../opcodes/addresses'
import type { NicParams as GivenNic } from '../../../opcodes/types'
import { findNetwork } from '../../find'
import type { UnitContext } from '../../unit-context'
import { checkNames } from '../disks/spec'

/** A wanted NIC. `settleNic` replaces an `auto` MAC and a `pool` IP when its node is known. */
export interface WantedNic {
  readonly uuid: NicUuid
  /** An address, or the word `auto`. */
  readonly mac: string
  readonly ip: string | undefined
  readonly fromPool: boolean
  readonly network: Network | undefined
  readonly nicparams: Partial<NicParams>
  readonly name: string | undefined
}

const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/
export const isNone = (text: string): boolean => text.toLowerCase() === 'none'

/** `resolvedIp` replaces `ip: auto`: the address of the instance's name. */
export async function wantedNics(
  ctx: UnitContext,
  cluster: Cluster,
  input: readonly GivenNic[],
  resolvedIp?: string,
): Promise<WantedNic[]> {
  checkNames('NIC', input)
  return Promise.all(input.map((nic) => wantedNic(ctx, cluster, nic, resolvedIp)))
}

async function wantedNic(ctx: UnitContext, cluster: Cluster, input: GivenNic, resolvedIp?: string): Promise<WantedNic> {
  const link = input.link ?? input.bridge
  if (input.link !== undefined && input.bridge !== undefined)
    throw new OpPrereqError("Cannot pass 'bridge' and 'link' at the same time", ECODE.INVAL)
  const network = input.network === undefined || isNone(input.network) ? undefined : input.network
  if (network !== undefined && (input.mode !== undefined || link !== undefined))
    throw new OpPrereqError('If network is given, no mode or link is allowed to be passed', ECODE.INVAL)
  const nicparams = ownParams(input, link)
  const mode = nicparams.mode ?? cluster.nicparams.default.mode
  const ip = wantedIp(input, network, resolvedIp)
  if (mode === 'routed' && ip === undefined && network === undefined)
    throw new OpPrereqError('Routed nic mode requires an ip address if not attached to a network', ECODE.INVAL)
  return {
    uuid: nicUuid(ctx.env.random.uuid()),
    mac: wantedMac(input.mac),
    ip: ip === 'pool' ? undefined : ip,
    fromPool: ip === 'pool',
    network: network === undefined ? undefined : (await findNetwork(ctx, network)).object,
    nicparams,
    name: input.name === undefined || isNone(input.name) ? undefined : input.name,
  }
}

function ownParams(input: GivenNic, link: string | undefined): Partial<NicParams> {
  const mode = input.mode === undefined || input.mode === 'auto' ? undefined : knownMode(input.mode)
  return {
    ...(mode !== undefined && { mode }),
    ...(link !== undefined && link !== 'auto' && { link }),
    ...(input.vlan !== undefined && { vlan: vlanOf(input.vlan) }),
  }
}

export function knownMode(text: string): NicMode {
  const mode = NIC_MODES.find((known) => known === text)
  if (mode === undefined || mode === 'pool') throw new ConfigurationError(`Invalid NIC mode '${text}'`)
  return mode
}

function wantedIp(input: GivenNic, network: string | undefined, resolvedIp?: string): string | undefined {
  const { ip } = input
  if (ip === undefined || ip === '' || isNone(ip)) return undefined
  if (ip === 'auto') {
    if (resolvedIp === undefined)
      throw new OpPrereqError('IP address set to auto but name checks have been skipped', ECODE.INVAL)
    return resolvedIp
  }
  if (ip.toLowerCase() === 'pool') {
    if (network === undefined) throw new OpPrereqError('if ip=pool, parameter network must be passed too', ECODE.INVAL)
    return 'pool'
  }
  return knownIp(ip)
}

export function knownIp(ip: string): string {
  if (!isIPv4(ip) && !isPlainIPv6(ip)) throw new OpPrereqError(`Invalid IP address '${ip}'`, ECODE.INVAL)
  return canonicalIp(ip)
}

const NO_MAC = '00:00:00:00:00:00'

export function wantedMac(mac: string | undefined): string {
  if (mac === undefined || mac === 'auto' || mac === 'generate') return 'auto'
  const lower = mac.toLowerCase()
  // Addresses of groups, and the one that says that there is none, belong to no NIC.
  if (!MAC.test(lower) || (parseInt(lower.slice(0, 2), 16) & 1) === 1 || lower === NO_MAC)
    throw new OpPrereqError(`Invalid MAC address '${mac}'`, ECODE.INVAL)
  return lower
}

export interface NicPlace {
  readonly config: ConfigData
  readonly node: Node
  readonly conflictsCheck: boolean
  /** The instance's existing NICs, whose addresses it may keep. */
  readonly own: readonly Nic[]
}

/** Reserves the new NIC's addresses and gives it the parameters of its network in the node's group. */
export async function settleNic(ctx: UnitContext, nic: WantedNic, index: number, place: NicPlace): Promise<Nic> {
  const { network } = nic
  const { config, node, own } = place
  const nicparams = network === undefined ? nic.nicparams : paramsInGroup(ctx, config, network, node, index)
  const mac = own.some((one) => one.mac === nic.mac) ? nic.mac : await settleMac(ctx, nic.mac, network)
  const ip = await settleIp(ctx, nic, index, place)
  return {
    mac,
    ...(ip !== undefined && { ip }),
    nicparams,
    ...(network && { network: networkUuid(network.uuid) }),
    ...(nic.name !== undefined && { name: nic.name }),
    uuid: nic.uuid,
  }
}

function paramsInGroup(ctx: UnitContext, config: ConfigData, network: Network, node: Node, index: number): NicParams {
  const params = config.nodegroups[node.group]?.networks[network.uuid]
  if (params === undefined)
    throw new OpPrereqError(
      `No netparams found for network ${network.name}. Probably not connected to node's ${node.name} nodegroup`,
      ECODE.INVAL,
    )
  ctx.log.info(`NIC/${index} inherits netparams ['${params.link}', '${params.mode}', '${params.vlan}']`)
  return params
}

async function settleMac(ctx: UnitContext, mac: string, network: Network | undefined): Promise<string> {
  const { wconfd, client } = ctx.env
  if (mac === 'auto') return wconfd.generateMAC(client, network?.uuid ?? null)
  await reserved(wconfd.reserveMAC(client, mac), `MAC address ${mac} already in use in cluster`, ECODE.NOTUNIQUE)
  return mac
}

async function settleIp(
  ctx: UnitContext,
  nic: WantedNic,
  index: number,
  { config, conflictsCheck, own }: NicPlace,
): Promise<string | undefined> {
  const { wconfd, client } = ctx.env
  const { network } = nic
  if (network === undefined) {
    if (conflictsCheck && nic.ip !== undefined) checkForeignAddress(config, nic.ip)
    return nic.ip
  }
  if (nic.fromPool) {
    const text = `Unable to get a free IP for NIC ${index} from the address pool`
    const ip = await reserved(wconfd.generateIp(client, network.uuid), text, ECODE.STATE)
    ctx.log.info(`Chose IP ${ip} from network ${network.name}`)
    return ip
  }
  if (nic.ip !== undefined && !own.some((one) => one.network === network.uuid && one.ip === nic.ip)) {
    checkInside(network, nic.ip)
    const text = `IP address ${nic.ip} is already in use, or reserved, in network ${network.name}`
    await reserved(wconfd.reserveIp(client, network.uuid, nic.ip, conflictsCheck), text, ECODE.NOTUNIQUE)
  }
  return nic.ip
}

export function checkInside(network: Network, ip: string): void {
  if (isInNetwork(network, ip)) return
  const parts = [network.network, network.network6].flatMap((part) => part ?? [])
  throw new OpPrereqError(`IP address ${ip} is outside of network ${network.name} (${parts.join(', ')})`, ECODE.INVAL)
}

/** Only NICs in a known network may have its addresses. `config` has the networks of the node's group. */
export function checkForeignAddress(config: ConfigData, ip: string): void {
  const owner = Object.values(config.networks).find((network) => isInNetwork(network, ip))
  if (owner === undefined) return
  throw new OpPrereqError(
    `The requested IP address (${ip}) belongs to network ${owner.name}, but the target NIC does not.`,
    ECODE.STATE,
  )
}

export async function reserved<T>(
  call: Promise<T>,
  text: string,
  code: 'resource_not_unique' | 'wrong_state',
): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (error instanceof GanetiError) throw new OpPrereqError(text, code)
    throw error
  }
}

/** Ganeti's notation: `.5` is port five untagged, `:5:6` are tagged, `.4:5` is both; a bare number is untagged. */
export function vlanOf(text: string): string {
  if (/^\d+$/.test(text)) return `.${text}`
  if (text !== '' && !/^(?:\.\d+|[.:]\d+(?::\d+)*)$/.test(text))
    throw new OpPrereqError(`Specified VLAN parameter is invalid : ${text}`, ECODE.INVAL)
  return text
}
