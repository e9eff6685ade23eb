// Questions and answers of the calls of gantry-calls.ts.
import type { ObjectKind } from '../../model/object-kinds'
import type { JobId, QueryFilter, QueryResource, WireOpCode } from './calls'

/** The caller. `permissions` are the user's; the master itself looks up how a token narrows them. */
export interface Identity {
  readonly user: string
  /** The id of the caller's token, or null for a password. */
  readonly token: string | null
  readonly permissions: readonly string[]
}

export interface ViewRequest {
  readonly what: QueryResource
  /** Only this object. */
  readonly name: string | null
  readonly fields: readonly string[]
  readonly filter: QueryFilter
  /** Null: in the order of the keys. */
  readonly sort: ViewSort | null
  /** The `next` of the previous page. */
  readonly after: string | null
  readonly limit: number
  /** True: use the nodes' last answers. False: ask them. */
  readonly known: boolean
}

export interface ViewSort {
  readonly field: string
  readonly descending: boolean
}

export interface ViewPage {
  readonly rows: readonly (readonly unknown[])[]
  /** The value of `after` for the next page, or null when this is the last one. */
  readonly next: string | null
}

/** An object, and the serial number that it must still have. */
export interface Precondition {
  readonly kind: ObjectKind
  readonly uuid: string
  readonly serial_no: number
}

export interface SubmitRequest {
  readonly ops: readonly WireOpCode[]
  readonly reason: string | null
  /** The caller's Idempotency-Key, and the digest of the request. */
  readonly key: string | null
  readonly digest: string
  readonly match: readonly Precondition[]
  /** The id of a plan: nothing that it has read may have changed. */
  readonly plan: string | null
}

export interface Submitted {
  readonly job: JobId
  /** The key was known: this is the first submission's job. */
  readonly replayed: boolean
}

export const EVENT_TYPES = [
  'job',
  'log',
  'config',
  'instance',
  'node',
  'master',
  'watcher',
  'maintenance',
  'gap',
] as const
type EventType = (typeof EVENT_TYPES)[number]

/** The kinds of objects that events are about, besides the cluster: `instance/vm1`. */
export const EVENT_KINDS = ['job', 'instance', 'node', 'group', 'network', 'disk', 'filter', 'token'] as const

export interface ClusterEvent {
  /** `<epoch>-<seq>` */
  readonly id: string
  readonly type: EventType
  /** Seconds since the epoch. */
  readonly time: number
  /** The objects of the event: `instance/vm1`, `job/12`. */
  readonly objects: readonly string[]
  readonly data: Readonly<Record<string, unknown>>
}

export interface EventRequest {
  /** The id of the last event that the reader has; null begins now. */
  readonly after: string | null
  /** Empty for all. */
  readonly types: readonly string[]
  /** Empty for all; `instance/*` for a kind. */
  readonly objects: readonly string[]
  /** Seconds to wait if there is no event. */
  readonly timeout_s: number
}

export interface EventPage {
  readonly events: readonly ClusterEvent[]
  /** The id of the last event that was considered. */
  readonly last: string
  /** Why earlier events are missing, or null if none are. */
  readonly gap: string | null
}

export interface PastEventsRequest extends Pick<EventRequest, 'types' | 'objects'> {
  /** The id of the last event of the page before; null begins with the newest. */
  readonly before: string | null
  readonly limit: number
}

export interface PastEventsPage {
  /** The newest first. */
  readonly events: readonly ClusterEvent[]
  /** The `before` of the next page; null on the last one. */
  readonly next: string | null
}

export interface TokenScope {
  readonly permissions: readonly string[]
  /** Objects with one of these tags; empty for all. */
  readonly tags: readonly string[]
  /** Objects of these groups; empty for all. */
  readonly groups: readonly string[]
}

/** What the caller may do. */
export interface CallerRights {
  /** The names of its permissions. */
  readonly permissions: readonly string[]
  /** The objects for which a token with a scope has them; null for all. */
  readonly scope: Pick<TokenScope, 'tags' | 'groups'> | null
  /** Permissions without use to a token with a scope, because all that needs them concerns everybody. */
  readonly beyond_scope: readonly string[]
  /** Kinds of objects of which the token's scope has none, such as `node`. */
  readonly empty_kinds: readonly string[]
}

export interface TokenInfo extends TokenScope {
  readonly id: string
  readonly name: string
  readonly user: string
  /** Seconds since the epoch. */
  readonly created: number
  readonly expires: number | null
}

export interface NewToken extends TokenScope {
  readonly name: string
  readonly expires: number | null
}
