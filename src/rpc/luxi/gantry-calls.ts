// The calls that /3 makes to the master beyond Ganeti's, each declared once: extension calls of LUXI, whose names begin with `Gantry`. Client,
// server and services take their types from here.
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
import type { EventPage, Identity, Submitted, TokenInfo, ViewPage } from './gantry'
import { eventRequest, identity, newToken, planRequest, submitRequest, viewRequest } from './gantry-arguments'
import type { InstanceHistories } from './history'
import { type MeasuredNode, type MonitoringPage, monitoringRequest } from './monitoring'
import type { Plan } from './plan'
import type { NodeStorage, TagUse } from './resources'
import { type WatcherInfo, watcherReport } from './watcher-report'

type Checks = readonly Shape<unknown>[]

interface GantryCall<A extends Checks, R> {
  readonly wire: string
  readonly args: A
  readonly result: Result<R>
  /** Nothing is different after it, so it may be asked again. */
  readonly asks: boolean
  /** The permission that every caller needs; null where it depends on what is asked. */
  readonly needs: Permission | null
  /** Arguments that cannot be read are refused in Ganeti's words. */
  readonly ganetis: boolean
}

interface Result<R> {
  /** Only its type matters. */
  readonly type?: R
}

const of = <R>(): Result<R> => ({})

type More = Partial<Pick<GantryCall<Checks, unknown>, 'asks' | 'needs' | 'ganetis'>>

const call = <const A extends Checks, R>(
  wire: string,
  args: A,
  result: Result<R>,
  { asks = false, needs = null, ganetis = false }: More = {},
): GantryCall<A, R> => ({ wire, args, result, asks, needs, ganetis })

