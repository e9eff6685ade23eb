// Joins everything that wconfd keeps: the configuration, the locks, the reservations, and checks which owners still
// live.
import * as path from 'node:path'
import { Reservations } from '../../config/reservations'
import { openStore, type ConfigStore } from '../../config/store'
import type { Clock, Timer } from '../../lib/clock'
import { type Disk, isFull } from '../../lib/disk'
import type { LockFile } from '../../lib/file/lock'
import { quarantine } from '../../lib/file/quarantine'
import { isServed } from '../../lib/net/json-socket'
import type { Log } from '../../lib/log'
import type { Paths } from '../../lib/paths'
import type { Random } from '../../lib/random'
import { RECEIPTS_RETRY_S, SET_ASIDE_MAX } from '../../model/limits/daemons'
import type { ClientId } from '../../model/lock'
import type { NodeClient } from '../../rpc/node/client'
import { refuseLess } from '../../replication/config-status'
import { openReplication, type Replication } from '../../replication/replication'
import { CoalescedWriter } from './coalesced-writer'
import { describe, openLocks, type LockKeeper } from './lock-keeper'
import { WconfdMeasures } from './measures'
import { Receipts, RECEIPTS_SECTION, receiptsIn } from './receipts'
import { readTempres } from './tempres'

export interface WconfdOptions {
  paths: Paths
  clock: Clock
  random: Random
  log: Log
  disk: Disk
  nodes: NodeClient
  lockFile?: LockFile
}

export class WconfdState {
  private readonly tempres: CoalescedWriter
  private retry: Timer | undefined

  private constructor(
    private readonly options: WconfdOptions,
    readonly store: ConfigStore,
    readonly locks: LockKeeper,
    readonly reservations: Reservations,
    readonly replication: Replication,
    readonly measures: WconfdMeasures,
    readonly receipts: Receipts,
  ) {
    const { disk, paths } = options
    this.tempres = new CoalescedWriter(() => disk.write(paths.tempresFile, reservations.encode()))
    store.subscribe((delta) => {
      if (reservations.settle(delta)) void this.tempres.request().catch((error: unknown) => this.notSaved(error))
    })
  }

  /** Reads the files of the last run, and frees everything of owners that died meanwhile. */
  static async open(options: WconfdOptions): Promise<WconfdState> {
    const { random } = options
    const measures = new WconfdMeasures(options.clock)
    const store = await openStore({ ...options, wrote: measures.wrote })
    await refuseLess(store, options).catch(async (error: unknown) => {
      await store.close(false)
      throw error
    })
    measures.journalSize(() => store.journalSize)
    const locks = await openLocks(options)
    const reservations = new Reservations(() => store.current(), random)
    await loadReservations(reservations, options)
    const replication = await openReplication({ ...options, store })
    const receipts = new Receipts([...receiptsIn(store.gantry().sections[RECEIPTS_SECTION] ?? {}), ...store.receipts])
    const state = new WconfdState(options, store, locks, reservations, replication, measures, receipts)
    await state.beginWithRoom()
    return state
  }

  /** Runs an action that changes reservations; resolves with its result when the change is on the disk. */
  reserving = async <T>(action: () => T): Promise<T> => {
    const result = action()
    await this.tempres.request()
    return result
  }

  /** Frees everything of an owner. Returns whether there was anything. */
  free = async (client: ClientId): Promise<boolean> => {
    this.receipts.forget(client)
    const dropped = this.reservations.drop(client)
    const [effects] = await Promise.all([
      this.locks.perform({ kind: 'free', owner: client }),
      dropped ? this.tempres.request() : undefined,
    ])
    return effects.changed || dropped
  }

  /**
   * Waits until config.data has all changes, so that a copy of the file after a job has the job's changes. Does nothing
   * while others hold or await locks, because these would have to wait.
   */
  settle = async (): Promise<void> => {
    const { owners, waiting } = this.locks.table
    if (owners.size === 0 && waiting.size === 0) await this.store.settle()
  }

  /** Frees everything of an owner that is gone. */
  release = async (client: ClientId): Promise<void> => {
    const { paths, disk, log } = this.options
    if (await this.free(client)) log.info({ owner: describe(client) }, 'freed the locks and reservations of an owner')
    if (path.dirname(client[1]) === paths.livelockDir) await disk.remove(client[1])
  }

  /** Checks all owners. */
  releaseDead = (): Promise<void> => {
    const { owners, waiting } = this.locks.table
    const holders = [...owners.values(), ...waiting.values()].map(({ client }) => client)
    return this.releaseIfDead([...holders, ...this.reservations.owners()])
  }

  /** An owner lives as long as a process listens on its live-lock. */
  releaseIfDead = async (clients: readonly ClientId[]): Promise<void> => {
    const byLivelock = new Map<string, ClientId[]>()
    for (const client of new Map(clients.map((c) => [JSON.stringify(c), c])).values())
      byLivelock.set(client[1], [...(byLivelock.get(client[1]) ?? []), client])
    for (const [livelock, owners] of byLivelock) {
      if (await isServed(livelock)) continue
      for (const client of owners) {
        this.options.log.warn({ owner: describe(client) }, 'the owner is dead')
        await this.release(client)
      }
    }
  }

  /** Questions need no room, so nobody waits for it. Until then the locks of the dead are free in memory only. */
  private async beginWithRoom(): Promise<void> {
    const { clock, log } = this.options
    try {
      await this.releaseDead()
    } catch (error) {
      if (!isFull(error)) throw error
      log.error({ err: error }, 'the locks of dead jobs are freed, but that cannot be written')
    }
    const keep = (): Promise<void> =>
      this.keepReceipts().catch((error: unknown) => {
        log.error({ err: error }, 'what the last run answered cannot be written yet')
        this.retry = clock.after(RECEIPTS_RETRY_S * 1000, () => void keep(), { background: true })
      })
    await keep()
  }

  /** Before the journal goes: its receipts go with it. */
  private async keepReceipts(): Promise<void> {
    const before = this.store.gantry().sections[RECEIPTS_SECTION] ?? {}
    await this.store.change(await this.receipts.saved(before, (owner) => this.locks.table.owners.has(owner)))
  }

  async close(): Promise<void> {
    this.retry?.cancel()
    await this.locks.close()
    await this.tempres.idle()
    await this.keepReceipts().catch((error: unknown) =>
      this.options.log.error({ err: error }, 'jobs whose answers are lost now cannot learn what they changed'),
    )
    await this.store.close(true)
    this.replication.close()
  }

  private notSaved(error: unknown): void {
    this.options.log.error({ err: error }, 'tempres.data cannot be written')
  }
}

/** Without the file all is free that running jobs have reserved, as it is at their end. The configuration lacks nothing. */
async function loadReservations(reservations: Reservations, options: WconfdOptions): Promise<void> {
  const { paths, disk, clock, log } = options
  const saved = await disk.read(paths.tempresFile)
  if (saved === undefined || saved.length === 0) return
  try {
    reservations.load(readTempres(saved.toString('utf8')))
  } catch (error) {
    const kept = await quarantine(paths.tempresFile, 'rejected', { disk, clock, most: SET_ASIDE_MAX })
    log.error(
      { err: error, kept },
      'the reservations of running jobs cannot be read; all are free now, and the file is kept',
    )
  }
}
