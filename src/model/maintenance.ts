// The memory of the maintenance daemon in gantry.data: its settings, the repair events, and the current round.
import { isObject, type JsonObject } from '../lib/shapes/shape'
import type { GantryData } from './config'
import { ECODE, OpPrereqError } from './errors'

/** Sections of gantry.data. The settings are not secret: every candidate's confd gets them. */
export const MAINTENANCE = {
  settings: 'maintenance',
  events: 'maintenance-events',
  rounds: 'maintenance-rounds',
} as const

/** The key of the round below MAINTENANCE.rounds, and of the list of actions that a dry run would take. */
export const ROUND_KEY = 'round'
export const OUTLOOK_KEY = 'outlook'
export const PROBLEMS_KEY = 'problems'
/** The time of each node's last new report, so that the next maintd can also recognize a replay. */
export const REPORTED_KEY = 'reported'

/** A problem that begins with this is one of the node's program; others are of its clock, its key or its connection. */
export const SELF_DIAGNOSIS = 'its self-diagnosis'

export const MAINTD_SOURCE = 'gnt:daemon:maintd'
export const READY_TAG = 'maintd:repairready:'
export const FAILED_TAG = 'maintd:repairfailed:'

/** Ordered from the least to the most invasive. */
export const REPAIR_ACTIONS = ['live-repair', 'evacuate', 'evacuate-failover'] as const
export type RepairAction = (typeof REPAIR_ACTIONS)[number]

export const REPAIR_STATUSES = ['noted', 'pending', 'canceled', 'failed', 'completed'] as const
type RepairStatus = (typeof REPAIR_STATUSES)[number]

/** A fault of a node, from the first report until somebody has acknowledged the result. */
export interface RepairEvent {
  readonly id: string
  /** The node's uuid. */
  readonly node: string
  /** The exact object that the node's self-diagnosis printed. */
  readonly original: JsonObject
  readonly action: RepairAction
  readonly status: RepairStatus
  readonly jobs: readonly number[]
  /** The node's tag, now or when all is done. */
  readonly tag: string
  /** Whether the node has got the tag. Only then a missing tag means that somebody removed it. */
  readonly tagged: boolean
  /** Whether the node was made unfit for instances, because a master cannot be drained. */
  readonly unfit?: boolean
  /** Why the event does not go on, for people; null if it does. */
  readonly note: string | null
  readonly ctime: number
  readonly mtime: number
  readonly serial_no: number
}

/** A job of a round; its number is null until it is known to have been submitted. */
export interface RoundJob {
  readonly key: number
  readonly job: number | null
  readonly kind: RoundJobKind
  /** The event of the job; null for repairs of instances and for balancing. */
  readonly event: string | null
  readonly text: string
  /** Names of the nodes and instances that it touches. */
  readonly nodes: readonly string[]
  readonly instances: readonly string[]
  /** A tag to set once the job's number is known: `{}` stands for the number. */
  readonly tagLater?: string
}

type RoundJobKind =
  'drain' | 'unfit' | 'move' | 'copy' | 'offline' | 'repair-command' | 'tag' | 'repair' | 'repair-tag' | 'balance'

/** A round is written before its jobs are submitted. A maintd that finds one checks which of its jobs exist. */
export interface Round {
  readonly id: string
  readonly began: number
  readonly jobs: readonly RoundJob[]
  /** Whether we know which of the jobs were submitted. */
  readonly resolved: boolean
  /** Whether the tags that announce repairs were submitted too. */
  readonly tagged: boolean
  readonly serial_no: number
}

export interface MaintenanceSettings {
  /** Seconds until the next check after one that found nothing to do. */
  readonly round_delay: number
  readonly balance: boolean
  /** The least gain that is worth a move. @isDouble */
  readonly balance_threshold: number
  readonly balance_load: boolean
  readonly balance_disks: boolean
  readonly evacuation: boolean
  readonly evacuation_disks: boolean
  /** Instances whose disks evacuations copy at the same time. */
  readonly evacuation_copies: number
  readonly evacuation_offline: boolean
  readonly live_repair: boolean
  readonly harep: boolean
  readonly restart: boolean
  readonly dry_run: boolean
  readonly diagnose_command: string
}

/** Settings to change; the others stay. */
export interface MaintenanceChanges {
  /** Seconds until the next check after one that found nothing to do. @isInt @minimum 1 */
  round_delay?: number
  balance?: boolean
  /** The least gain that is worth a move. @isDouble */
  balance_threshold?: number
  /** Whether balancing considers the load that nodes measure. */
  balance_load?: boolean
  /** Whether balancing may move mirrors to other nodes, which copies disks. */
  balance_disks?: boolean
  evacuation?: boolean
  /** Whether evacuations give mirrors other nodes, which copies disks. */
  evacuation_disks?: boolean
  /** Instances whose disks evacuations copy at the same time. @isInt @minimum 1 */
  evacuation_copies?: number
  /** Whether a node goes offline when it is empty; otherwise it stays drained. */
  evacuation_offline?: boolean
  live_repair?: boolean
  harep?: boolean
  /** Whether instances that have ended by themselves are started within seconds, and disks activated. */
  restart?: boolean
  dry_run?: boolean
  /** The name of a program in node-diagnose-commands; empty for none. */
  diagnose_command?: string
}

