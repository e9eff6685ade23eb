// The addresses of an instance's NICs in the network configuration, version 2, of cloud-init and netplan.
import { isIPv4, isIPv6 } from 'node:net'
import { IPv6 } from 'ipaddr.js'

/** A NIC as nodes get it (`NicDict`): with its parameters filled, and its network beside it. */
export interface SeedNic {
  readonly mac: string
  /** An IPv4 or IPv6 address. */
  readonly ip?: string
  readonly nicparams: { readonly mode?: string }
  readonly netinfo?: {
    /** `a.b.c.d/length` */
    readonly network: string
    readonly gateway?: string
    readonly network6?: string
    readonly gateway6?: string
  }
}

interface Ethernet {
  readonly match: { readonly macaddress: string }
  readonly 'set-name': string
  readonly dhcp4?: true
  readonly addresses?: readonly string[]
  /** Newer versions of netplan prefer routes. But older versions of cloud-init read a route to ::/0 as one to ::/64. */
  readonly gateway4?: string
  readonly gateway6?: string
  readonly nameservers?: { readonly addresses: readonly string[] }
}

const ROUTED = 'routed'
/** In this range each NIC gives itself an address, also in the network for instance communication. */
const LINK_LOCAL = /^fe[89ab]/i

export function networkConfig(nics: readonly SeedNic[], nameservers: readonly string[]) {
  const all = nics.map((nic, index) => ethernet(nic, `eth${index}`))
  // With two default routes of one family, it would be chance which one the guest uses.
  const first4 = all.find(({ gateway4 }) => gateway4 !== undefined)
  const first6 = all.find(({ gateway6 }) => gateway6 !== undefined)
  const ethernets = all.map((entry): Ethernet => {
    const { gateway4, gateway6, ...rest } = entry
    return { ...rest, ...(entry === first4 && { gateway4 }), ...(entry === first6 && { gateway6 }) }
  })
  // The NIC with the default route also gets the nameservers.
  const out = ethernets.findIndex(({ gateway4, gateway6, dhcp4 }) => dhcp4 ?? gateway4 ?? gateway6)
  return {
    version: 2,
    ethernets: Object.fromEntries(
      ethernets.map((entry, index) => [
        entry['set-name'],
        index === Math.max(out, 0) && nameservers.length > 0
          ? { ...entry, nameservers: { addresses: nameservers } }
          : entry,
      ]),
    ),
  }
}

/** Without a known address and network, the guest asks DHCP. */
function ethernet(nic: SeedNic, name: string): Ethernet {
  const { gateway, gateway6 } = nic.netinfo ?? {}
  const [ipv4, ipv6] = [address4(nic), address6(nic)]
  const addresses = [ipv4, ipv6].flatMap((address) => address ?? [])
  return {
    match: { macaddress: nic.mac.toLowerCase() },
    'set-name': name,
    ...(ipv4 === undefined && !isIPv6(nic.ip ?? '') ? { dhcp4: true } : {}),
    ...(addresses.length > 0 ? { addresses } : {}),
    ...(ipv4 !== undefined && gateway !== undefined ? { gateway4: gateway } : {}),
    ...(ipv6 !== undefined && gateway6 !== undefined ? { gateway6 } : {}),
  }
}

function address4({ ip, nicparams, netinfo }: SeedNic): string | undefined {
  if (ip === undefined || !isIPv4(ip)) return undefined
  if (netinfo !== undefined) return `${ip}/${lengthOf(netinfo.network)}`
  // The node has a route to a routed NIC, for this one address.
  return nicparams.mode === ROUTED ? `${ip}/32` : undefined
}

/** The address that the guest derives from its MAC in its network. It can be computed, so we know it in advance. */
function address6({ ip, mac, netinfo }: SeedNic): string | undefined {
  const network6 = netinfo?.network6
  if (ip !== undefined && isIPv6(ip)) return `${ip}/${network6 === undefined ? '128' : lengthOf(network6)}`
  if (network6 === undefined || Number(lengthOf(network6)) > 64 || LINK_LOCAL.test(network6)) return undefined
  const [prefix] = IPv6.parseCIDR(network6)
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = mac.split(':').map((part) => Number.parseInt(part, 16))
  const host = [((a ^ 2) << 8) | b, (c << 8) | 0xff, 0xfe00 | d, (e << 8) | f]
  return `${new IPv6([...prefix.parts.slice(0, 4), ...host]).toString()}/${lengthOf(network6)}`
}

const lengthOf = (network: string): string => network.slice(network.indexOf('/') + 1)
