// The client of wconfd. It outlives restarts of the daemon: what was not sent, or may be done twice, is sent again.
import { systemClock, type Clock } from '../../lib/clock'
import { WCONFD_ANSWER_S, WCONFD_RECONNECT_S, WCONFD_RETRY_PAUSE_S } from '../../model/limits/wconfd'
import { JsonClient, PeerError, type Remembered } from '../json-protocol'
import type { Wconfd } from './calls'

export const WCONFD = 'the configuration daemon (wconfd)'

/** `once`: an answer that got lost is an error, as a second call would find the first one's work. `unit`: the answer says nothing. */
const CALLS: Readonly<Record<keyof Wconfd, 'again' | 'again, unit' | 'once' | 'once, unit'>> = {
  echo: 'again',
  readConfig: 'again',
  gantryRead: 'again',
  gantrySection: 'again',
  gantryChange: 'once',
  gantryAcquire: 'again',
  gantryCancelRequest: 'again, unit',
  gantryOwnerDied: 'again',
  gantryBlockers: 'again',
  gantryReplicas: 'again',
  gantryMetrics: 'again',
  tryUpdateLocks: 'again',
  updateLocksWaiting: 'again',
  freeLocks: 'again, unit',
  gantryFreeAll: 'again, unit',
  freeLocksLevel: 'again, unit',
  downGradeLocksLevel: 'again, unit',
  intersectLocks: 'again, unit',
  opportunisticLockUnion: 'once',
  guardedOpportunisticLockUnion: 'once',
  hasPendingRequest: 'again',
  listLocks: 'again',
  listAllLocks: 'again',
  listAllLocksOwners: 'again',
  listLocksWaitingStatus: 'again',
  cleanupLocks: 'again, unit',
  verifyConfig: 'again, unit',
  flushConfig: 'again, unit',
  dropAllReservations: 'again, unit',
  reserveMAC: 'once, unit',
  generateMAC: 'again',
  generateDRBDSecret: 'again',
  reserveLV: 'once, unit',
  reserveIp: 'once, unit',
  releaseIp: 'once, unit',
  generateIp: 'again',
  commitTemporaryIps: 'again, unit',
  commitReleaseTemporaryIp: 'again, unit',
  listReservedIps: 'again',
  computeDRBDMap: 'again',
  allocateDRBDMinor: 'once',
  releaseDRBDMinors: 'again, unit',
  allocatePort: 'again',
}

export interface WconfdClientOptions {
  path: string
  clock?: Clock
  /** Seconds to go on trying while nobody answers; 0 fails at once. */
  reconnect_s?: number
}

export type WconfdClient = Wconfd & { close(): void }

export function openWconfd(options: WconfdClientOptions): WconfdClient {
  const line = new Line(options)
  const call =
    (name: keyof Wconfd) =>
    async (...args: readonly unknown[]) => {
      const result = await line.call(name, args)
      return CALLS[name].endsWith('unit') ? null : result
    }
  const names = Object.keys(CALLS) as (keyof Wconfd)[]
  const calls = Object.fromEntries(names.map((name) => [name, call(name)]))
  // The daemon at the other end is made of the same table of calls.
  return { ...calls, close: () => line.close() } as unknown as WconfdClient
}

/** A waiting gantryAcquire has a connection to itself, since answers come in the order of the calls. */
class Line {
  private readonly main: JsonClient
  private readonly idle: JsonClient[] = []
  private readonly waiting = new Set<JsonClient>()
  private closed = false
  /** The cluster alone, without nodes or instances: many opcodes ask for it, and it seldom changes. */
  private readonly cluster: Remembered = {}

  constructor(private readonly options: WconfdClientOptions) {
    this.main = this.newClient()
  }

  async call(name: keyof Wconfd, args: readonly unknown[]): Promise<unknown> {
    const { clock = systemClock, reconnect_s = WCONFD_RECONNECT_S } = this.options
    let deadline = clock.monotonic_ms() + reconnect_s * 1000
    for (;;) {
      try {
        if (name === 'gantryAcquire') return await this.acquire(args)
        const remembered = name === 'gantryRead' && asksForNothingElse(args[0]) ? this.cluster : undefined
        return await this.main.call(name, args, WCONFD_ANSWER_S, remembered)
      } catch (error) {
        if (!(error instanceof PeerError) || !this.mayRepeat(name, error)) throw error
        // A lost answer means that there was a daemon until now.
        if (error.kind === 'lost') deadline = clock.monotonic_ms() + reconnect_s * 1000
        if (clock.monotonic_ms() >= deadline) throw error
        await clock.sleep(WCONFD_RETRY_PAUSE_S * 1000)
      }
    }
  }

  close(): void {
    this.closed = true
    for (const client of [this.main, ...this.idle, ...this.waiting]) client.close()
  }

  private mayRepeat(name: keyof Wconfd, error: PeerError): boolean {
    if (this.closed || error.kind === 'timeout') return false
    return error.kind === 'unreachable' || error.kind === 'forbidden' || CALLS[name].startsWith('again')
  }

  private async acquire(args: readonly unknown[]): Promise<unknown> {
    const client = this.idle.pop() ?? this.newClient()
    this.waiting.add(client)
    try {
      return await client.call('gantryAcquire', args, null)
    } finally {
      this.waiting.delete(client)
      this.idle.push(client)
    }
  }

  private newClient(): JsonClient {
    return new JsonClient({ path: this.options.path, peer: WCONFD, clock: this.options.clock })
  }
}

const asksForNothingElse = (selector: unknown): boolean =>
  typeof selector === 'object' && selector !== null && Object.keys(selector).length === 0
