// The copies of the queue on master candidates. A write waits for every candidate in sync. A candidate that fails or is
// too slow is out of sync: writes no longer wait for it, and it is brought up to date in the background. When luxid
// starts, all are out of sync, because nobody knows which of the last writes reached them.
import { errorText } from '../lib/system-failure'
import { within, type Clock, type Timer } from '../lib/clock'
import type { Log } from '../lib/log'
import { QUEUE_COMMIT_FILES_MAX } from '../model/limits/queue'
import {
  QUEUE_BATCH_BYTES_MAX,
  QUEUE_CATCH_UP_S,
  QUEUE_RENAMES_KEPT_MAX,
  CANDIDATE_CALL_S,
  REPLICATION_S,
} from '../model/limits/replication'
import type { NodeUuid } from '../model/ids'
import type { QueueCopy } from '../rpc/luxi/resources'
import { isUnknownCall, type NodeClient, type NodeTarget } from '../rpc/node/client'

export type QueueFile = readonly [file: string, content: string]
/** The content is read when it is its turn; undefined if the file is gone by then. */
export type UnreadFile = readonly [file: string, read: () => Promise<string | undefined>]
export type Rename = readonly [from: string, to: string]

export interface ReplicasOptions {
  nodes: NodeClient
  clock: Clock
  log: Log
  /** Every file of a full copy, read at that moment. */
  files(): Iterable<UnreadFile>
  /** Undefined if it is gone. */
  read(file: string): Promise<string | undefined>
  /** Takes over what only this candidate has, before the first copy replaces it. */
  takeBack(target: NodeTarget): Promise<void>
}

interface Replica {
  target: NodeTarget
  inSync: boolean
  /** Why it is not. */
  reason: string
  /** It has told what it has. Since then it has had nothing from another master. */
  hasTold: boolean
  copying: Promise<void> | undefined
  /** Files that were written during the copy. */
  backlog: Map<string, string> | undefined
  /** Why the running copy is wrong. */
  spoiled: string | undefined
  /** It runs Ganeti's noded, which takes one file per call. */
  oneByOne: boolean
  /** Moves to the archive that it still lacks. */
  renames: Rename[]
}

/** For a cluster without candidates. */
export const noReplicas = {
  update: () => Promise.resolve(),
  fold: () => Promise.resolve(),
  rename: () => Promise.resolve(),
  setDrainFlag: () => Promise.resolve(),
  retract: () => undefined,
}

export class Replicas {
  private readonly replicas = new Map<NodeUuid, Replica>()
  /** Former candidates that are still receiving a copy. */
  private readonly leaving = new Map<NodeUuid, Replica>()
  private timer: Timer | undefined
  private closed = false

  constructor(private readonly options: ReplicasOptions) {}

  targets(): NodeTarget[] {
    return [...this.replicas.values()].filter((replica) => replica.inSync).map((replica) => replica.target)
  }

  status(): QueueCopy[] {
    return [...this.replicas.values()].map(({ target, inSync, reason }) => ({
      ...{ node: target.uuid, name: target.name, in_sync: inSync, reason: inSync ? null : reason },
    }))
  }

  /** Names of out-of-sync candidates. */
  outOfSync(): string[] {
    return [...this.replicas.values()].filter((replica) => !replica.inSync).map((replica) => replica.target.name)
  }

  /** Sets the candidates: new ones get a full copy. */
  setCandidates(targets: readonly NodeTarget[]): void {
    const desired = new Map(targets.map((target) => [target.uuid, target]))
    let changed = false
    for (const [uuid, replica] of this.replicas) {
      if (desired.has(uuid)) continue
      this.leave(uuid, replica)
      changed = true
    }
    for (const target of targets) {
      const old = this.replicas.get(target.uuid)
      const replica = old ?? this.leaving.get(target.uuid) ?? newReplica(target)
      replica.target = target
      this.replicas.set(target.uuid, replica)
      changed ||= old === undefined
    }
    if (changed) this.catchUpSoon(0)
  }

  /** A running copy goes on to its end. If the node becomes a candidate again, the next copy begins after it. */
  private leave(uuid: NodeUuid, replica: Replica): void {
    this.replicas.delete(uuid)
    Object.assign(replica, { inSync: false, spoiled: 'the node was no candidate meanwhile' })
    if (replica.copying === undefined) return
    this.leaving.set(uuid, replica)
    void replica.copying.finally(() => this.leaving.delete(uuid))
  }

  /** Resolves when every candidate in sync has all files. */
  async update(files: readonly QueueFile[]): Promise<void> {
    for (const { backlog } of this.replicas.values()) for (const file of files) backlog?.set(...file)
    const args = sameForAll(files)
    await this.toAllInSync((target) => this.sendTo(target, args))
  }

  /** Makes the candidates in sync write everything so far to their files. */
  async fold(): Promise<void> {
    await this.toAllInSync(async (target) => {
      if (this.replicas.get(target.uuid)?.oneByOne === false)
        await this.options.nodes.one(target, 'gantry_jobqueue_fold', [])
    })
  }

