// A NIC's object in the configuration.
import type { NetworkUuid, NicUuid } from './ids'
import type { NicParams } from './params'

export interface Nic {
  readonly mac: string
  readonly ip?: string
  readonly nicparams: Partial<NicParams>
  readonly network?: NetworkUuid
  readonly name?: string
  readonly uuid: NicUuid
}
