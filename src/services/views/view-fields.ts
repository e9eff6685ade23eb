// Fields of /3 with the age of the nodes' answers.
import type { QueryResource } from '../../rpc/luxi/calls'

/** By kind of object: the field with the time of its node's last answer. */
export const SEEN_FIELDS: { readonly [W in QueryResource]?: string } = { instance: 'status_seen', node: 'seen' }

/** The status of an instance whose node did not answer. It means nothing if the node has never answered this master. */
const UNANSWERED = 'ERROR_nodedown'
export const saysNothing = (value: unknown, seen: unknown): boolean => value === UNANSWERED && seen === null