  private async sendTo(
    target: NodeTarget,
    args: [files: readonly QueueFile[]],
    call: 'gantry_jobqueue_append' | 'gantry_jobqueue_write' = 'gantry_jobqueue_append',
  ): Promise<void> {
    const { nodes } = this.options
    const [files] = args
    const replica = this.replicas.get(target.uuid)
    const bytes = files.reduce((sum, [, content]) => sum + content.length, 0)
    if (files.length > 0 && bytes <= QUEUE_BATCH_BYTES_MAX && replica?.oneByOne === false)
      try {
        await nodes.one(target, call, args)
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

  /** A refused job's files may have reached candidates: a full copy removes them. */
  retract(reason: string): void {
    for (const [uuid, replica] of this.replicas) {
      replica.spoiled = reason
      this.lagging(uuid, reason)
    }
  }

  private lagging(uuid: NodeUuid, reason: string): void {
    const replica = this.replicas.get(uuid)
    if (!replica?.inSync) return
    Object.assign(replica, { inSync: false, reason })
    this.options.log.error(
      { node: replica.target.name, reason },
      'master candidate is out of sync: it does not take job files; it gets a full copy as soon as it answers',
    )
    this.catchUpSoon(QUEUE_CATCH_UP_S)
  }

  close(): void {
    this.closed = true
    this.timer?.cancel()
  }

  private async toAllInSync(call: (target: NodeTarget) => Promise<unknown>): Promise<void> {
    await Promise.all(
      this.targets().map(async (target) => {
        try {
          await withinTime(this.options.clock, call(target), REPLICATION_S)
        } catch (error) {
          this.lagging(target.uuid, errorText(error))
        }
      }),
    )
  }

  private catchUpSoon(delay_s: number): void {
    this.timer?.cancel()
    if (this.closed) return
    this.timer = this.options.clock.after(delay_s * 1000, () => void this.catchUp(), { background: true })
  }

  /** Resolves when each out-of-sync candidate has been tried. */
  async catchUp(): Promise<void> {
    const lagging = [...this.replicas.values()].filter((replica) => !replica.inSync)
    await Promise.all(
      lagging.map((replica) => (replica.copying ??= this.copyTo(replica).finally(() => (replica.copying = undefined)))),
    )
    if (this.outOfSync().length > 0) this.catchUpSoon(QUEUE_CATCH_UP_S)
  }

  private async copyTo(replica: Replica): Promise<void> {
    const { clock, log } = this.options
    const { target } = replica
    const backlog = new Map<string, string>()
    replica.backlog = backlog
    replica.spoiled = undefined
    try {
      if (!replica.hasTold) await this.options.takeBack(target)
      replica.hasTold = true
      for await (const files of batches(this.options.files())) {
        if (this.closed) return
        const missing = files.filter(([file]) => !backlog.has(file))
        await withinTime(clock, this.sendTo(target, [missing], 'gantry_jobqueue_write'))
      }
      await this.keepOnly(replica, backlog)
      while (backlog.size + replica.renames.length > 0) {
        const [next] = backlog
        if (next === undefined) await this.moveMissed(replica)
        else {
          backlog.delete(next[0])
          await withinTime(clock, this.sendTo(target, [[next]]))
        }
      }
      if (replica.spoiled !== undefined) throw new Error(replica.spoiled)
      replica.inSync = true
      log.info({ node: target.name }, 'master candidate has the whole queue')
    } catch (error) {
      replica.reason = errorText(error)
      log.warn({ node: target.name, err: error }, 'master candidate still cannot take the queue')
    } finally {
      replica.backlog = undefined
    }
  }

  /** Sends each file again before it is moved: the candidate may never have had it. */
  private async moveMissed(replica: Replica): Promise<void> {
    const { nodes, clock, read } = this.options
    const { target } = replica
    const renames = new Map(replica.renames)
    const moved = [...renames].map(([from, to]): UnreadFile => [from, () => read(to)])
    for await (const files of batches(moved)) {
      const pairs = files.map(([from]): [string, string] => [from, renames.get(from) ?? from])
      if (pairs.length === 0) continue
      await withinTime(clock, this.sendTo(target, [files], 'gantry_jobqueue_write'))
      await withinTime(clock, nodes.one(target, 'jobqueue_rename', [pairs]))
    }
    replica.renames = replica.renames.filter(([from]) => !renames.has(from))
  }

  /**
   * Removes files that the queue does not have, such as those of jobs that were refused because they could not be
   * written here.
   */
  private async keepOnly({ target }: Replica, backlog: ReadonlyMap<string, string>): Promise<void> {
    const kept = [...this.options.files(), ...backlog].map(([file]) => file)
    try {
      await withinTime(this.options.clock, this.options.nodes.one(target, 'gantry_jobqueue_keep', [kept]))
    } catch (error) {
      if (!isUnknownCall(error)) throw error
    }
  }
}

/** All candidates get the same arguments: the client recognizes the object, and encodes it once. */
function sameForAll(files: readonly QueueFile[]): [files: readonly QueueFile[]] {
  const args: [readonly QueueFile[]] = [files]
  Object.freeze(args)
  return args
}

/** As many files as fit into one call. Each is read when its batch is put together. */
async function* batches(files: Iterable<UnreadFile>): AsyncGenerator<QueueFile[]> {
  let batch: QueueFile[] = []
  let bytes = 0
  for (const [file, read] of files) {
    const content = await read()
    if (content === undefined) continue
    batch.push([file, content])
    bytes += content.length
    if (batch.length < QUEUE_COMMIT_FILES_MAX && bytes < QUEUE_BATCH_BYTES_MAX / 2) continue
    yield batch
    batch = []
    bytes = 0
  }
  yield batch
}

const newReplica = (target: NodeTarget): Replica => ({
  ...{
    target,
    inSync: false,
    reason: 'it has not been reached yet',
    hasTold: false,
    copying: undefined,
    backlog: undefined,
    oneByOne: false,
  },
  ...{ spoiled: undefined, renames: [] },
})

/** Fails if an answer takes longer. */
export async function withinTime<T>(clock: Clock, call: Promise<T>, limit_s = CANDIDATE_CALL_S): Promise<T> {
  const answer = await within(
    clock,
    limit_s,
    call.then((value) => ({ value })),
  )
  if (answer === undefined) throw new Error(`no answer within ${limit_s} s`)
  return answer.value
}
