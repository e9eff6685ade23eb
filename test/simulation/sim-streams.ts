// Sockets for bytes between simulated processes, in order and with delays, in place of those of lib/net/json-socket. A line that is cut breaks
// its connections.
import { EventEmitter } from 'node:events'
import type * as net from 'node:net'
import * as path from 'node:path'
import { PATH } from '../../src/model/constants/paths'
import { SimProcess } from './simulator'

type Reaches = (one: string, other: string) => boolean

interface Listener {
  readonly process: SimProcess
  readonly onSocket: (socket: net.Socket) => void
}

const listeners = new Map<string, Listener>()
const open = new Set<SimSocket>()
let reaches: Reaches = () => true

/** A new simulation begins. */
export function newStreams(network: Reaches): void {
  listeners.clear()
  open.clear()
  reaches = network
}

/** Ends what the network does not carry any more. */
export function breakStreams(): void {
  for (const socket of open) socket.breakIfCut()
}

/** Nodes find each other's mirrors in a folder that all of them share. */
const nameOf = (file: string): string => (file.includes(PATH.MIRROR_LINKS_DIR) ? path.basename(file) : file)

export async function serveSocket(
  _files: unknown,
  file: string,
  onSocket: Listener['onSocket'],
): Promise<{ close(): Promise<void> }> {
  const process = SimProcess.current()
  await pause(process)
  const name = nameOf(file)
  if (listeners.get(name)?.process.alive) throw new Error(`another process already serves ${file}`)
  const listener: Listener = { process, onSocket }
  listeners.set(name, listener)
  return {
    async close() {
      if (listeners.get(name) === listener) listeners.delete(name)
      await pause(process)
    },
  }
}

export async function connectSocket(file: string): Promise<net.Socket> {
  const process = SimProcess.current()
  await pause(process)
  const listener = listeners.get(nameOf(file))
  if (!listener?.process.alive || !reaches(process.machine, listener.process.machine))
    throw new Error(`connect ECONNREFUSED ${file}`)
  const [near, far] = [new SimSocket(process), new SimSocket(listener.process)]
  near.other = far
  far.other = near
  process.simulator.after(0, listener.process, () => listener.onSocket(far as never))
  return near as never
}

const pause = (process: SimProcess): Promise<void> =>
  new Promise((resolve) => {
    process.simulator.after(process.simulator.between(0.01, 0.2), process, resolve)
  })

class SimSocket extends EventEmitter {
  destroyed = false
  other: SimSocket | undefined
  private arrival_ms = 0
  private readonly forget: () => void

  constructor(readonly process: SimProcess) {
    super()
    open.add(this)
    this.forget = process.onEnd(() => this.destroy())
  }

  write(data: Buffer): boolean {
    if (!this.destroyed) this.later((other) => other.receive(data))
    return true
  }

  /** What was written still arrives. */
  destroy(): void {
    if (this.destroyed) return
    this.later((other) => other.close())
    this.close()
  }

  readonly end = (): void => this.destroy()
  readonly destroySoon = (): void => this.destroy()
  readonly isPaused = (): boolean => false
  readonly pause = (): void => undefined

  breakIfCut(): void {
    const { other } = this
    if (other === undefined || reaches(this.process.machine, other.process.machine)) return
    this.close()
    other.close()
  }

  private close(): void {
    if (this.destroyed) return
    this.destroyed = true
    open.delete(this)
    this.forget()
    this.process.simulator.after(0, this.process, () => this.emit('close'))
  }

  private receive(data: Buffer): void {
    if (!this.destroyed) this.emit('data', data)
  }

  /** Happens at the other end, after everything that was sent before. */
  private later(action: (other: SimSocket) => void): void {
    const { other } = this
    const { simulator } = this.process
    if (other === undefined) return
    this.arrival_ms = Math.max(this.arrival_ms, simulator.time_ms + simulator.between(0.01, 0.3))
    simulator.after(this.arrival_ms - simulator.time_ms, other.process, () => {
      // A stream that has lost something never goes on.
      this.breakIfCut()
      action(other)
    })
  }
}
