// A network's object in the configuration.
import type { Stamped, Tagged } from './common'
import type { NetworkUuid } from './ids'

export interface Network extends Stamped, Tagged {
  readonly name: string
  readonly mac_prefix?: string
  /** `a.b.c.d/length`, 16 to 30. */
  readonly network: string
  readonly network6?: string
  readonly gateway?: string
  readonly gateway6?: string
  /** One `0` or `1` for each address, from the network address on: whether an instance uses it. */
  readonly reservations?: string
  /** The same for addresses that others use. */
  readonly ext_reservations?: string
  readonly uuid: NetworkUuid
}

type Told = Pick<Network, 'name' | 'network' | 'gateway' | 'network6' | 'gateway6' | 'mac_prefix'> & {
  readonly uuid: string
  readonly tags?: readonly string[]
}

/** The network's variables for hooks and for scripts that connect a NIC (Ganeti's `Network.HooksDict`). */
export function networkVariables(network: Told) {
  const optional = {
    NETWORK_GATEWAY: network.gateway,
    NETWORK_SUBNET6: network.network6,
    NETWORK_GATEWAY6: network.gateway6,
    NETWORK_MAC_PREFIX: network.mac_prefix,
  }
  return {
    ...{ NETWORK_NAME: network.name, NETWORK_UUID: network.uuid, NETWORK_TAGS: (network.tags ?? []).join(' ') },
    NETWORK_SUBNET: network.network,
    ...Object.fromEntries(Object.entries(optional).flatMap(([name, value]) => (value ? [[name, value]] : []))),
  }
}