/** The parameter of OP_CLUSTER_SET_PARAMS for each setting. */
export const MAINTENANCE_PARAMETERS = {
  round_delay: 'maint_round_delay',
  balance: 'maint_balance',
  balance_threshold: 'maint_balance_threshold',
  balance_load: 'maint_balance_load',
  balance_disks: 'maint_balance_disks',
  evacuation: 'maint_evacuation',
  evacuation_disks: 'maint_evacuation_disks',
  evacuation_copies: 'maint_evacuation_copies',
  evacuation_offline: 'maint_evacuation_offline',
  live_repair: 'maint_live_repair',
  harep: 'maint_harep',
  restart: 'maint_restart',
  dry_run: 'maint_dry_run',
  diagnose_command: 'diagnose_data_collector_filename',
} as const satisfies Record<keyof MaintenanceSettings, string>

/** The settings, under the names of their parameters, as the cluster shows them. */
export interface MaintenanceInfo {
  /** Seconds until the next check after one that found nothing to do. */
  maint_round_delay: number
  maint_balance: boolean
  /** The least gain that is worth a move. @isDouble */
  maint_balance_threshold: number
  maint_balance_load: boolean
  maint_balance_disks: boolean
  maint_evacuation: boolean
  maint_evacuation_disks: boolean
  /** Instances whose disks evacuations copy at the same time. */
  maint_evacuation_copies: number
  maint_evacuation_offline: boolean
  maint_live_repair: boolean
  maint_harep: boolean
  maint_restart: boolean
  maint_dry_run: boolean
  /** The program in node-diagnose-commands that reports a node's health; empty for none. */
  diagnose_data_collector_filename: string
}

export function maintenanceInfo(gantry: Pick<GantryData, 'sections'>): MaintenanceInfo {
  const all = Object.entries(maintenanceSettings(gantry)).map(([name, value]: [string, unknown]) => {
    const [, parameter = name] = Object.entries(MAINTENANCE_PARAMETERS).find(([one]) => one === name) ?? []
    return [parameter, value] as const
  })
  // Both tables have the same settings.
  return Object.fromEntries(all) as unknown as MaintenanceInfo
}

/**
 * Converts settings to parameters of the opcode that changes the cluster. Throws if one is unknown, or if there are
 * none.
 */
export function maintenanceParameters(settings: JsonObject): JsonObject {
  const input = Object.entries(settings).map(([name, value]): [string, unknown] => {
    const parameter = Object.entries(MAINTENANCE_PARAMETERS).find(([one]) => one === name)?.[1]
    if (parameter !== undefined) return [parameter, value]
    const all = Object.keys(MAINTENANCE_PARAMETERS).join(', ')
    throw new OpPrereqError(`${name}: there is no such setting, only ${all}`, ECODE.INVAL)
  })
  if (input.length === 0) throw new OpPrereqError('Name a setting to be changed', ECODE.INVAL)
  return Object.fromEntries<unknown>(input)
}

/** A new cluster's maintenance only watches, and does what the watcher would do some minutes later. */
export const MAINTENANCE_DEFAULTS: MaintenanceSettings = {
  ...{ round_delay: 300, balance: false, balance_threshold: 0.1, balance_load: false, balance_disks: false },
  ...{ evacuation: false, evacuation_disks: true, evacuation_copies: 1, evacuation_offline: true },
  ...{ live_repair: false, harep: false, restart: true, dry_run: false, diagnose_command: '' },
}

export function maintenanceSettings({ sections }: Pick<GantryData, 'sections'>): MaintenanceSettings {
  const stored = sections[MAINTENANCE.settings] ?? {}
  const known = Object.entries(MAINTENANCE_DEFAULTS).map(([key, missing]: [string, unknown]) => {
    const value = stored[key]
    return [key, typeof value === typeof missing ? value : missing]
  })
  // Each value has the type of its default.
  return Object.fromEntries(known) as MaintenanceSettings
}

export const changedEvent = (event: RepairEvent, fields: Partial<RepairEvent>, now_s: number): RepairEvent => ({
  ...event,
  ...fields,
  mtime: now_s,
  serial_no: event.serial_no + 1,
})

