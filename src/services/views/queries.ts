// All questions about the cluster: queries, tags and single values. The query engine reads the snapshot, the queue, the
// locks and the nodes.
import { findGroup, findInstance, findNetwork, findNode } from '../../config/lookup'
import type { ConfigData } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { classicQuery, classicText, queryFields, queryText, refuseUnserved, runQuery } from '../../query/engine'
import type { QuerySource } from '../../query/source'
import type { JsonText } from '../../rpc/long-answers'
import type { TagKind } from '../../model/object-kinds'
import type { FieldDefinition, QueryFilter, QueryResource, QueryResult } from '../../rpc/luxi/calls'
import { clusterInfo } from '../../query/cluster-info'
import { ConfigIndex } from '../../query/config-index'
import { jobReader, jobView } from '../jobs/job-views'
import { lockReader } from './locks-view'
import type { MasterContext } from '../master-context'
import type { WatcherPause } from '../watcher/watcher-pause'

type ClassicQuestion = [
  what: Parameters<typeof classicQuery>[0],
  names: readonly (string | number)[],
  fields: readonly string[],
  lock?: boolean,
]

export class QueryService {
  private readonly infos = new WeakMap<ConfigData, Readonly<Record<string, unknown>>>()

  constructor(
    private readonly context: MasterContext,
    private readonly watcherPause: WatcherPause,
  ) {}

  async query(what: QueryResource, fields: readonly string[], filter: QueryFilter): Promise<QueryResult> {
    refuseUnserved('Query', what)
    return runQuery(what, fields, filter, this.source())
  }

  async queryText(what: QueryResource, fields: readonly string[], filter: QueryFilter): Promise<JsonText> {
    refuseUnserved('Query', what)
    return queryText(what, fields, filter, this.source())
  }

  async queryFields(what: QueryResource, fields: readonly string[] | null): Promise<{ fields: FieldDefinition[] }> {
    refuseUnserved('QueryFields', what)
    return queryFields(what, fields)
  }

  async classic(...[what, names, fields, lock = false]: ClassicQuestion): Promise<unknown[][]> {
    return classicQuery(what, names, fields, lock, this.source())
  }

  async classicText(...[what, names, fields, lock = false]: ClassicQuestion): Promise<JsonText> {
    return classicText(what, names, fields, lock, this.source())
  }

  /** Every dashboard asks for it again and again, so it is made once for each configuration; its text too. */
  async clusterInfo(): Promise<Readonly<Record<string, unknown>>> {
    const config = this.context.config()
    let info = this.infos.get(config)
    if (info === undefined) this.infos.set(config, (info = Object.freeze(clusterInfo(config))))
    return info
  }

  /** An unknown value is null. */
  async configValues(fields: readonly string[]): Promise<unknown[]> {
    const config = this.context.config()
    const pause = await this.watcherPause.read()
    const values: Record<string, unknown> = {
      cluster_name: config.cluster.cluster_name,
      master_node: ConfigIndex.of(config).master()?.name ?? null,
      drain_flag: this.context.queue.drained,
      watcher_pause: pause,
      modify_ssh_setup: config.cluster.modify_ssh_setup,
      ssh_key_type: config.cluster.ssh_key_type,
      ssh_key_bits: config.cluster.ssh_key_bits,
    }
    return fields.map((name) => (Object.hasOwn(values, name) ? values[name] : null))
  }

  async tags(kind: TagKind, name: string): Promise<string[]> {
    return [...tagsOf(this.context.config(), kind, name)].sort()
  }

  /** The current data for a query. Without facts of the cluster, because luxid does not serve that query. */
  source(viewOf = jobView): QuerySource {
    const { config, live, queue, wconfd, known: received } = this.context
    return { config: config(), live, heard: received, jobs: jobReader(queue, viewOf), locks: lockReader(wconfd) }
  }
}

function tagsOf(config: ConfigData, kind: TagKind, name: string): readonly string[] {
  switch (kind) {
    case 'cluster':
      return config.cluster.tags
    case 'node':
      return found(findNode(config, name), 'Node', name).tags
    case 'instance':
      return found(findInstance(config, name), 'Instance', name).tags
    case 'nodegroup':
      return found(findGroup(config, name), 'NodeGroup', name).tags
    case 'network':
      return found(findNetwork(config, name), 'Network', name).tags
  }
}

function found<T>(object: T | undefined, kind: string, name: string): T {
  if (object === undefined) throw new OpPrereqError(`${kind} name ${name} not found`, ECODE.NOENT)
  return object
}
