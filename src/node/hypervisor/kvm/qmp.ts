// A client of QEMU's machine protocol: JSON lines over a Unix socket. A connection serves one short task and then
// closes, because QEMU talks to one client of a socket at a time.
import * as net from 'node:net'
import type { Clock } from '../../../lib/clock'
import { checkSocketPath } from '../../../lib/net/json-socket'
import { QMP_ANSWER_S, QMP_CONNECT_S, QMP_LINE_BYTES_MAX } from '../../../model/limits/hypervisor'
import { HypervisorFailure } from '../hypervisor'
import { errorCode } from '../../../lib/disk'
import { isObject } from '../../../lib/shapes/shape'

export interface QmpEvent {
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

type Json = Readonly<Record<string, unknown>>

interface Pending {
  resolve(value: unknown): void
  reject(error: Error): void
}

/** QEMU understood a command, but answered with an error. */
export class QmpError extends HypervisorFailure {
  constructor(
    readonly qmpClass: string,
    description: string,
  ) {
    super(description)
  }
}

/**
 * A monitor that accepts requests and does not answer. QEMU 7.2 hangs for good if a request arrives just when it ends.
 */
export class SilentMonitor extends HypervisorFailure {}

/** A monitor that has gone: QEMU ends. Its process may still exist while it releases its disks. */
export class LostMonitor extends HypervisorFailure {}

export interface QmpOptions {
  /** Also commands that QEMU carries out while its main thread is busy. */
  readonly outOfBand?: boolean
}

/** Connects, runs `task`, and disconnects whatever the outcome. */
export async function withQmp<T>(
  path: string,
  clock: Clock,
  task: (qmp: Qmp) => Promise<T>,
  options: QmpOptions = {},
): Promise<T> {
  const qmp = await Qmp.connect(path, clock, options)
  try {
    return await task(qmp)
  } finally {
    qmp.close()
  }
}

export class Qmp {
  private buffer = ''
  private nextId = 1
  private readonly pending = new Map<number, Pending>()
  private readonly listeners = new Set<(event: QmpEvent) => void>()
  private readonly greeting: Promise<unknown>
  private greeted: Pending = { resolve: () => undefined, reject: () => undefined }
  private failure: Error | undefined
  /** Resolves when the connection is over. */
  readonly ended: Promise<void>

  private constructor(
    private readonly socket: net.Socket,
    private readonly clock: Clock,
  ) {
    this.greeting = new Promise((resolve, reject) => (this.greeted = { resolve, reject }))
    this.greeting.catch(() => undefined)
    socket.setEncoding('utf8').on('data', (text: string) => this.receive(text))
    socket.on('error', (error) => this.fail(new LostMonitor(`QEMU monitor: ${error.message}`)))
    this.ended = new Promise((resolve) => socket.once('close', () => resolve()))
    socket.on('close', () => this.fail(new LostMonitor('QEMU closed its monitor connection')))
  }

  static async connect(path: string, clock: Clock, { outOfBand = false }: QmpOptions = {}): Promise<Qmp> {
    checkSocketPath(path)
    const qmp = new Qmp(await connectSocket(path, clock), clock)
    try {
      await qmp.within(QMP_CONNECT_S, 'greeting', qmp.greeting)
      await qmp.run('qmp_capabilities', outOfBand ? { enable: ['oob'] } : undefined, QMP_CONNECT_S)
      return qmp
    } catch (error) {
      qmp.close()
      throw error
    }
  }

  run(command: string, args?: Json, timeout_s = QMP_ANSWER_S): Promise<unknown> {
    return this.send('execute', command, args, timeout_s)
  }

  /** Needs a connection with `outOfBand`. */
  runOutOfBand(command: string, args?: Json, timeout_s = QMP_ANSWER_S): Promise<unknown> {
    return this.send('exec-oob', command, args, timeout_s)
  }

  private send(how: 'execute' | 'exec-oob', command: string, args: Json | undefined, timeout_s: number) {
    if (this.failure) return Promise.reject(this.failure)
    const id = this.nextId++
    const answer = new Promise<unknown>((resolve, reject) => this.pending.set(id, { resolve, reject }))
    this.socket.write(JSON.stringify({ [how]: command, ...(args ? { arguments: args } : {}), id }) + '\n')
    return this.within(timeout_s, command, answer).finally(() => this.pending.delete(id))
  }