/** The identity of the caller comes first, and the master decides what it may see and do. */
const callersCalls = {
  view: call('GantryView', [viewRequest], of<ViewPage>(), { asks: true }),
  cluster: call('GantryCluster', [], of<Record<string, unknown>>(), { asks: true, needs: 'cluster.info' }),
  submit: call('GantrySubmit', [submitRequest], of<Submitted>()),
  plan: call('GantryPlan', [planRequest], of<Plan>(), { asks: true }),
  /** These three may take a while: who asks may leave, and has a job after the seconds of the last argument; null waits as long as it may. */
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
  /** Whether the job ends within that many seconds. */
  wait: call('GantryWait', [jobId, float], of<boolean>(), { asks: true }),
  events: call('GantryEvents', [eventRequest], of<EventPage>(), { asks: true, needs: 'events.query' }),
  /**
   * The figures that the master's daemons and the nodes measure, each as prom-client's JSON. wconfd is left out when it does not
   * answer soon; nodes are shown as they told last, and those that never told are left out.
   */
  metrics: call('GantryMetrics', [], of<unknown[][]>(), { asks: true, needs: 'cluster.info' }),
  /** Waits for the nodes, and no longer than MONITORING_S. */
  monitoring: call('GantryMonitoring', [monitoringRequest], of<MonitoringPage>(), { asks: true, needs: 'nodes.query' }),
  /** Shows nodes as they told last, and has them asked for the next time. */
  measuredNodes: call('GantryMeasuredNodes', [], of<MeasuredNode[]>(), { asks: true, needs: 'nodes.list' }),
  /** What they were busy with since that time, in seconds since the epoch, as far as it is kept. */
  nodeHistory: call('GantryNodeHistory', [text, float], of<NodeHistory>(), { asks: true, needs: 'nodes.query' }),
  instanceHistory: call('GantryInstanceHistory', [text, float], of<InstanceHistories>(), {
    ...{ asks: true, needs: 'instances.info' },
  }),
  /** Until when the watcher rests, and what its last runs did. */
  watcher: call('GantryWatcher', [], of<WatcherInfo>(), { asks: true, needs: 'cluster.info' }),
  /** Until then, in seconds since the epoch, the watcher rests; null ends a pause. */
  pauseWatcher: call('GantryPauseWatcher', [orNull(float)], of<WatcherInfo>(), { needs: 'cluster.modify' }),
  /** A queue that is drained takes no new jobs. */
  drainQueue: call('GantryDrainQueue', [bool], of<null>(), { needs: 'cluster.modify' }),
  /** What one node keeps disks on, by type. */
  storage: call('GantryStorage', [text], of<NodeStorage[]>(), { asks: true, needs: 'nodes.storage.query' }),
  tags: call('GantryTags', [], of<TagUse[]>(), { asks: true, needs: 'tags.get' }),
  /** Refuses who may not read the users of the remote API, whom only that knows. */
  users: call('GantryUsers', [], of<null>(), { asks: true, needs: 'users.list' }),
  /** Those of one instance's disks. */
  snapshots: call('GantrySnapshots', [text], of<ShownSnapshot[]>(), { asks: true, needs: 'instances.info' }),
  /** The consoles of one instance. */
  consoles: call('GantryConsoles', [text], of<ConsoleChoices>(), { asks: true, needs: OpInstanceConsole.permission }),
  /** Opens one. What it answers goes on as a line of messages. */
  console: call('GantryConsole', [consoleRequest], of<ConsoleTalk>(), { needs: OpInstanceConsole.permission }),
  /** The names of all permissions that the caller has. */
  rights: call('GantryRights', [], of<string[]>(), { asks: true }),
  tokens: call('GantryTokens', [], of<TokenInfo[]>(), { asks: true, needs: 'tokens.list' }),
  /** The secret is told here and never again. */
  addToken: call('GantryAddToken', [newToken], of<{ token: TokenInfo; secret: string }>(), { needs: 'tokens.create' }),
  removeToken: call('GantryRemoveToken', [text], of<null>(), { needs: 'tokens.revoke' }),
  maintenance: call('GantryMaintenance', [], of<MaintenanceView>(), { asks: true, needs: 'maintenance.query' }),
  /** Nothing more is done about the event; the jobs that there are go on. */
  cancelRepair: call('GantryCancelRepair', [text], of<MaintenanceEvent>(), { needs: 'maintenance.cancel' }),
  /** Answers the job that removes the event's tag. */
  acknowledgeRepair: call('GantryAcknowledgeRepair', [text], of<JobId>(), { needs: 'maintenance.acknowledge' }),
  /** Answers the job that sets them. */
  setMaintenance: call('GantrySetMaintenance', [object], of<JobId>(), { needs: 'cluster.modify' }),
  /** As the calls of these names, but events tell who it was. */
  replaceFilter: call('GantryReplaceFilter', filterRule, of<string>(), { ganetis: true }),
  deleteFilter: call('GantryDeleteFilter', [text], of<null>(), { needs: 'filter.remove', ganetis: true }),
}

const doorsCalls = {
  /** The token that this secret belongs to, or null. */
  identify: call('GantryIdentify', [text], of<TokenInfo | null>(), { asks: true }),
  /** A run of the watcher has ended. */
  watched: call('GantryWatched', [watcherReport], of<null>()),
  /** Before a stop: no more jobs are started, and those that only wait for locks are queued again. Answers those that run. */
  park: call('GantryPark', [], of<JobId[]>()),
}

export const gantryCalls = { ...callersCalls, ...doorsCalls }

export type CallersCallName = keyof typeof callersCalls
export type GantryCallName = keyof typeof gantryCalls

export const isCallersCall = (name: GantryCallName): name is CallersCallName => Object.hasOwn(callersCalls, name)
export const gantryCallNames = Object.keys(gantryCalls) as readonly GantryCallName[]
export const callersCallNames = gantryCallNames.filter(isCallersCall)

/** How all arguments of a call are read. */
export const gantryArguments = (name: GantryCallName): Checks =>
  isCallersCall(name) ? [identity, ...gantryCalls[name].args] : gantryCalls[name].args

type ValuesOf<A extends Checks> = { -readonly [I in keyof A]: ValueOf<A[I]> }
export type GantryResult<N extends GantryCallName> =
  (typeof gantryCalls)[N] extends GantryCall<Checks, infer R> ? R : never
/** `signal`: the caller has left. */
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

/** Nothing is different after such a call. */
export const onlyAsks = (method: string): boolean =>
  method.startsWith('Query') || method === 'WaitForJobChange' || ASKING.has(method)
