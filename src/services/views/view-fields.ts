// Fields of /3 that tell how old is what the nodes said; Ganeti's queries do not have them.
import type { ConfigData } from '../../model/config'
import { findInstance, findNode } from '../../config/lookup'
import type { QueryResource } from '../../rpc/luxi/calls'
import type { LastKnown } from '../live-data/last-known'

/** When the node told that decides about an object, in milliseconds since the epoch. */
type Seen = (config: ConfigData, name: string, known: LastKnown) => number | undefined

interface SeenField {
  readonly name: string
  readonly doc: string
  readonly seen_ms: Seen
}

/** By kind of object. */
export const SEEN_FIELDS: { readonly [W in QueryResource]?: SeenField } = {
  instance: {
    name: 'status_seen',
    doc: 'When the primary node last told what runs on it: the age of `status` and of the `oper_` fields. Null as long as it did not (RFC 3339)',
    seen_ms(config, name, known) {
      const instance = findInstance(config, name)
      return instance && known.runningSeen_ms(instance.primary_node)
    },
  },
  node: {
    name: 'seen',
    doc: 'When the node last told of itself and of its instances: the age of the older of both. Null as long as one is missing (RFC 3339)',
    seen_ms(config, name, known) {
      const node = findNode(config, name)
      return node && known.seen_ms(node.uuid)
    },
  },
}

/** The status of an instance whose node did not answer. As long as the master has not heard of the node at all, it says nothing. */
const UNANSWERED = 'ERROR_nodedown'
export const saysNothing = (value: unknown, seen_ms: number | undefined): boolean =>
  value === UNANSWERED && seen_ms === undefined
