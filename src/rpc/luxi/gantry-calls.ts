// Calls of `/3` to the master beyond Ganeti's, each declared once: extension calls of LUXI, with names that begin with
// `Gantry`. Client, server and services take their types from here.
import type { Capacity, WhatIf } from '../../model/allocation'
import { OpClusterBalance, OpClusterCapacity, OpClusterWhatIf } from '../../opcodes/allocation'
import { orNull } from '../../lib/shapes/containers'
import { bool, float, int, object, text } from '../../lib/shapes/leaves'
import { OpInstanceConsole } from '../../opcodes/instance'
import type { Shape, ValueOf } from '../../lib/shapes/shape'
import type { NodeHistory } from '../../model/history'
import type { MaintenanceEvent, MaintenanceView } from '../../model/maintenance'
import type { ShownSnapshot } from '../../model/snapshots'
import type { Permission } from '../../opcodes/opcode'
import { jobId } from '../../opcodes/types'
import {
  type Answered,
  balanceRequest,
  capacityRequest,
  patience,
  type PlannedBalance,
  whatIfRequest,
} from './allocation'
import { filterRule } from './call-arguments'
import type { JobId } from './calls'
import { type ConsoleChoices, consoleRequest, type ConsoleTalk } from './consoles'
import type { CallerRights, EventPage, Identity, PastEventsPage, Submitted, TokenInfo, ViewPage } from './gantry'
import {
  eventRequest,
  identity,
  newToken,
  pastEventsRequest,
  planRequest,
  submitRequest,
  viewRequest,
} from './gantry-arguments'
import type { InstanceHistories } from './history'
import { type MeasuredNode, type MonitoringPage, monitoringRequest } from './monitoring'
import type { Plan } from './plan'
import type { NodeStorage, QueueCopy, TagUse } from './resources'
import { type WatcherInfo, watcherReport } from './watcher-report'

type Checks = readonly Shape<unknown>[]

interface GantryCall<A extends Checks, R> {
  readonly wire: string
  readonly args: A
  readonly result: Result<R>
  /** It changes nothing, so it may be repeated. */
  readonly asks: boolean
  /** The permission that every caller needs; null if it depends on the arguments. */
  readonly needs: Permission | null
  /** Permissions that it may need, depending on the arguments. */
  readonly mayNeed: readonly Permission[]
  /** It concerns everybody, so a token with a scope may not use it. */
  readonly forEverybody: boolean
  /** Unparsable arguments are refused in Ganeti's words. */
  readonly ganetis: boolean
}

interface Result<R> {
  /** Exists only for its type. */
  readonly type?: R
}

const of = <R>(): Result<R> => ({})

type More = Partial<Pick<GantryCall<Checks, unknown>, 'asks' | 'needs' | 'mayNeed' | 'forEverybody' | 'ganetis'>>

const call = <const A extends Checks, R>(
  wire: string,
  args: A,
  result: Result<R>,
  { asks = false, needs = null, mayNeed = [], forEverybody = false, ganetis = false }: More = {},
): GantryCall<A, R> => ({ wire, args, result, asks, needs, mayNeed, forEverybody, ganetis })

