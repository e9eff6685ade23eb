// The copies of the queue on master candidates. A write waits for every candidate in sync; one that fails or does not answer in
// time is out of sync from then on, is not waited for again, and is brought up to date in the background. When luxid starts, all are
// out of sync: nobody knows which of the last writes of a former one have reached whom.
import { errorText } from '../lib/system-failure'
import { within, type Clock, type Timer } from '../lib/clock'
import type { Log } from '../lib/log'
import { QUEUE_COMMIT_FILES_MAX } from '../model/limits/queue'
import {
  QUEUE_BATCH_BYTES_MAX,
  QUEUE_CATCH_UP_S,
  QUEUE_RENAMES_KEPT_MAX,
  REPLICATION_S,
} from '../model/limits/replication'
import type { NodeUuid } from '../model/ids'
import { isUnknownCall, type NodeClient, type NodeTarget } from '../rpc/node/client'

export type QueueFile = readonly [file: string, content: string]
/** Its content is read when it is its turn; undefined when the file is gone by then. */
export type UnreadFile = readonly [file: string, read: () => Promise<string | undefined>]
export type Rename = readonly [from: string, to: string]

export interface ReplicasOptions {
  nodes: NodeClient
  clock: Clock
  log: Log
  /** Every file that a full copy needs, read as it is at that moment. */
  files(): Iterable<UnreadFile>
  /** Undefined when it is gone. */
  read(file: string): Promise<string | undefined>
}

interface Replica {
  target: NodeTarget
  inSync: boolean
  copying: Promise<void> | undefined
  /** Files that were written while the copy was under way. */
  backlog: Map<string, string> | undefined
  /** Why the copy under way is not the queue's. */
  spoiled: string | undefined
  /** It runs Ganeti's noded, which takes one file in a call. */
  oneByOne: boolean
  /** Moves to the archive that it lacks. */
  renames: Rename[]
}

/** Where there are no candidates. */
export const noReplicas = {
  update: () => Promise.resolve(),
  fold: () => Promise.resolve(),
  rename: () => Promise.resolve(),
  setDrainFlag: () => Promise.resolve(),
  retract: () => undefined,
}

export class Replicas {
  private readonly replicas = new Map<NodeUuid, Replica>()
  /** No candidates any more, and still sent a copy. */
  private readonly leaving = new Map<NodeUuid, Replica>()
  private timer: Timer | undefined
  private closed = false

  constructor(private readonly options: ReplicasOptions) {}

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
    for (const [uuid, replica] of this.replicas) {
      if (wanted.has(uuid)) continue
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

  /** A copy under way goes on to its end; where the node comes back before, the next copy begins after it. */
  private leave(uuid: NodeUuid, replica: Replica): void {
    this.replicas.delete(uuid)
    Object.assign(replica, { inSync: false, spoiled: 'the node was no candidate meanwhile' })
    if (replica.copying === undefined) return
    this.leaving.set(uuid, replica)
    void replica.copying.finally(() => this.leaving.delete(uuid))
  }

  /** Resolves when every candidate in sync has all of them. */
  async update(files: readonly QueueFile[]): Promise<void> {
    for (const { backlog } of this.replicas.values()) for (const file of files) backlog?.set(...file)
    const args = sameForAll(files)
    await this.toAllInSync((target) => this.sendTo(target, args))
  }

  /** Makes the candidates in sync write everything that was sent until now to their files. */
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

  /** Files were refused here that candidates may have taken: a full copy takes them away again. */
  retract(reason: string): void {
    for (const [uuid, replica] of this.replicas) {
      replica.spoiled = reason
      this.lagging(uuid, reason)
    }
  }

  private lagging(uuid: NodeUuid, reason: string): void {
    const replica = this.replicas.get(uuid)
    if (!replica?.inSync) return
    replica.inSync = false
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
          await withinTime(this.options.clock, call(target))
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

  /** Resolves when each candidate that lacks something has been tried. */
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

  /** Removes the files that the queue does not have, such as those of jobs that were refused because they could not be written here. */
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

/** As many files as one call takes; each is read when its batch is put together. */
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
  ...{ target, inSync: false, copying: undefined, backlog: undefined, oneByOne: false },
  ...{ spoiled: undefined, renames: [] },
})

/** Fails when an answer does not come in the time that a write may wait for it. */
export async function withinTime<T>(clock: Clock, call: Promise<T>): Promise<T> {
  const answer = await within(
    clock,
    REPLICATION_S,
    call.then((value) => ({ value })),
  )
  if (answer === undefined) throw new Error(`no answer within ${REPLICATION_S} s`)
  return answer.value
}
