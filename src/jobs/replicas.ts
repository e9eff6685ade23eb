// The copies of the queue on master candidates. A write waits for every candidate in sync; one that fails or does not answer in
// time is out of sync from then on, is not waited for again, and is brought up to date in the background.
import { within, type Clock, type Timer } from '../lib/clock'
import type { Disk } from '../lib/disk'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import { QUEUE_BATCH_BYTES_MAX, QUEUE_CATCH_UP_S, QUEUE_RENAMES_KEPT_MAX, limits } from '../model/limits'
import type { NodeUuid } from '../model/ids'
import { NodeCallError, type NodeClient, type NodeTarget } from '../rpc/node/client'

export type QueueFile = readonly [file: string, content: string]
export type Rename = readonly [from: string, to: string]

export interface ReplicasOptions {
  nodes: NodeClient
  disk: Disk
  paths: Paths
  clock: Clock
  log: Log
  /** Every file that a full copy needs, read as it is at that moment. */
  files(): Iterable<QueueFile>
}

/** Which candidates were in sync. Without it, all get a full copy. */
export const replicasFile = (paths: Paths): string => `${paths.queueDir}/replicas`

interface Replica {
  target: NodeTarget
  inSync: boolean
  /** What was written while the copy was under way. */
  backlog: Map<string, string> | undefined
  /** It runs Ganeti's noded, which takes one file in a call. */
  oneByOne: boolean
  renames: Rename[]
}

export class Replicas {
  private readonly replicas = new Map<NodeUuid, Replica>()
  private readonly stateFile: string
  private known = new Set<string>()
  private persisting: Promise<void> = Promise.resolve()
  private timer: Timer | undefined
  private closed = false

  constructor(private readonly options: ReplicasOptions) {
    this.stateFile = replicasFile(options.paths)
  }

  /** Reads which candidates were in sync when the last luxid ended. */
  async load(): Promise<void> {
    const text = (await this.options.disk.read(this.stateFile))?.toString('utf8') ?? ''
    this.known = new Set(text.split('\n').filter((line) => line !== ''))
  }

  targets(): NodeTarget[] {
    return [...this.replicas.values()].filter((replica) => replica.inSync).map((replica) => replica.target)
  }

  /** Names of the candidates that lack something. */
  outOfSync(): string[] {
    return [...this.replicas.values()].filter((replica) => !replica.inSync).map((replica) => replica.target.name)
  }

  /** The candidates have changed: new ones get a full copy. */
  setCandidates(targets: readonly NodeTarget[]): void {
    const wanted = new Map(targets.map((target) => [target.uuid, target]))
    let changed = false
    for (const uuid of this.replicas.keys()) {
      if (wanted.has(uuid)) continue
      this.replicas.delete(uuid)
      changed = true
    }
    for (const target of targets) {
      const old = this.replicas.get(target.uuid)
      if (old) old.target = target
      else this.replicas.set(target.uuid, newReplica(target, this.known.has(target.uuid)))
      changed ||= old === undefined
    }
    if (!changed) return
    void this.persist()
    this.catchUpSoon(0)
  }

  /** Resolves when every candidate in sync has all of them. */
  async update(files: readonly QueueFile[]): Promise<void> {
    if (this.replicas.size === 0) await this.distrust()
    for (const { backlog } of this.replicas.values()) for (const file of files) backlog?.set(...file)
    await this.toAllInSync((target) => this.sendTo(target, files))
  }

  private async sendTo(target: NodeTarget, files: readonly QueueFile[]): Promise<void> {
    const { nodes } = this.options
    const replica = this.replicas.get(target.uuid)
    const bytes = files.reduce((sum, [, content]) => sum + content.length, 0)
    if (files.length > 1 && bytes <= QUEUE_BATCH_BYTES_MAX && replica?.oneByOne === false)
      try {
        await nodes.one(target, 'gantry_jobqueue_write', [files])
        return
      } catch (error) {
        if (!isUnknownCall(error)) throw error
        replica.oneByOne = true
      }
    await Promise.all(files.map(([file, content]) => nodes.one(target, 'jobqueue_update', [file, content])))
  }

  async rename(renames: readonly Rename[]): Promise<void> {
    for (const replica of this.replicas.values()) {
      if (replica.inSync) continue
      replica.renames.push(...renames)
      replica.renames.splice(0, replica.renames.length - QUEUE_RENAMES_KEPT_MAX)
    }
    const pairs = renames.map(([from, to]): [string, string] => [from, to])
    await this.toAllInSync((target) => this.options.nodes.one(target, 'jobqueue_rename', [pairs]))
  }