/** The caller's identity comes first; the master decides what the caller may see and do. */
const callersCalls = {
  view: call('GantryView', [viewRequest], of<ViewPage>(), { asks: true }),
  cluster: call('GantryCluster', [], of<Record<string, unknown>>(), { asks: true, needs: 'cluster.info' }),
  submit: call('GantrySubmit', [submitRequest], of<Submitted>()),
  plan: call('GantryPlan', [planRequest], of<Plan>(), { asks: true }),
  /**
   * These three may take long, and the caller may leave. After the seconds of the last argument the question becomes a
   * job; null waits up to the maximum.
   */
  balance: call('GantryBalance', [balanceRequest, patience], of<Answered<PlannedBalance>>(), {
    needs: OpClusterBalance.permission,
  }),
  capacity: call('GantryCapacity', [capacityRequest, patience], of<Answered<Capacity>>(), {
    needs: OpClusterCapacity.permission,
  }),
  whatIf: call('GantryWhatIf', [whatIfRequest, patience], of<Answered<WhatIf>>(), {
    needs: OpClusterWhatIf.permission,
  }),
  cancel: call('GantryCancel', [jobId], of<[boolean, string]>(), { needs: 'jobs.cancel' }),
  changePriority: call('GantryChangeJobPriority', [jobId, int], of<[boolean, string]>(), {
    needs: 'jobs.change_priority',
  }),
  archive: call('GantryArchiveJob', [jobId], of<[boolean, string]>(), { needs: 'jobs.archive' }),
  /** Whether the job ends within these seconds. */
  wait: call('GantryWait', [jobId, float], of<boolean>(), { asks: true }),
  events: call('GantryEvents', [eventRequest], of<EventPage>(), { asks: true, needs: 'events.query' }),
  pastEvents: call('GantryPastEvents', [pastEventsRequest], of<PastEventsPage>(), {
    ...{ asks: true, needs: 'events.query' },
  }),
  /**
   * Figures of the master's daemons and the nodes, each as prom-client's JSON. Omits wconfd if it does not answer soon.
   * Shows the nodes' last figures; omits nodes that never answered. Null for a token with a scope: the figures are about
   * everybody's work, on all nodes.
   */
  metrics: call('GantryMetrics', [], of<unknown[][] | null>(), { asks: true, needs: 'cluster.info' }),
  /** Waits for the nodes, but at most MONITORING_S. */
  monitoring: call('GantryMonitoring', [monitoringRequest], of<MonitoringPage>(), {
    asks: true,
    needs: 'nodes.query',
    forEverybody: true,
  }),
  /** Shows the nodes' last reports, and asks them again for the next call. */
  measuredNodes: call('GantryMeasuredNodes', [], of<MeasuredNode[]>(), { asks: true, needs: 'nodes.list' }),
  /** Their usage since this time (seconds since the epoch), as far as it is kept. */
  nodeHistory: call('GantryNodeHistory', [text, float], of<NodeHistory>(), {
    asks: true,
    needs: 'nodes.query',
    forEverybody: true,
  }),
  instanceHistory: call('GantryInstanceHistory', [text, float], of<InstanceHistories>(), {
    ...{ asks: true, needs: 'instances.info' },
  }),
  /** The end of the watcher's pause, and what its last runs did. */
  watcher: call('GantryWatcher', [], of<WatcherInfo>(), { asks: true, needs: 'cluster.info', forEverybody: true }),
  /** Pauses the watcher until this time (seconds since the epoch); null ends the pause. */
  pauseWatcher: call('GantryPauseWatcher', [orNull(float)], of<WatcherInfo>(), {
    needs: 'cluster.modify',
    forEverybody: true,
  }),
  /** A drained queue takes no new jobs. */
  drainQueue: call('GantryDrainQueue', [bool], of<null>(), { needs: 'cluster.modify', forEverybody: true }),
  /** A node's storage for disks, by type. */
  storage: call('GantryStorage', [text], of<NodeStorage[]>(), { asks: true, needs: 'nodes.storage.query' }),
  tags: call('GantryTags', [], of<TagUse[]>(), { asks: true, needs: 'tags.get' }),
  /** Only checks the permission: the remote API itself knows its users. */
  users: call('GantryUsers', [], of<null>(), { asks: true, needs: 'users.list', forEverybody: true }),
  /** Snapshots of one instance's disks. */
  snapshots: call('GantrySnapshots', [text], of<ShownSnapshot[]>(), { asks: true, needs: 'instances.info' }),
  /** The consoles of one instance. */
  consoles: call('GantryConsoles', [text], of<ConsoleChoices>(), { asks: true, needs: OpInstanceConsole.permission }),
  /** Opens a console. Its connection then carries messages. */
  console: call('GantryConsole', [consoleRequest], of<ConsoleTalk>(), { needs: OpInstanceConsole.permission }),
  rights: call('GantryRights', [], of<CallerRights>(), { asks: true }),
  tokens: call('GantryTokens', [], of<TokenInfo[]>(), { asks: true, needs: 'tokens.list' }),
  /** Only this answer contains the secret. */
  addToken: call('GantryAddToken', [newToken], of<{ token: TokenInfo; secret: string }>(), { needs: 'tokens.create' }),
  removeToken: call('GantryRemoveToken', [text], of<null>(), { needs: 'tokens.revoke' }),
  maintenance: call('GantryMaintenance', [], of<MaintenanceView>(), {
    asks: true,
    needs: 'maintenance.query',
    forEverybody: true,
  }),
  /** Stops work on the event; existing jobs go on. */
  cancelRepair: call('GantryCancelRepair', [text], of<MaintenanceEvent>(), {
    needs: 'maintenance.cancel',
    forEverybody: true,
  }),
  /** Returns the job that removes the event's tag. */
  acknowledgeRepair: call('GantryAcknowledgeRepair', [text], of<JobId>(), {
    needs: 'maintenance.acknowledge',
    forEverybody: true,
  }),
  /** Returns the job that sets them. */
  setMaintenance: call('GantrySetMaintenance', [object], of<JobId>(), { needs: 'cluster.modify', forEverybody: true }),
  /** Like the calls of these names, but events name the caller. */
  replaceFilter: call('GantryReplaceFilter', filterRule, of<string>(), {
    ...{ mayNeed: ['filter.create', 'filter.modify'], forEverybody: true, ganetis: true },
  }),
  deleteFilter: call('GantryDeleteFilter', [text], of<null>(), {
    needs: 'filter.remove',
    forEverybody: true,
    ganetis: true,
  }),
}

