// The fields of /3 that tell how old is what the nodes said.
import type { QueryResource } from '../../rpc/luxi/calls'

/** By kind of object: the field with the time at which its node told last. */
export const SEEN_FIELDS: { readonly [W in QueryResource]?: string } = { instance: 'status_seen', node: 'seen' }

/** The status of an instance whose node did not answer. As long as the master has not heard of the node at all, it says nothing. */
const UNANSWERED = 'ERROR_nodedown'
export const saysNothing = (value: unknown, seen: unknown): boolean => value === UNANSWERED && seen === null
