// The cluster as every door except luxid sees it: a Master over LUXI. A connection answers in order, so overlapping
// calls get their own connections. Idle ones are kept.
import { type Clock, nextTurn } from '../../lib/clock'
import { environmentPaths } from '../../lib/paths'
import {
  LUXI_ANSWER_S,
  LUXI_CLIENT_CONNECTIONS_MAX,
  LUXI_CLIENT_IDLE_MAX,
  LUXI_RECONNECT_S,
  LUXI_RETRY_PAUSE_S,
} from '../../model/limits/luxi'
import { RAPI_SHORT_BYTES_MAX } from '../../model/limits/rapi'
import { JsonClient, type JsonClientOptions, PeerError, type Remembered } from '../json-protocol'
import { JsonText } from '../long-answers'
import { callForText } from '../text-call'
import { consoleTalk } from './consoles'
import { type GantryCallName, gantryCallNames, gantryCalls, type GantryMaster, onlyAsks } from './gantry-calls'
import type { FieldDefinition, JobChange, JobId, QueryFilter, QueryResource, QueryResult } from './calls'
import type { Master } from './master'
import type { TagKind } from '../../model/object-kinds'
import { TEXT_CALLS, type TextCalls } from './master'
import type { WireOpCode } from './calls'

export interface LuxiClientOptions {
  /** The socket; default: this node's. */
  path?: string
  timeout_s?: number
  clock: Clock
  /**
   * If set, calls wait for a luxid that restarts, unless they could be carried out twice. It is called once for each
   * wait.
   */
  onRestart?(patience_s: number): void
}

export class LuxiClient implements Master {
  private readonly path: string
  private readonly timeout_s: number
  private readonly clock: Clock
  private readonly idle: JsonClient[] = []
  private readonly waiting: (() => void)[] = []
  private open = 0
  private readonly clusterInfo: Remembered = {}
  /** Calls with long answers. */
  private readonly long = new Set<string>()
  private asking: Promise<Readonly<Record<string, unknown>>> | undefined
  readonly gantry: GantryMaster = this.extensions()
  readonly text: TextCalls = this.textCalls()

  constructor(private readonly options: LuxiClientOptions) {
    this.path = options.path ?? environmentPaths().socket('query')
    this.timeout_s = options.timeout_s ?? LUXI_ANSWER_S
    this.clock = options.clock
  }

  submitJob(ops: readonly WireOpCode[], signal?: AbortSignal): Promise<JobId> {
    return this.call('SubmitJob', [ops], undefined, signal)
  }

  submitJobToDrainedQueue(ops: readonly WireOpCode[]): Promise<JobId> {
    return this.call('SubmitJobToDrainedQueue', [ops])
  }

  submitManyJobs(jobs: readonly (readonly WireOpCode[])[]): Promise<([true, JobId] | [false, string])[]> {
    return this.call('SubmitManyJobs', [jobs])
  }

  waitForJobChange(
    job: JobId,
    fields: readonly string[],
    previous: unknown,
    previousLog: unknown,
    timeout_s: number,
  ): Promise<JobChange | 'nochange'> {
    return this.call('WaitForJobChange', [job, fields, previous, previousLog, timeout_s])
  }

  archiveJob(job: JobId): Promise<boolean> {
    return this.call('ArchiveJob', [job])
  }

  autoArchiveJobs(age_s: number, timeout_s: number): Promise<[archived: number, left: number]> {
    return this.call('AutoArchiveJobs', [age_s, timeout_s])
  }

  cancelJob(job: JobId, kill: boolean): Promise<[boolean, string]> {
    return this.call('CancelJob', [job, kill])
  }

  changeJobPriority(job: JobId, priority: number): Promise<[boolean, string]> {
    return this.call('ChangeJobPriority', [job, priority])
  }

  setDrainFlag(flag: boolean): Promise<boolean> {
    return this.call('SetDrainFlag', [flag])
  }

  setWatcherPause(until: number | null): Promise<number | null> {
    return this.call('SetWatcherPause', [until])
  }

  query(what: QueryResource, fields: readonly string[], filter: QueryFilter): Promise<QueryResult> {
    return this.call('Query', [what, fields, filter])
  }

  queryFields(what: QueryResource, fields: readonly string[] | null): Promise<{ fields: FieldDefinition[] }> {
    return this.call('QueryFields', [what, fields])
  }

  queryNodes(names: readonly string[], fields: readonly string[], lock: boolean): Promise<unknown[][]> {
    return this.call('QueryNodes', [names, fields, lock])
  }

  queryGroups(names: readonly string[], fields: readonly string[], lock: boolean): Promise<unknown[][]> {
    return this.call('QueryGroups', [names, fields, lock])
  }

  queryNetworks(names: readonly string[], fields: readonly string[], lock: boolean): Promise<unknown[][]> {
    return this.call('QueryNetworks', [names, fields, lock])
  }

  queryInstances(names: readonly string[], fields: readonly string[], lock: boolean): Promise<unknown[][]> {
    return this.call('QueryInstances', [names, fields, lock])
  }

  replaceFilter(
    uuid: string | null,
    priority: number,
    predicates: readonly unknown[],
    action: unknown,
    reason: readonly unknown[],
  ): Promise<string> {
    return this.call('ReplaceFilter', [uuid, priority, predicates, action, reason])
  }

