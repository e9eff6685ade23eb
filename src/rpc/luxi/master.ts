// The LUXI call list (spec: luxi.json) as one interface. LocalMaster (services) implements it inside luxid;
// LuxiClient implements it everywhere else. Every door (RAPI, CLI, maintd) speaks to the cluster through it.
import type { TagKind } from '../../model/object-kinds'
import type { JsonText } from '../long-answers'
import type { FieldDefinition, JobChange, JobId, QueryFilter, QueryResource, QueryResult, WireOpCode } from './calls'
import type { GantryMaster } from './gantry-calls'

/** Calls that answer with tables. */
export const TEXT_CALLS = [
  'query',
  'queryNodes',
  'queryGroups',
  'queryNetworks',
  'queryInstances',
  'queryFilters',
  'queryJobs',
  'queryExports',
] as const

export type TextCalls = {
  readonly [N in (typeof TEXT_CALLS)[number]]: (...args: Parameters<Master[N]>) => Promise<JsonText>
}

export interface Master {
  /** If the signal fires before the job exists, it is not created. */
  submitJob(ops: readonly WireOpCode[], signal?: AbortSignal): Promise<JobId>
  submitJobToDrainedQueue(ops: readonly WireOpCode[]): Promise<JobId>
  submitManyJobs(jobs: readonly (readonly WireOpCode[])[]): Promise<([true, JobId] | [false, string])[]>
  waitForJobChange(
    job: JobId,
    fields: readonly string[],
    previous: unknown,
    previousLog: unknown,
    timeout_s: number,
  ): Promise<JobChange | 'nochange'>
  archiveJob(job: JobId): Promise<boolean>
  autoArchiveJobs(age_s: number, timeout_s: number): Promise<[archived: number, left: number]>
  cancelJob(job: JobId, kill: boolean): Promise<[boolean, string]>
  changeJobPriority(job: JobId, priority: number): Promise<[boolean, string]>
  setDrainFlag(flag: boolean): Promise<boolean>
  setWatcherPause(until: number | null): Promise<number | null>
  query(what: QueryResource, fields: readonly string[], filter: QueryFilter): Promise<QueryResult>
  queryFields(what: QueryResource, fields: readonly string[] | null): Promise<{ fields: FieldDefinition[] }>
  queryNodes(names: readonly string[], fields: readonly string[], lock: boolean): Promise<unknown[][]>
  queryGroups(names: readonly string[], fields: readonly string[], lock: boolean): Promise<unknown[][]>
  queryNetworks(names: readonly string[], fields: readonly string[], lock: boolean): Promise<unknown[][]>
  queryInstances(names: readonly string[], fields: readonly string[], lock: boolean): Promise<unknown[][]>
  /** Adds a rule, or replaces the one with this uuid. Returns its uuid. */
  replaceFilter(
    uuid: string | null,
    priority: number,
    predicates: readonly unknown[],
    action: unknown,
    reason: readonly unknown[],
  ): Promise<string>
  deleteFilter(uuid: string): Promise<null>
  queryFilters(uuids: readonly string[] | null, fields: readonly string[]): Promise<unknown[][]>
  queryJobs(ids: readonly (JobId | string)[] | null, fields: readonly string[]): Promise<(unknown[] | null)[]>
  queryExports(nodes: readonly string[], lock: boolean): Promise<unknown[][]>
  queryConfigValues(fields: readonly string[]): Promise<unknown[]>
  queryClusterInfo(): Promise<Readonly<Record<string, unknown>>>
  queryTags(kind: TagKind, name: string): Promise<string[]>
  /** Answers that may be long, as texts to pass on. */
  readonly text: TextCalls
  /** Calls of `/3` beyond Ganeti's; absent from masters without `/3`. */
  readonly gantry?: GantryMaster
}