const doorsCalls = {
  /** The token that this secret belongs to, or null. */
  identify: call('GantryIdentify', [text], of<TokenInfo | null>(), { asks: true }),
  /** Reports the end of a watcher run. */
  watched: call('GantryWatched', [watcherReport], of<null>()),
  queueCopies: call('GantryQueueCopies', [], of<QueueCopy[]>(), { asks: true }),
  /** Before a stop: starts no more jobs, and queues those again that only wait for locks. Returns the running ones. */
  park: call('GantryPark', [], of<JobId[]>()),
}

export const gantryCalls = { ...callersCalls, ...doorsCalls }

export type CallersCallName = keyof typeof callersCalls
export type GantryCallName = keyof typeof gantryCalls

const isCallersCall = (name: GantryCallName): name is CallersCallName => Object.hasOwn(callersCalls, name)
export const gantryCallNames = Object.keys(gantryCalls) as readonly GantryCallName[]
export const callersCallNames = gantryCallNames.filter(isCallersCall)

/** The checks of all arguments of a call. */
export const gantryArguments = (name: GantryCallName): Checks =>
  isCallersCall(name) ? [identity, ...gantryCalls[name].args] : gantryCalls[name].args

type ValuesOf<A extends Checks> = { -readonly [I in keyof A]: ValueOf<A[I]> }
export type GantryResult<N extends GantryCallName> =
  (typeof gantryCalls)[N] extends GantryCall<Checks, infer R> ? R : never
/** `signal` fires when the caller leaves. */
export type GantryArguments<N extends GantryCallName> = [
  ...ValuesOf<(typeof gantryCalls)[N]['args']>,
  signal?: AbortSignal,
]

export type GantryMaster = {
  readonly [N in CallersCallName]: (identity: Identity, ...args: GantryArguments<N>) => Promise<GantryResult<N>>
} & { readonly [N in keyof typeof doorsCalls]: (...args: GantryArguments<N>) => Promise<GantryResult<N>> }

const ASKING: ReadonlySet<string> = new Set(
  Object.values(gantryCalls).flatMap(({ wire, asks }) => (asks ? [wire] : [])),
)

/** Whether such a call changes nothing. */
export const onlyAsks = (method: string): boolean =>
  method.startsWith('Query') || method === 'WaitForJobChange' || ASKING.has(method)
