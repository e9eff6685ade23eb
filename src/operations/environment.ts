// What a running job provides to its operations: its identity, its clients, and its log. The job process builds one for
// each opcode; the simulation and the tests build one in memory.
import type { Clock } from '../lib/clock'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import type { Random } from '../lib/random'
import type { Rendezvous } from '../lib/net/rendezvous'
import type { TaskParts } from '../lib/work/worker-pool'
import type { JobId, QueryFilter, QueryResource, QueryResult, WireOpCode } from '../rpc/luxi/calls'
import type { QueueCopy } from '../rpc/luxi/resources'
import type { NodeClient } from '../rpc/node/client'
import type { ClientId, UnitWconfd } from '../rpc/wconfd/calls'

export interface JobEnvironment {
  readonly jobId: JobId
  /** Position of the opcode in its job. */
  readonly opIndex: number
  readonly client: ClientId
  /** The opcode's current priority; it may change while the job waits. */
  priority(): number
  /** Calls the action after each change of the priority, until the returned function is called. */
  onPriority(action: () => void): () => void
  readonly wconfd: UnitWconfd
  readonly nodes: NodeClient
  /** Appends to the opcode's log in the job file (type `message`, unless a unit has its own). */
  log(type: string, message: unknown): void
  /** Adds resolved values of its parameters to the opcode in the job file. Never a secret. */
  note(fields: Readonly<Record<string, unknown>>): void
  /**
   * All locks are held: the opcode changes from `waiting` to `running`. Rejects with JobCancelled if it may no longer
   * start.
   */
  started(how: 'once' | 'repeatable'): Promise<void>
  /** It must wait for more locks: the opcode changes from `running` back to `waiting`. */
  retrying(): Promise<void>
  /** Fires when someone cancels the job. After `started` only units that can stop check it. */
  readonly cancelled: AbortSignal
  readonly clock: Clock
  readonly random: Random
  readonly paths: Paths
  /** The opcode's secret parameters by name. Job files do not contain them; they replace the redacted ones. */
  readonly secrets: Readonly<Record<string, unknown>>
  readonly processLog: Log
  /** Submits further jobs; one answer each, as SubmitManyJobs. */
  submitJobs(jobs: readonly (readonly WireOpCode[])[]): Promise<([true, JobId] | [false, string])[]>
  /** Asks the query engine (OP_QUERY, OP_QUERY_FIELDS); missing if a job cannot reach it. */
  readonly queries?: JobQueries
  /**
   * The text of one of the master's own files, by its path on a real node, to send it to nodes; undefined if the file
   * is missing.
   */
  readonly masterFile?: (path: string) => Promise<string | undefined>
  /** Computes an answer of the allocation in a thread; missing if only a plan is made. */
  readonly think?: (parts: TaskParts) => Promise<unknown>
  /** A socket where test opcodes wait for their tester; missing if no tester could connect. */
  readonly rendezvous?: () => Promise<Rendezvous>
}

export interface JobQueries {
  query(what: QueryResource, fields: readonly string[], filter: QueryFilter): Promise<QueryResult>
  queryFields(what: QueryResource, fields: readonly string[] | null): Promise<unknown>
  /** The copies of the queue on master candidates. */
  queueCopies?(): Promise<readonly QueueCopy[]>
}

/** The job was cancelled before this opcode started; it ends as `canceled`, not as an error. */
export class JobCancelled extends Error {
  constructor(message = 'Job canceled by request') {
    super(message)
  }
}
