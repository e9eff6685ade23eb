// A Master that answers queries from the recorded cluster and plays jobs from a script.
import { classicQuery, queryFields, runQuery } from '../../src/query/engine'
import type { QuerySource } from '../../src/query/source'
import type { JobChange, JobId, LogEntry, WireOpCode } from '../../src/rpc/luxi/calls'
import type { Master } from '../../src/rpc/luxi/master'
import { GenericError } from '../../src/model/errors'
import { parseOpcode } from '../../src/opcodes/parse'
import { goldenSource } from './golden-query'
import { textOfCalls } from './text-calls'

export interface ScriptedJob {
  readonly id: JobId
  readonly log?: readonly LogEntry[]
  readonly result?: unknown
  /** The opcode's error as `[class, arguments]`; the job then fails. */
  readonly error?: unknown
  readonly status?: string
  /** Values of other fields of the job. */
  readonly fields?: Readonly<Record<string, unknown>>
}

type Query = (names: readonly string[], fields: readonly string[], lock: boolean) => Promise<unknown[][]>

export class FakeMaster implements Master {
  /** The opcodes that were submitted, job by job. */
  readonly submitted: (readonly WireOpCode[])[] = []
  readonly calls: unknown[][] = []
  readonly text = textOfCalls(this)
  clusterInfo: Record<string, unknown> = {}
  configValues: Record<string, unknown> = { cluster_name: 'cluster.gnt.example', master_node: 'node1.gnt.example' }
  private readonly jobs: ReadonlyMap<JobId, ScriptedJob>

  constructor(
    private readonly script: ScriptedJob[] = [],
    readonly source: QuerySource = goldenSource(),
  ) {
    this.jobs = new Map(script.map((job) => [job.id, job]))
  }

  async submitJob(ops: readonly WireOpCode[]) {
    this.submitted.push(ops)
    const job = this.script.shift()
    if (job === undefined) throw new Error(`no job is scripted for ${ops[0]?.OP_ID}`)
    return job.id
  }

  submitJobToDrainedQueue(ops: readonly WireOpCode[]) {
    this.calls.push(['submitJobToDrainedQueue'])
    return this.submitJob(ops)
  }

  async submitManyJobs(jobs: readonly (readonly WireOpCode[])[]): Promise<([true, JobId] | [false, string])[]> {
    return Promise.all(jobs.map(async (ops): Promise<[true, JobId]> => [true, await this.submitJob(ops)]))
  }

  /** First the job runs with its log so far, then it has ended. */
  async waitForJobChange(
    id: JobId,
    _fields: readonly string[],
    observed: unknown,
    serial: unknown,
  ): Promise<JobChange> {
    const job = this.jobs.get(id)
    const log = (job?.log ?? []).filter(([number]) => number > Number(serial ?? 0))
    return [[observed === null ? 'running' : this.statusOf(job)], log]
  }

  async queryJobs(ids: readonly (JobId | string)[] | null, fields: readonly string[]) {
    return (ids ?? []).map((id) => {
      const job = this.jobs.get(Number(id))
      const status = job === undefined ? null : this.statusOf(job)
      const values: Record<string, unknown> = {
        status,
        opstatus: [status],
        opresult: [job?.error ?? job?.result ?? null],
        ...job?.fields,
      }
      return fields.map((name) => values[name] ?? null)
    })
  }

  private statusOf(job: ScriptedJob | undefined): string {
    return job?.status ?? (job?.error === undefined ? 'success' : 'error')
  }

  query: Master['query'] = (what, fields, filter) => runQuery(what, fields, filter, this.source)
  queryFields: Master['queryFields'] = async (what, fields) => queryFields(what, fields)
  queryNodes: Query = (names, fields, lock) => classicQuery('node', names, fields, lock, this.source)
  queryGroups: Query = (names, fields, lock) => classicQuery('group', names, fields, lock, this.source)
  queryNetworks: Query = (names, fields, lock) => classicQuery('network', names, fields, lock, this.source)
  queryInstances: Query = (names, fields, lock) => classicQuery('instance', names, fields, lock, this.source)
  queryExports: Master['queryExports'] = (nodes, lock) =>
    classicQuery('export', nodes, ['node', 'export'], lock, this.source)
  queryFilters: Master['queryFilters'] = (uuids, fields) =>
    classicQuery('filter', uuids ?? [], fields, false, this.source)

  async queryConfigValues(fields: readonly string[]) {
    return fields.map((name) => this.configValues[name] ?? null)
  }

  async queryClusterInfo() {
    return this.clusterInfo
  }

  async queryTags(kind: string, name: string) {
    const { cluster, nodes, instances } = this.source.config
    if (kind === 'cluster') return [...cluster.tags]
    const objects = [...Object.values(nodes), ...Object.values(instances)]
    return [...(objects.find((object) => object.name === name)?.tags ?? [])]
  }

  private async note<T>(call: string, args: readonly unknown[], answer: T): Promise<T> {
    this.calls.push([call, ...args])
    return answer
  }

  archiveJob: Master['archiveJob'] = (job) => this.note('archiveJob', [job], job !== 13)
  autoArchiveJobs: Master['autoArchiveJobs'] = (age, timeout) => this.note('autoArchiveJobs', [age, timeout], [3, 1])
  cancelJob: Master['cancelJob'] = (job, kill) =>
    this.note('cancelJob', [job, kill], [job !== 13, `Job ${job}: answer`])
  changeJobPriority: Master['changeJobPriority'] = (job, priority) =>
    this.note('changeJobPriority', [job, priority], [true, `Job ${job}: answer`])
  setDrainFlag: Master['setDrainFlag'] = (flag) => this.note('setDrainFlag', [flag], true)
  setWatcherPause: Master['setWatcherPause'] = (until) => this.note('setWatcherPause', [until], until)
  replaceFilter: Master['replaceFilter'] = (...args) => this.note('replaceFilter', args, 'some-uuid')
  deleteFilter: Master['deleteFilter'] = (uuid) => this.note('deleteFilter', [uuid], null)
}

/** Refuses requests that luxid could not read, in luxid's words. */
export class ReadingMaster extends FakeMaster {
  override async submitJob(ops: readonly WireOpCode[]) {
    try {
      for (const op of ops) parseOpcode(op)
    } catch (error) {
      throw new GenericError(`Failed to parse request: SubmitJob: ${error instanceof Error ? error.message : ''}`)
    }
    return super.submitJob(ops)
  }
}
