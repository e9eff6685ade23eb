// Questions and answers of the calls of gantry-calls.ts.
import type { ObjectKind } from '../../model/object-kinds'
import type { JobId, QueryFilter, QueryResource, WireOpCode } from './calls'

/** Who asks. `permissions` are those of the user; a token narrows them, which the master looks up itself. */
export interface Identity {
  readonly user: string
  /** The id of the token that the caller showed, or null for a password. */
  readonly token: string | null
  readonly permissions: readonly string[]
}

export interface ViewRequest {
  readonly what: QueryResource
  /** Only this object. */
  readonly name: string | null
  readonly fields: readonly string[]
  readonly filter: QueryFilter
  /** Null for the order of the keys. */
  readonly sort: ViewSort | null
  /** What the page before told as `next`. */
  readonly after: string | null
  readonly limit: number
  /** Live data comes from what nodes said last; else they are asked. */
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

/** An object and the serial number that it must still have. */
export interface Precondition {
  readonly kind: ObjectKind
  readonly uuid: string
  readonly serial_no: number
}

export interface SubmitRequest {
  readonly ops: readonly WireOpCode[]
  readonly reason: string | null
  /** The caller's Idempotency-Key, and the digest of what it stands for. */
  readonly key: string | null
  readonly digest: string
  readonly match: readonly Precondition[]
  /** The id of a plan: what it has read must not have changed. */
  readonly plan: string | null
}

export interface Submitted {
  readonly job: JobId
  /** The key was known: this is the job of the first submission. */
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
export type EventType = (typeof EVENT_TYPES)[number]

/** The kinds of objects that events are about, beside the cluster itself: `instance/vm1`. */
export const EVENT_KINDS = ['job', 'instance', 'node', 'group', 'network', 'disk', 'filter'] as const

export interface ClusterEvent {
  /** `<epoch>-<seq>` */
  readonly id: string
  readonly type: EventType
  /** Seconds since the epoch. */
  readonly time: number
  /** The object that it is about: `instance/vm1`, `job/12`. */
  readonly objects: readonly string[]
  readonly data: Readonly<Record<string, unknown>>
}

export interface EventRequest {
  /** The id of the last event that was seen; null begins with what happens from now on. */
  readonly after: string | null
  /** Empty for all. */
  readonly types: readonly string[]
  /** Empty for all; `instance/*` for a kind. */
  readonly objects: readonly string[]
  /** Seconds to wait for an event when there is none. */
  readonly timeout_s: number
}

export interface EventPage {
  readonly events: readonly ClusterEvent[]
  /** Everything up to this id was looked at. */
  readonly last: string
  /** Why events are missing before these, or null when none are. */
  readonly gap: string | null
}

export interface TokenScope {
  readonly permissions: readonly string[]
  /** Objects with one of these tags; empty for all. */
  readonly tags: readonly string[]
  /** Objects of these groups; empty for all. */
  readonly groups: readonly string[]
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
