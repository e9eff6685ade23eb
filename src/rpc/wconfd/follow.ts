// Following the configuration: the call `gantryFollow` is answered by a snapshot in slices, then deltas come on the
// same connection. wconfd serves it, and noded on other master candidates. luxid, confd and others follow instead of
// reading files again and again.
import { breathe, hearAll, type Clock, type Timer } from '../../lib/clock'
import { connectFramed, type FramedConnection } from '../../lib/net/json-socket'
import { silentLog, type Log } from '../../lib/log'
import { applyToConfig, applyToGantry, type Delta } from '../../config/delta'
import { recordFrom } from '../../config/records'
import type { ConfigData, GantryData, ObjectKind } from '../../model/config'
import { errorFromWire } from '../../model/errors'
import { WCONFD_ANSWER_S, WCONFD_RECONNECT_S, WCONFD_RETRY_PAUSE_S } from '../../model/limits/wconfd'
import { CALL_CONNECT_S } from '../../model/limits/wires'
import { late, PeerError } from '../json-protocol'

const FOLLOW = 'gantryFollow'

export interface FollowOptions {
  clock: Clock
  log?: Log
  /** Seconds to wait for the first snapshot. */
  wait_s?: number
}

/** `delta` is null after a snapshot, when anything may have changed. */
export type OnConfigChange = (config: ConfigData, delta: Delta | null) => void

/** Resolves with the first snapshot. Then it keeps following, also over restarts of the daemon, until it is closed. */
export async function followConfig(
  path: string,
  options: FollowOptions,
  onChange: OnConfigChange = () => undefined,
): Promise<ConfigFollower> {
  const follower = new ConfigFollower(path, onChange, options)
  await follower.start()
  return follower
}

export class ConfigFollower {
  private config: ConfigData | undefined
  private coming: Snapshot | undefined
  private gantryData: GantryData | undefined
  private connection: FramedConnection | undefined
  private established = false
  private closed = false

  constructor(
    private readonly path: string,
    private readonly onChange: OnConfigChange,
    private readonly options: FollowOptions,
  ) {}

  current(): ConfigData {
    if (this.config === undefined) throw new PeerError(`no configuration came from ${this.path} yet`, 'unreachable')
    return this.config
  }

  /** Whether changes arrive at once. */
  get connected(): boolean {
    return this.established
  }

  /** Undefined if the socket does not serve it. */
  gantry(): GantryData | undefined {
    return this.gantryData
  }

  close(): void {
    this.closed = true
    this.connection?.destroy()
  }

  async start(): Promise<void> {
    const { clock, wait_s = WCONFD_RECONNECT_S } = this.options
    const deadline = clock.monotonic_ms() + wait_s * 1000
    for (;;) {
      try {
        return await this.connect()
      } catch (error) {
        if (this.closed || clock.monotonic_ms() >= deadline) throw error
        await clock.sleep(WCONFD_RETRY_PAUSE_S * 1000)
      }
    }
  }

  /** Resolves when the snapshot has come. A daemon that hangs takes the connection all the same, and says nothing. */
  private connect(): Promise<void> {
    let received = 0
    let silence: Timer | undefined
    let isOver = false
    const come = new Promise<void>((resolve, reject) => {
      const listen = (connection: FramedConnection) => {
        const before = received
        const look = () => {
          if (isOver) return
          if (received !== before) return listen(connection)
          reject(late('the configuration daemon', this.path, FOLLOW, WCONFD_ANSWER_S))
          connection.destroy()
        }
        silence = this.options.clock.after(WCONFD_ANSWER_S * 1000, () => void hearAll().then(look), {
          background: true,
        })
      }
      const receive = async (text: string, connection: FramedConnection) => {
        // Ignores messages of a former connection.
        if (connection !== this.connection) return
        received++
        try {
          await this.receive(JSON.parse(text))
          if (this.coming === undefined) resolve()
        } catch (error) {
          this.options.log?.warn({ err: error, path: this.path }, 'following the configuration anew')
          reject(error instanceof Error ? error : new Error(String(error)))
          connection.destroy()
        }
      }
      connectFramed({ path: this.path, connectTimeout_s: CALL_CONNECT_S, onMessage: receive }).then((connection) => {
        this.connection = connection
        if (this.closed) connection.destroy()
        void connection.closed.then(() => {
          const { established } = this
          this.established = false
          reject(new PeerError(`${this.path} closed the connection before it sent the configuration`, 'lost'))
          if (established && !this.closed) void this.reconnect()
        })
        connection.send(JSON.stringify({ method: FOLLOW, args: [] }))
        listen(connection)
      }, reject)
    })
    return come.finally(() => {
      isOver = true
      silence?.cancel()
    })
  }

  private async reconnect(): Promise<void> {
    const { clock, log = silentLog } = this.options
    this.connection = undefined
    for (let tries = 0; !this.closed; tries++) {
      if (tries > 0) await clock.sleep(WCONFD_RETRY_PAUSE_S * 1000)
      try {
        return await this.connect()
      } catch (error) {
        if (tries === 0) log.warn({ err: error }, 'the configuration daemon is away; trying again')
      }
    }
  }

  private async receive(message: unknown): Promise<void> {
    if (isMessage(message, 'delta'))
      return this.advance({ ...(message.delta as Delta), askers: message['askers'] as Delta['askers'] })
    if (isMessage(message, 'objects')) return this.collect(message.objects as [ObjectKind, { uuid: string }][])
    if (isMessage(message, 'complete')) return this.arrive()
    if (!isMessage(message, 'result')) throw new Error('a message that is neither of a snapshot nor a delta')
    if (message['success'] !== true) throw errorFromWire(message.result)
    // The daemon has checked the data, so this does not check again.
    this.coming = { ...(message.result as Pick<Snapshot, 'config' | 'gantry'>), objects: new Map() }
  }

  private async collect(objects: readonly (readonly [ObjectKind, { uuid: string }])[]): Promise<void> {
    for (const [kind, object] of objects) {
      const same = this.coming?.objects.get(kind)
      if (same) same.set(object.uuid, object)
      else this.coming?.objects.set(kind, new Map([[object.uuid, object]]))
    }
    await breathe()
  }

  private arrive(): void {
    if (this.coming === undefined) throw new Error('the end of a snapshot that did not begin')
    const { config, gantry, objects } = this.coming
    const containers = [...objects].map(([kind, same]) => [kind, recordFrom(same)] as const)
    const whole: ConfigData = { ...config, ...Object.fromEntries(containers) }
    this.coming = undefined
    this.config = whole
    this.gantryData = gantry
    this.established = true
    this.onChange(whole, null)
  }

  private advance(delta: Delta): void {
    const config = this.current()
    if (delta.to <= config.serial_no) return
    if (delta.from !== config.serial_no)
      throw new Error(`the delta ${delta.from} to ${delta.to} does not follow serial ${config.serial_no}`)
    this.config = applyToConfig(config, delta)
    if (this.gantryData) this.gantryData = applyToGantry(this.gantryData, delta)
    this.onChange(this.config, delta)
  }
}

/** A snapshot that is still incomplete. */
interface Snapshot {
  readonly config: ConfigData
  readonly gantry?: GantryData
  readonly objects: Map<ObjectKind, Map<string, object>>
}

const isMessage = <K extends string>(value: unknown, key: K): value is Record<K, unknown> & Record<string, unknown> =>
  typeof value === 'object' && value !== null && key in value
