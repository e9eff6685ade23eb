// What /3 asks of the master beyond Ganeti's calls: extension calls of LUXI, whose names begin with `Gantry`. The caller's identity
// comes with each call, and the master decides what it may see and do.
import type { ObjectKind } from '../../model/object-kinds'
import type { BalanceRequest, Capacity, CapacityRequest, WhatIf, WhatIfRequest } from '../../model/allocation'
import type { Answered, PlannedBalance } from './allocation'
import type { Plan, PlanRequest } from './plan'
import type { JobId, Master, QueryFilter, QueryResource, WireOpCode } from './calls'

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
  /** The key of the last object of the page before. */
  readonly after: string | null
  readonly limit: number
  /** What nodes have to tell comes from what they said last; else they are asked. */
  readonly known: boolean
}

export interface ViewPage {
  readonly rows: readonly (readonly unknown[])[]
  /** What to give as `after` for the next page, or null when this is the last one. */
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

export const EVENT_TYPES = ['job', 'log', 'config', 'instance', 'node', 'master', 'gap'] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** The kinds of objects that events are about, beside the cluster itself: `instance/vm1`. */
export const EVENT_KINDS = ['job', 'instance', 'node', 'group', 'network', 'disk', 'filter'] as const

export interface ClusterEvent {
  /** `<epoch>-<seq>` */
  readonly id: string
  readonly type: EventType
  /** Seconds since the epoch. */
  readonly time: number
  /** What it is about: `instance/vm1`, `job/12`. */
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

export interface GantryMaster {
  view(identity: Identity, request: ViewRequest): Promise<ViewPage>
  cluster(identity: Identity): Promise<Record<string, unknown>>
  submit(identity: Identity, request: SubmitRequest, signal?: AbortSignal): Promise<Submitted>
  plan(identity: Identity, request: PlanRequest): Promise<Plan>
  /** These three may take a while: who asks may leave, and has a job after `wait_s`; null waits as long as it may. */
  balance(
    identity: Identity,
    request: BalanceRequest,
    wait_s: number | null,
    signal?: AbortSignal,
  ): Promise<Answered<PlannedBalance>>
  capacity(
    identity: Identity,
    request: CapacityRequest,
    wait_s: number | null,
    signal?: AbortSignal,
  ): Promise<Answered<Capacity>>
  whatIf(
    identity: Identity,
    request: WhatIfRequest,
    wait_s: number | null,
    signal?: AbortSignal,
  ): Promise<Answered<WhatIf>>
  cancel(identity: Identity, job: JobId): Promise<[boolean, string]>
  changePriority(identity: Identity, job: JobId, priority: number): Promise<[boolean, string]>
  archive(identity: Identity, job: JobId): Promise<[boolean, string]>
  /** Whether the job ends within that time. */
  wait(identity: Identity, job: JobId, wait_s: number, signal?: AbortSignal): Promise<boolean>
  events(identity: Identity, request: EventRequest): Promise<EventPage>
  /**
   * What the master's daemons and the nodes measure, each as prom-client's JSON. wconfd is left out when it does not
   * answer soon; nodes are shown as they told last, and those that never told are left out.
   */
  metrics(identity: Identity): Promise<unknown[][]>
  /** The token that this secret belongs to, or null. */
  identify(secret: string): Promise<TokenInfo | null>
  tokens(identity: Identity): Promise<TokenInfo[]>
  /** The secret is told here and never again. */
  addToken(identity: Identity, token: NewToken): Promise<{ token: TokenInfo; secret: string }>
  removeToken(identity: Identity, id: string): Promise<null>
  /** As the calls of these names, but events tell who it was. */
  replaceFilter(identity: Identity, ...rule: Parameters<Master['replaceFilter']>): Promise<string>
  deleteFilter(identity: Identity, uuid: string): Promise<null>
  /** Before a stop: no more jobs are started, and those that only wait for locks are queued again. Answers those that run. */
  park(): Promise<JobId[]>
}

/** The names of the calls on the wire. */
export const GANTRY_CALLS: Readonly<Record<keyof GantryMaster, string>> = {
  view: 'GantryView',
  cluster: 'GantryCluster',
  submit: 'GantrySubmit',
  plan: 'GantryPlan',
  balance: 'GantryBalance',
  capacity: 'GantryCapacity',
  whatIf: 'GantryWhatIf',
  cancel: 'GantryCancel',
  changePriority: 'GantryChangeJobPriority',
  archive: 'GantryArchiveJob',
  wait: 'GantryWait',
  events: 'GantryEvents',
  metrics: 'GantryMetrics',
  identify: 'GantryIdentify',
  tokens: 'GantryTokens',
  addToken: 'GantryAddToken',
  removeToken: 'GantryRemoveToken',
  replaceFilter: 'GantryReplaceFilter',
  deleteFilter: 'GantryDeleteFilter',
  park: 'GantryPark',
}

const ASKING: readonly string[] = (
  ['view', 'cluster', 'wait', 'plan', 'events', 'metrics', 'identify', 'tokens'] as const
).map((name) => GANTRY_CALLS[name])

/** Nothing is different after such a call. */
export const onlyAsks = (method: string): boolean =>
  method.startsWith('Query') || method === 'WaitForJobChange' || ASKING.includes(method)
