// The locks of an opcode, from the first request to the last release. Every request goes through wconfd, level by level
// in Ganeti's order. After a long wait the job's log names the holders.
import { LOCK_WAIT_NOTICE_S } from '../model/limits/operations'
import type { LockLevel, LockMode, LockName, LockRequest } from '../rpc/wconfd/calls'
import { JobCancelled, type JobEnvironment } from './environment'

/** The levels that a unit requests; the processor takes the cluster's lock. */
export type UnitLevel = Exclude<LockLevel, 'cluster'>
export const unitLevels: readonly UnitLevel[] = ['instance', 'nodegroup', 'node', 'node-res', 'network']

export interface Want {
  readonly mode: LockMode
  /** Instance names, or uuids at other levels. `all` means the whole level. */
  readonly names: readonly string[] | 'all'
  /** Takes the free ones, but no fewer than this. */
  readonly opportunistic?: number
}

const BIG_LOCK = 'cluster/BGL'
const LOCKSET = '[lockset]'

export class LockSession {
  private granted: number | null = null
  private readonly held = new Map<LockLevel, { mode: LockMode; names: readonly string[] | 'all' }>()

  constructor(private readonly env: JobEnvironment) {}

  /** Sent with every change: wconfd refuses a change if its owner's locks were taken away. */
  get epoch(): number | null {
    return this.granted
  }

  async acquireBigLock(mode: LockMode): Promise<void> {
    await this.request([[BIG_LOCK, mode]])
  }

  async acquire(level: UnitLevel, want: Want): Promise<void> {
    if (want.names !== 'all' && want.names.length === 0) return
    if (want.opportunistic !== undefined && want.names !== 'all') {
      this.held.set(level, { mode: want.mode, names: await this.takeFree(level, want.names, want) })
      return
    }
    await this.request(lockNames(level, want.names).map((name): LockRequest => [name, want.mode]))
    this.held.set(level, { mode: want.mode, names: want.names })
  }

  /** Names (instances) or uuids that are held at a level; `all` for the whole level. */
  holds(level: UnitLevel): readonly string[] | 'all' {
    return this.held.get(level)?.names ?? []
  }

  /** Releases a level's locks except the named ones. A level held as a whole is either released or kept as a whole. */
  async keepOnly(level: UnitLevel, keep: readonly string[]): Promise<void> {
    const held = this.held.get(level)
    if (held === undefined) return
    if (keep.length === 0) {
      await this.env.wconfd.freeLocksLevel(this.env.client, level)
      this.held.delete(level)
      return
    }
    if (held.names === 'all') return
    const drop = held.names.filter((name) => !keep.includes(name))
    if (drop.length === 0) return
    const request = lockNames(level, drop).map((name): LockRequest => [name, 'release'])
    await this.env.wconfd.tryUpdateLocks(this.env.client, request)
    this.held.set(level, { ...held, names: held.names.filter((name) => keep.includes(name)) })
  }

  async downgrade(level: UnitLevel): Promise<void> {
    await this.env.wconfd.downGradeLocksLevel(this.env.client, level)
  }

  /**
   * Frees everything, including reservations. If wconfd does not answer, it will notice later that the owner has gone.
   */
  async free(): Promise<void> {
    const { wconfd, client, processLog } = this.env
    this.held.clear()
    this.granted = null
    await wconfd
      .gantryFreeAll(client)
      .catch((error: unknown) => processLog.error({ err: error }, 'could not free locks'))
  }

  private async takeFree(level: UnitLevel, names: readonly string[], want: Want): Promise<string[]> {
    const { wconfd, client } = this.env
    const desired = lockNames(level, names).map((name): [LockName, LockMode] => [name, want.mode])
    const atLeast = want.opportunistic ?? 0
    const got =
      atLeast > 0
        ? await wconfd.guardedOpportunisticLockUnion(atLeast, client, desired)
        : await wconfd.opportunisticLockUnion(client, desired)
    return got.map((name) => name.slice(level.length + 1))
  }

  private async request(request: readonly LockRequest[]): Promise<void> {
    const { wconfd, client, cancelled, clock } = this.env
    if (cancelled.aborted) throw new JobCancelled()
    const giveUp = () => void wconfd.gantryCancelRequest(client).catch(() => undefined)
    cancelled.addEventListener('abort', giveUp, { once: true })
    const reprioritized = this.env.onPriority(() => this.askAgain(request))
    const watch = clock.after(LOCK_WAIT_NOTICE_S * 1000, () => void this.sayWhoBlocks(), { background: true })
    try {
      const { epoch } = await wconfd.gantryAcquire(client, this.env.priority(), request, null)
      this.granted = epoch
    } catch (error) {
      if (cancelled.aborted) throw new JobCancelled()
      throw error
    } finally {
      watch.cancel()
      reprioritized()
      cancelled.removeEventListener('abort', giveUp)
    }
    if (cancelled.aborted) throw new JobCancelled()
  }

  /** The request keeps waiting; only its priority changes. */
  private askAgain(request: readonly LockRequest[]): void {
    const { wconfd, client, processLog } = this.env
    wconfd.updateLocksWaiting(client, this.env.priority(), request).catch((error: unknown) => {
      processLog.warn({ err: error }, 'the request for locks keeps its old priority')
    })
  }

  private async sayWhoBlocks(): Promise<void> {
    const { wconfd, client, processLog } = this.env
    try {
      for (const { title, holders } of await wconfd.gantryBlockers(client)) {
        const who = holders.map((h) => `job ${h.client[0]} (${h.mode} since ${new Date(h.since * 1000).toISOString()})`)
        const text = `Waiting for lock ${title}, held by ${who.join(', ')}`
        processLog.info(text)
        this.env.log('message', ` - INFO: ${text}`)
      }
    } catch (error) {
      processLog.warn({ err: error }, 'could not find out which jobs hold the locks')
    }
  }
}

const lockNames = (level: UnitLevel, names: readonly string[] | 'all'): LockName[] =>
  names === 'all' ? [`${level}/${LOCKSET}`] : names.map((name) => `${level}/${name}`)
