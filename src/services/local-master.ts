// The Master inside luxid: every call, handed to the service of its topic.
import type { Master, QueryFilter, QueryResource, TagKind, WireOpCode } from '../rpc/luxi/calls'
import { deleteFilter, replaceFilter } from './filter-rules'
import type { EventService } from './events'
import { localGantry } from './gantry'
import { JobService } from './jobs'
import type { MasterContext } from './master-context'
import { QueryService } from './queries'
import type { GantryDocument } from './tokens'
import { WatcherPause } from './watcher-pause'

/** What the extension calls need beside. */
export interface Extensions {
  readonly events: EventService
  readonly documents: GantryDocument
}

export function localMaster(context: MasterContext, extensions: Extensions): Master {
  const jobs = new JobService(context)
  const pause = new WatcherPause(context)
  const queries = new QueryService(context, pause)
  const classic =
    (what: 'node' | 'group' | 'network' | 'instance') =>
    (names: readonly string[], fields: readonly string[], lock: boolean) =>
      queries.classic(what, names, fields, lock)
  return {
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
    query: (what: QueryResource, fields, filter: QueryFilter) => queries.query(what, fields, filter),
    queryFields: (what, fields) => queries.queryFields(what, fields),
    queryNodes: classic('node'),
    queryGroups: classic('group'),
    queryNetworks: classic('network'),
    queryInstances: classic('instance'),
    replaceFilter: (uuid, priority, predicates, action, reason) =>
      replaceFilter(context, null, uuid, priority, predicates, action, reason),
    deleteFilter: (uuid) => deleteFilter(context, null, uuid),
    queryFilters: (uuids, fields) => queries.classic('filter', uuids ?? [], fields, false),
    queryJobs: (ids, fields) => queries.classic('job', ids ?? [], fields, false),
    queryExports: (nodes, lock) => queries.classic('export', nodes, ['node', 'export'], lock),
    queryConfigValues: (fields) => queries.configValues(fields),
    queryClusterInfo: () => queries.clusterInfo(),
    queryTags: (kind: TagKind, name) => queries.tags(kind, name),
    gantry: localGantry(context, { jobs, queries, ...extensions }),
  }
}
