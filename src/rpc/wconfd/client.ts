// The client of wconfd. It survives restarts of the daemon: it repeats calls that were not sent or may be repeated. A
// change has an id, so that a repeated one is made once.
import type { Clock } from '../../lib/clock'
import type { Random } from '../../lib/random'
import { LockError } from '../../model/errors'
import { WCONFD_ANSWER_S, WCONFD_RECONNECT_S, WCONFD_RETRY_PAUSE_S } from '../../model/limits/wconfd'
import { JsonClient, PeerError, type Remembered } from '../json-protocol'
import { type Wconfd, type WconfdCallName, wconfdCalls } from './calls'

const WCONFD = 'the configuration daemon (wconfd)'

export interface WconfdClientOptions {
  path: string
  clock: Clock
  random: Random
  /** Seconds to keep trying while nobody answers; 0 fails at once. */
  reconnect_s?: number
}

export type WconfdClient = Wconfd & { close(): void }

export function openWconfd(options: WconfdClientOptions): WconfdClient {
  const line = new Line(options)
  const call =
    (name: WconfdCallName) =>
    async (...args: readonly unknown[]) => {
      const answer = await line.call(name, args)
      return wconfdCalls[name].result.unit ? null : answer
    }
  const names = Object.keys(wconfdCalls) as WconfdCallName[]
  const calls = Object.fromEntries(names.map((name) => [name, call(name)]))
  // The daemon uses the same table of calls.
  return { ...calls, close: () => line.close() } as unknown as WconfdClient
}

/** A connection. A call that waits has its own, since answers come in the order of the calls. */
class Line {
  private readonly main: JsonClient
  private readonly idle: JsonClient[] = []
  private readonly waiting = new Set<JsonClient>()
  private closed = false
  /** The cluster object alone: many opcodes ask for it, and it seldom changes. */
  private readonly cluster: Remembered = {}

  constructor(private readonly options: WconfdClientOptions) {
    this.main = this.newClient()
  }

  async call(name: WconfdCallName, args: readonly unknown[]): Promise<unknown> {
    const { clock, random, reconnect_s = WCONFD_RECONNECT_S } = this.options
    const { byId } = wconfdCalls[name]
    const sent = byId ? [...args, random.uuid()] : args
    const nextEnd = () => clock.monotonic_ms() + reconnect_s * 1000
    let end_ms = nextEnd()
    /** The first loss of an answer to a call that changes something. */
    let lost: PeerError | undefined
    for (;;) {
      try {
        return await this.send(name, sent)
      } catch (error) {
        // A daemon that does not know the owner any more does not know the owner's changes either.
        if (lost !== undefined && error instanceof LockError) throw lost
        if (!(error instanceof PeerError)) throw error
        const isOpen = error.kind === 'lost' || (byId && error.kind === 'timeout')
        // A lost answer means that a daemon was there until now. A change gets this time only once.
        if (isOpen && lost === undefined) end_ms = nextEnd()
        if (isOpen && byId) lost ??= error
        if (!this.mayRepeat(name, error) || clock.monotonic_ms() >= end_ms) throw lost ?? error
        await clock.sleep(WCONFD_RETRY_PAUSE_S * 1000)
      }
    }
  }

  close(): void {
    this.closed = true
    for (const client of [this.main, ...this.idle, ...this.waiting]) client.close()
  }

  private send(name: WconfdCallName, args: readonly unknown[]): Promise<unknown> {
    if (wconfdCalls[name].waits) return this.callAlone(name, args)
    const remembered = name === 'gantryRead' && asksForNothingElse(args[0]) ? this.cluster : undefined
    return this.main.call(name, args, WCONFD_ANSWER_S, remembered)
  }

  private mayRepeat(name: WconfdCallName, error: PeerError): boolean {
    if (this.closed || (error.kind === 'timeout' && !wconfdCalls[name].byId)) return false
    return error.kind === 'unreachable' || error.kind === 'forbidden' || wconfdCalls[name].again
  }

  private async callAlone(name: WconfdCallName, args: readonly unknown[]): Promise<unknown> {
    const client = this.idle.pop() ?? this.newClient()
    this.waiting.add(client)
    try {
      return await client.call(name, args, null)
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