/** Cancels an event: nothing more is done about it. An event that has ended stays as it is. */
export const canceledEvent = (event: RepairEvent, now_s: number): RepairEvent =>
  isActive(event) ? changedEvent(event, { status: 'canceled', note: null }, now_s) : event

/** In the order in which they were noted. */
export function repairEvents({ sections }: Pick<GantryData, 'sections'>): RepairEvent[] {
  const all = Object.values(sections[MAINTENANCE.events] ?? {}).filter(isObject)
  // Only this product writes the section.
  return (all as unknown as RepairEvent[]).sort((a, b) => a.ctime - b.ctime || (a.id < b.id ? -1 : 1))
}

export function roundOf({ sections }: Pick<GantryData, 'sections'>): Round | null {
  const round = sections[MAINTENANCE.rounds]?.[ROUND_KEY]
  return isObject(round) ? (round as unknown as Round) : null
}

/** The actions that a dry run would take. */
export function outlookOf({ sections }: Pick<GantryData, 'sections'>): string[] {
  const outlook = sections[MAINTENANCE.rounds]?.[OUTLOOK_KEY]
  return Array.isArray(outlook) ? outlook.map(String) : []
}

/** Nodes whose reports cannot be used, by name, with the reason. */
export function problemsOf({ sections }: Pick<GantryData, 'sections'>): Readonly<Record<string, string>> {
  const problems = sections[MAINTENANCE.rounds]?.[PROBLEMS_KEY]
  return isObject(problems)
    ? Object.fromEntries(Object.entries(problems).map(([name, why]) => [name, String(why)]))
    : {}
}

/** When each node (by uuid) first reported its current report, in nanoseconds. */
export function reportedOf({ sections }: Pick<GantryData, 'sections'>): ReadonlyMap<string, number> {
  const reported = sections[MAINTENANCE.rounds]?.[REPORTED_KEY]
  const all = isObject(reported) ? Object.entries(reported) : []
  return new Map(all.flatMap(([uuid, time]) => (typeof time === 'number' ? [[uuid, time] as const] : [])))
}

/** Whether something may still be done about it. */
export const isActive = ({ status }: Pick<RepairEvent, 'status'>): boolean => status === 'noted' || status === 'pending'

/** A fault of a node, and the reaction to it. */
export interface MaintenanceEvent {
  id: string
  /** The id again, under its older name. */
  uuid: string
  /** The uuid of the node that reported it. */
  node: string
  /** The name of the node; null when it has left the cluster. */
  node_name: string | null
  /** The exact object that the node's self-diagnosis printed. */
  original: { [key: string]: unknown }
  action: RepairAction
  /** `noted`: nothing was done yet. `pending`: jobs were submitted, and none has failed. The other three are final. */
  'repair-status': RepairStatus
  /** @isInt */
  jobs: number[]
  /** The tag that the node has, or will get when all is done. Removing it acknowledges the event. */
  tag: string
  /** Why the event does not go on, for people; null if it does. */
  note: string | null
  /** @isDouble */
  ctime: number
  /** @isDouble */
  mtime: number
  serial_no: number
}

/** A job of the current round. */
interface MaintenanceJob {
  /** Null while it is being submitted, and if it was refused. */
  job: number | null
  kind: RoundJobKind
  /** The id of its event; null for repairs of instances and for balancing. */
  event: string | null
  text: string
}

/** What maintenance may do, and its current work. */
export interface MaintenanceView {
  settings: MaintenanceSettings
  events: MaintenanceEvent[]
  /** Jobs of the current round. The next round begins when all of them have ended. */
  jobs: MaintenanceJob[]
  /** In a dry run: the actions that maintenance would take. */
  outlook: string[]
  /** Nodes with unusable reports, with the reason. */
  problems: { [node: string]: string }
}

export const maintenanceView = (gantry: Pick<GantryData, 'sections'>, nameOf: NameOf): MaintenanceView => ({
  settings: maintenanceSettings(gantry),
  events: repairEvents(gantry).map((event) => shownEvent(event, nameOf(event.node))),
  jobs: (roundOf(gantry)?.jobs ?? []).map(({ job, kind, event, text }) => ({ job, kind, event, text })),
  outlook: outlookOf(gantry),
  problems: problemsOf(gantry),
})

/** The name of a node by its uuid. */
type NameOf = (uuid: string) => string | undefined

/** Leaves out internal details of how we store it. */
export function shownEvent(event: RepairEvent, nodeName: string | undefined): MaintenanceEvent {
  const { id, node, original, action, status, jobs, tag, note, ctime, mtime, serial_no } = event
  return {
    // The design and the older code name the id differently.
    ...{
      id,
      uuid: id,
      node,
      node_name: nodeName ?? null,
      original,
      action,
      'repair-status': status,
      jobs: [...jobs],
      tag,
    },
    ...{ note, ctime, mtime, serial_no },
  }
}