  /** Like `run`, for commands that return an object. */
  async object(command: string, args?: Json, timeout_s = QMP_ANSWER_S): Promise<Json> {
    const answer = await this.run(command, args, timeout_s)
    if (isObject(answer)) return answer
    throw new HypervisorFailure(`QEMU answered ${command} with ${JSON.stringify(answer)}`)
  }

  /** The machine's run state: `running`, `paused`, `prelaunch`, `inmigrate`, `postmigrate`, `shutdown`, ... */
  async status(timeout_s = QMP_ANSWER_S): Promise<string> {
    return String((await this.object('query-status', undefined, timeout_s))['status'])
  }

  /** Listens before `act` runs, so that an immediate event is not missed. */
  async eventAfter(name: string, matches: (data: Json) => boolean, timeout_s: number, act: () => Promise<unknown>) {
    let listener: (event: QmpEvent) => void = () => undefined
    const observed = new Promise<QmpEvent>((resolve, reject) => {
      listener = (event) => (event.event === name && matches(event.data) ? resolve(event) : undefined)
      this.listeners.add(listener)
      this.socket.once('close', () => reject(new HypervisorFailure(`QEMU ended while waiting for ${name}`)))
    })
    observed.catch(() => undefined)
    try {
      await act()
      return await this.within(timeout_s, `event ${name}`, observed)
    } finally {
      this.listeners.delete(listener)
    }
  }

  /** Calls the listener for each event until the connection is over. */
  listen(listener: (event: QmpEvent) => void): void {
    this.listeners.add(listener)
  }

  close(): void {
    this.socket.destroy()
  }

  private receive(text: string): void {
    this.buffer += text
    for (let end = this.buffer.indexOf('\n'); end !== -1; end = this.buffer.indexOf('\n')) {
      const line = this.buffer.slice(0, end).trim()
      this.buffer = this.buffer.slice(end + 1)
      if (line !== '') this.message(line)
    }
    if (this.buffer.length > QMP_LINE_BYTES_MAX) this.socket.destroy()
  }

  private message(line: string): void {
    let message: unknown
    try {
      message = JSON.parse(line)
    } catch {
      return void this.socket.destroy()
    }
    if (!isObject(message)) return
    if ('QMP' in message) return this.greeted.resolve(message['QMP'])
    if (typeof message['event'] === 'string') {
      const event = { event: message['event'], data: isObject(message['data']) ? message['data'] : {} }
      for (const listener of this.listeners) listener(event)
      return
    }
    const waiting = this.pending.get(Number(message['id']))
    const error = message['error']
    if (isObject(error)) waiting?.reject(new QmpError(String(error['class']), String(error['desc'])))
    else waiting?.resolve(message['return'])
  }

  private fail(error: Error): void {
    this.failure ??= error
    this.greeted.reject(error)
    for (const waiting of this.pending.values()) waiting.reject(error)
  }

  private within<T>(timeout_s: number, what: string, answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = this.clock.after(timeout_s * 1000, () =>
        reject(new SilentMonitor(`QEMU did not answer ${what} within ${timeout_s} s`)),
      )
      answer.then(resolve, reject).finally(() => timer.cancel())
    })
  }
}

function connectSocket(path: string, clock: Clock): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(path)
    const fail = (text: string, Kind = HypervisorFailure) => {
      timer.cancel()
      socket.destroy()
      reject(new Kind(`No connection to QEMU's monitor ${path}: ${text}`))
    }
    const timer = clock.after(QMP_CONNECT_S * 1000, () => fail(`none within ${QMP_CONNECT_S} s`))
    // Waiting clients have filled the queue.
    const onError = (error: Error) =>
      errorCode(error) === 'EAGAIN' ? fail('it does not listen', SilentMonitor) : fail(error.message, LostMonitor)
    socket.once('error', onError)
    socket.once('connect', () => {
      timer.cancel()
      socket.removeListener('error', onError)
      resolve(socket)
    })
  })
}

export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
