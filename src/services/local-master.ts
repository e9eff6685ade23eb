// The Master inside luxid: hands every call to the service of its topic.
import type { TagKind } from '../model/object-kinds'
import type { JobId, WireOpCode } from '../rpc/luxi/calls'
import type { Master } from '../rpc/luxi/master'
import { deleteFilter, replaceFilter } from './filter-rules'
import type { EventService } from './events/events'
import { localGantry } from './gantry'
import { JobService } from './jobs/jobs'
import type { MasterContext } from './master-context'
import { QueryService } from './views/queries'
import type { GantryDocument } from './access/tokens'
import { WatcherPause } from './watcher/watcher-pause'
import type { WatcherReports } from './watcher/watcher-reports'

/** Further services that the extension calls need. */
export interface Extensions {
  readonly events: EventService
  readonly documents: GantryDocument
  readonly watcher: WatcherReports
}

export function localMaster(context: MasterContext, extensions: Extensions): Master {
  const jobs = new JobService(context)
  const pause = new WatcherPause(context)
  const queries = new QueryService(context, pause)
  return {
    ...tables(
      (...question) => queries.query(...question),
      (...question) => queries.classic(...question),
    ),
    text: tables(
      (...question) => queries.queryText(...question),
      (...question) => queries.classicText(...question),
    ),
    submitJob: (ops: readonly WireOpCode[]) => jobs.submit(ops, false),
    submitJobToDrainedQueue: (ops) => jobs.submit(ops, true),
    submitManyJobs: (list) => jobs.submitMany(list),
    waitForJobChange: (id, fields, previous, log, timeout_s) =>
      jobs.waitForChange(id, fields, previous, log, timeout_s),
    archiveJob: (id) => jobs.archive(id),
    autoArchiveJobs: (age_s, timeout_s) => jobs.autoArchive(age_s, timeout_s),
    cancelJob: (id, kill) => jobs.cancel(id, kill),
    changeJobPriority: (id, priority) => jobs.changePriority(id, priority),
    setDrainFlag: (flag) => jobs.setDrainFlag(flag),
    setWatcherPause: (until) => pause.set(until),
    queryFields: (what, fields) => queries.queryFields(what, fields),
    replaceFilter: (uuid, priority, predicates, action, reason) =>
      replaceFilter(context, null, uuid, priority, predicates, action, reason),
    deleteFilter: (uuid) => deleteFilter(context, null, uuid),
    queryConfigValues: (fields) => queries.configValues(fields),
    queryClusterInfo: () => queries.clusterInfo(),
    queryTags: (kind: TagKind, name) => queries.tags(kind, name),
    gantry: localGantry(context, { jobs, queries, pause, ...extensions }),
  }
}

type Names = readonly string[]

/** The calls that answer with a table, either as values or as text. */
function tables<Q, C>(
  query: (...question: Parameters<QueryService['query']>) => Promise<Q>,
  classic: (...question: Parameters<QueryService['classic']>) => Promise<C>,
) {
  const byName = (what: 'node' | 'group' | 'network' | 'instance') => (names: Names, fields: Names, lock: boolean) =>
    classic(what, names, fields, lock)
  return {
    query,
    queryNodes: byName('node'),
    queryGroups: byName('group'),
    queryNetworks: byName('network'),
    queryInstances: byName('instance'),
    queryFilters: (uuids: Names | null, fields: Names) => classic('filter', uuids ?? [], fields),
    queryJobs: (ids: readonly (JobId | string)[] | null, fields: Names) => classic('job', ids ?? [], fields),
    queryExports: (nodes: Names, lock: boolean) => classic('export', nodes, ['node', 'export'], lock),
  }
}