  async setDrainFlag(flag: boolean): Promise<void> {
    await this.toAllInSync((target) => this.options.nodes.one(target, 'jobqueue_set_drain_flag', [flag]))
  }

  private async lagging(uuid: NodeUuid, reason: string): Promise<void> {
    const replica = this.replicas.get(uuid)
    if (!replica?.inSync) return
    replica.inSync = false
    this.options.log.error(
      { node: replica.target.name, reason },
      'master candidate is out of sync: it does not take job files; it gets a full copy as soon as it answers',
    )
    await this.persist()
    this.catchUpSoon(QUEUE_CATCH_UP_S)
  }

  async close(): Promise<void> {
    this.closed = true
    this.timer?.cancel()
    await this.persisting
  }

  private async toAllInSync(call: (target: NodeTarget) => Promise<unknown>): Promise<void> {
    await Promise.all(
      this.targets().map(async (target) => {
        try {
          await withinTime(this.options.clock, call(target))
        } catch (error) {
          await this.lagging(target.uuid, error instanceof Error ? error.message : String(error))
        }
      }),
    )
  }

  /** What is written before the candidates are told reaches none of them, so each needs a full copy. */
  private async distrust(): Promise<void> {
    if (this.known.size === 0) return
    this.known.clear()
    await this.options.disk.remove(this.stateFile)
  }

  /** Remembered before a write is acknowledged that a candidate did not take, so that a restart knows it too. */
  private persist(): Promise<void> {
    const { disk, log } = this.options
    this.persisting = this.persisting.then(async () => {
      this.known = new Set(this.targets().map((target) => target.uuid))
      const text = [...this.known].map((uuid) => `${uuid}\n`).join('')
      await disk
        .write(this.stateFile, text)
        .catch((error: unknown) => log.error({ err: error }, 'cannot write which master candidates are in sync'))
    })
    return this.persisting
  }

  private catchUpSoon(delay_s: number): void {
    this.timer?.cancel()
    if (this.closed) return
    this.timer = this.options.clock.after(delay_s * 1000, () => void this.catchUp(), { background: true })
  }

  private async catchUp(): Promise<void> {
    const lagging = [...this.replicas.values()].filter((replica) => !replica.inSync && replica.backlog === undefined)
    await Promise.all(lagging.map((replica) => this.copyTo(replica)))
    if (this.outOfSync().length > 0) this.catchUpSoon(QUEUE_CATCH_UP_S)
  }

  private async copyTo(replica: Replica): Promise<void> {
    const { nodes, clock, log } = this.options
    const send = (file: string, content: string) =>
      withinTime(clock, nodes.one(replica.target, 'jobqueue_update', [file, content]))
    const backlog = new Map<string, string>()
    replica.backlog = backlog
    try {
      for (const [file, content] of this.options.files()) {
        if (this.closed) return
        if (!backlog.has(file)) await send(file, content)
      }
      for (let [next] = backlog; next !== undefined; [next] = backlog) {
        backlog.delete(next[0])
        await send(...next)
      }
      replica.inSync = true
      // A file that the candidate never had cannot be moved there; that is no reason to distrust its copy.
      for (const [from, to] of replica.renames.splice(0))
        await nodes.one(replica.target, 'jobqueue_rename', [[[from, to]]]).catch(() => undefined)
      log.info({ node: replica.target.name }, 'master candidate has the whole queue')
      await this.persist()
    } catch (error) {
      log.warn({ node: replica.target.name, err: error }, 'master candidate still cannot take the queue')
    } finally {
      replica.backlog = undefined
    }
  }
}

const newReplica = (target: NodeTarget, inSync: boolean): Replica => ({
  ...{ target, inSync },
  backlog: undefined,
  oneByOne: false,
  renames: [],
})

/** Ganeti's noded hangs up on a call that it does not know. */
const isUnknownCall = (error: unknown): boolean =>
  error instanceof NodeCallError && /does not know this call|closed the connection/.test(error.reason)

/** Fails when an answer does not come in the time that a write may wait for it. */
export async function withinTime<T>(clock: Clock, call: Promise<T>): Promise<T> {
  const answer = await within(
    clock,
    limits.replication_s,
    call.then((value) => ({ value })),
  )
  if (answer === undefined) throw new Error(`no answer within ${limits.replication_s} s`)
  return answer.value
}
