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
  /** One `0` or `1` for each address, from the network address on: taken by instances. */
  readonly reservations?: string
  /** The same, taken by others. */
  readonly ext_reservations?: string
  readonly uuid: NetworkUuid
}