  deleteFilter(uuid: string): Promise<null> {
    return this.call('DeleteFilter', [uuid])
  }

  queryFilters(uuids: readonly string[] | null, fields: readonly string[]): Promise<unknown[][]> {
    return this.call('QueryFilters', [uuids, fields])
  }

  queryJobs(ids: readonly (JobId | string)[] | null, fields: readonly string[]): Promise<(unknown[] | null)[]> {
    return this.call('QueryJobs', [ids, fields])
  }

  queryExports(nodes: readonly string[], lock: boolean): Promise<unknown[][]> {
    return this.call('QueryExports', [nodes, lock])
  }

  queryConfigValues(fields: readonly string[]): Promise<unknown[]> {
    return this.call('QueryConfigValues', [fields])
  }

  /**
   * Dashboards ask this all the time. All callers within one turn of the event loop share one call, sent after the
   * turn.
   */
  queryClusterInfo(): Promise<Readonly<Record<string, unknown>>> {
    return (this.asking ??= nextTurn().then(() => {
      this.asking = undefined
      return this.call('QueryClusterInfo', [], this.clusterInfo)
    }))
  }

  queryTags(kind: TagKind, name: string): Promise<string[]> {
    return this.call('QueryTags', [kind, name])
  }

  /** Each method is a LUXI call with the same arguments. */
  private extensions(): GantryMaster {
    const call = (name: GantryCallName) => {
      const { wire } = gantryCalls[name]
      return (...args: readonly unknown[]) => {
        const last = args.at(-1)
        if (!(last instanceof AbortSignal)) return this.call(wire, args)
        return this.call(wire, args.slice(0, -1), undefined, last)
      }
    }
    // The other end uses the same table.
    const calls = Object.fromEntries(gantryCallNames.map((name) => [name, call(name)])) as unknown as GantryMaster
    return { ...calls, console: async (...args) => consoleTalk(this.peer, args, this.timeout_s) }
  }

  /** Each method is the call of the same name. */
  private textCalls(): TextCalls {
    const calls = TEXT_CALLS.map((name) => {
      const method = name.charAt(0).toUpperCase() + name.slice(1)
      return [name, (...args: readonly unknown[]) => this.callForText(method, args)]
    })
    return Object.fromEntries(calls) as TextCalls
  }

  close(): void {
    for (const client of this.idle.splice(0)) client.close()
  }

  /** The other end is luxid, whose answers have the types of the same interface. */
  private async call<T>(
    method: string,
    args: readonly unknown[],
    remembered?: Remembered | 'unread',
    signal?: AbortSignal,
  ): Promise<T> {
    const client = await this.take()
    // When the caller leaves, closing the connection tells the master.
    const leave = () => client.close()
    signal?.addEventListener('abort', leave, { once: true })
    try {
      signal?.throwIfAborted()
      return (await this.patiently(method, () => client.call(method, args, this.timeout_s, remembered))) as T
    } finally {
      signal?.removeEventListener('abort', leave)
      this.giveBack(client)
    }
  }

  /** A short text uses a kept connection. If it was long the last time, it comes in pieces over its own connection. */
  private async callForText(method: string, args: readonly unknown[]): Promise<JsonText> {
    if (!this.long.has(method)) {
      const text = await this.call<string>(method, args, 'unread')
      if (text.length > RAPI_SHORT_BYTES_MAX) this.long.add(method)
      return new JsonText([text])
    }
    return this.patiently(method, () => callForText(this.peer, method, args, this.timeout_s))
  }

  private get peer(): JsonClientOptions {
    return { path: this.path, peer: 'the master daemon (luxid)', clock: this.clock }
  }

  private async patiently<T>(method: string, send: () => Promise<T>): Promise<T> {
    let deadline_ms: number | undefined
    for (;;) {
      try {
        return await send()
      } catch (error) {
        if (this.options.onRestart === undefined || !mayRepeat(method, error)) throw error
        if (deadline_ms === undefined) this.options.onRestart(LUXI_RECONNECT_S)
        deadline_ms ??= this.clock.monotonic_ms() + LUXI_RECONNECT_S * 1000
        if (this.clock.monotonic_ms() >= deadline_ms) throw error
        await this.clock.sleep(LUXI_RETRY_PAUSE_S * 1000)
      }
    }
  }

  private async take(): Promise<JsonClient> {
    while (this.open >= LUXI_CLIENT_CONNECTIONS_MAX && this.idle.length === 0)
      await new Promise<void>((resolve) => this.waiting.push(resolve))
    const kept = this.idle.pop()
    if (kept) return kept
    this.open++
    return new JsonClient(this.peer)
  }

  private giveBack(client: JsonClient): void {
    if (this.idle.length < LUXI_CLIENT_IDLE_MAX || this.waiting.length > 0) this.idle.push(client)
    else {
      client.close()
      this.open--
    }
    this.waiting.shift()?.()
  }
}

/** Whether a failed call may be repeated: it was not sent, or it only reads. */
const mayRepeat = (method: string, error: unknown): boolean =>
  error instanceof PeerError && (error.kind === 'unreachable' || (error.kind === 'lost' && onlyAsks(method)))
