// Keeps the lock table: saves it before anything is acknowledged, and wakes callers whose requests were granted or
// taken back.
import { seconds, type Clock, type Timer } from '../../lib/clock'
import type { Disk } from '../../lib/disk'
import type { Log } from '../../lib/log'
import type { Paths } from '../../lib/paths'
import { quarantine } from '../../lib/file/quarantine'
import { SET_ASIDE_MAX } from '../../model/limits/daemons'
import { decodeTable, encodeTable } from '../../locks/encoding'
import { blocking } from '../../locks/listing'
import { createTable, ownerKey, type LockTable, type OwnerKey } from '../../locks/state'
import { step, type Effects, type LockEvent } from '../../locks/table'
import { LockError } from '../../model/errors'
import type { ClientId, LockRequest } from '../../model/lock'
import { CoalescedWriter } from './coalesced-writer'
import { LocksFile } from './locks-file'

export interface LockKeeperOptions {
  paths: Pick<Paths, 'locksFile'>
  disk: Disk
  clock: Clock
  log: Log
}

interface Waiter {
  granted(): void
  failed(error: Error): void
}

type WithoutTime<E> = E extends unknown ? Omit<E, 'at'> : never

export async function openLocks(options: LockKeeperOptions): Promise<LockKeeper> {
  const { paths, disk, clock, log } = options
  const firstEpoch = Math.floor(clock.now_ms())
  const file = new LocksFile(disk, paths.locksFile)
  const text = (await file.read()) ?? ''
  let table = createTable(firstEpoch)
  try {
    if (text.trim() !== '') table = decodeTable(text, firstEpoch, seconds(clock))
  } catch (error) {
    // Losing the locks is safe: a client that wrongly believes it holds locks is refused as soon as it changes
    // something.
    const kept = await quarantine(paths.locksFile, 'rejected', { disk, clock, most: SET_ASIDE_MAX })
    log.error({ err: error, kept }, 'the locks cannot be read; all are free now, and the file is kept')
  }
  return new LockKeeper(options, table, file)
}

export class LockKeeper {
  private readonly waiters = new Map<OwnerKey, Waiter>()
  private readonly writer: CoalescedWriter

  constructor(
    private readonly options: LockKeeperOptions,
    readonly table: LockTable,
    private readonly file: LocksFile,
  ) {
    this.writer = new CoalescedWriter(() => this.file.save(encodeTable(this.table)))
  }

  /** Resolves when the effects of this event and all earlier ones are on the disk. */
  async perform(event: WithoutTime<LockEvent>): Promise<Effects> {
    const { effects, saved } = this.act(event)
    await saved
    return effects
  }

  /**
   * Waits for the whole request. When `gone` resolves, the caller can no longer be answered, and its request is taken
   * back.
   */
  acquire(
    owner: ClientId,
    priority: number,
    request: readonly LockRequest[],
    timeout_s: number | null,
    gone: Promise<void>,
  ): Promise<{ epoch: number }> {
    const key = ownerKey(owner)
    const { effects, saved } = this.act({ kind: 'update', owner, request, priority })
    if (effects.blockers.length === 0) return saved.then(() => ({ epoch: this.epochOf(owner) }))
    this.waiters.get(key)?.failed(new LockError('The same owner asked for the locks again on another connection'))
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined
      const end = (action: () => void) => {
        timer?.cancel()
        if (this.waiters.get(key) === waiter) this.waiters.delete(key)
        action()
      }
      const waiter: Waiter = {
        granted: () => end(() => resolve({ epoch: this.epochOf(owner) })),
        failed: (error) => end(() => reject(error)),
      }
      const giveUp = (reason: () => Error) => {
        if (this.waiters.get(key) !== waiter) return
        waiter.failed(reason())
        this.act({ kind: 'cancel', owner })
      }
      this.waiters.set(key, waiter)
      if (timeout_s !== null)
        timer = this.options.clock.after(timeout_s * 1000, () => giveUp(() => this.timedOut(owner, timeout_s)), {
          background: true,
        })
      void gone.then(() => giveUp(() => new LockError('The connection of the waiting owner broke')))
    })
  }

  /** Refuses actions of an owner that no longer has the locks. */
  checkEpoch(client: ClientId, epoch: number): void {
    const owner = this.table.owners.get(ownerKey(client))
    // After a restart of the daemon the epochs are unknown. But owners whose locks were taken away are no longer in the
    // table.
    if (owner && owner.epoch === null) owner.epoch = epoch
    if (owner?.epoch === epoch) return
    throw new LockError(
      `The locks of ${describe(client)} were taken away or given back (epoch ${epoch}); its change is refused`,
    )
  }

  /**
   * Clients that still wait get no answer: they ask the next run of the daemon. The file keeps their requests for it.
   */
  async close(): Promise<void> {
    this.waiters.clear()
    await this.writer.idle()
    await this.file.close(encodeTable(this.table))
  }

  private act(event: WithoutTime<LockEvent>): { effects: Effects; saved: Promise<void> } {
    const effects = step(this.table, { ...event, at: seconds(this.options.clock) })
    const saved = effects.changed ? this.writer.request() : this.writer.idle()
    saved.catch((error: unknown) => this.notSaved(error))
    if (effects.withdrawn) this.waiters.get(ownerKey(event.owner))?.failed(new LockError('The request was taken back'))
    for (const client of effects.granted) {
      const waiter = this.waiters.get(ownerKey(client))
      if (waiter)
        saved.then(waiter.granted, (error: unknown) => waiter.failed(error instanceof Error ? error : new Error()))
    }
    return { effects, saved }
  }

  private epochOf(client: ClientId): number {
    const owner = this.table.owners.get(ownerKey(client))
    if (owner === undefined) throw new LockError(`${describe(client)} asked for no locks, or they were taken away`)
    return (owner.epoch ??= this.table.nextEpoch++)
  }

  private timedOut(client: ClientId, timeout_s: number): LockError {
    const waits = blocking(this.table, client).map(({ lock, holders }) => {
      const who = holders.map((h) => `${describe(h.client)} (${h.mode} since ${isoTime(h.since)})`)
      return `${lock}, held by ${who.join(', ')}`
    })
    return new LockError(`No locks for ${describe(client)} within ${timeout_s} s: waiting for ${waits.join('; ')}`)
  }

  private notSaved(error: unknown): void {
    this.options.log.error({ err: error }, 'locks.data cannot be written')
  }
}

export const describe = ([identifier, , pid]: ClientId): string =>
  `${typeof identifier === 'number' ? `job ${identifier}` : identifier} (process ${pid})`

const isoTime = (time_s: number): string => new Date(time_s * 1000).toISOString()
