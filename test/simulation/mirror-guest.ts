// A guest that writes to a mirrored disk, reads, discards and flushes, and remembers what it was told. What it reads, and what a copy holds
// at the end, must be what was confirmed last, or something later.
import { NbdClient } from '../support/nbd-client'
import { connectSocket } from './sim-streams'
import type { SimProcess, Simulator } from './simulator'

const WORKERS = 3
export const SLOTS = 48
const STRIDE = 40_000
export const SIZE = 2 << 20
const VALUE = 8

export const placeOf = (slot: number): number => slot * STRIDE

interface Slot {
  /** What was written, from the last value that is surely on the disks. */
  readonly values: number[]
  /** How many of these are older than what was confirmed last. */
  outdated: number
  /** How many were forgotten. */
  forgotten: number
  /** A flush has failed after this value. The kernel may have dropped it, so that no later flush makes it safe. */
  doubted: number
  /** A write is on its way, and its answer may come from a node whose power has failed since. */
  pending: 'no' | 'yes' | 'may be lost'
}

export class GuestMemory {
  private readonly slots: Slot[] = Array.from({ length: SLOTS }, () => ({
    values: [0],
    outdated: 0,
    forgotten: 0,
    doubted: -1,
    pending: 'no',
  }))
  private last = 0

  /** A write is asked for; answers its value. */
  begin(slot: number, isZero: boolean): number {
    const value = isZero ? 0 : ++this.last
    const found = this.at(slot)
    found.values.push(value)
    found.pending = 'yes'
    return value
  }

  /** Nothing else has been written there meanwhile. */
  confirm(slot: number): void {
    const found = this.at(slot)
    if (found.pending === 'yes') found.outdated = found.values.length - 1
    found.pending = 'no'
  }

  /** What a flush or a clean end makes safe. */
  confirmed(): (() => void)[] {
    return this.slots.map((slot) => {
      const safe = slot.forgotten + slot.outdated
      return () => {
        const count = safe - slot.forgotten
        // A power failure may have taken it meanwhile.
        if (count <= 0 || count > slot.outdated || safe <= slot.doubted) return
        slot.values.splice(0, count)
        slot.outdated -= count
        slot.forgotten += count
      }
    })
  }

  /** A flush has failed. */
  doubt(): void {
    for (const slot of this.slots) slot.doubted = slot.forgotten + slot.outdated
  }

  /** The power has failed: anything since the last flush may be there. */
  relax(): void {
    for (const slot of this.slots) slot.outdated = 0
  }

  /** The power of the only node with all data has failed. Answers that it sent before still arrive, though what they confirm may be gone. */
  losePending(): void {
    for (const slot of this.slots) if (slot.pending === 'yes') slot.pending = 'may be lost'
  }

  allows = (slot: number, value: number): boolean => {
    const { values, outdated } = this.at(slot)
    return values.lastIndexOf(value) >= outdated
  }

  /** What of a disk is older than it may be. */
  lacking(read: (offset: number, length: number) => Buffer): string[] {
    return this.slots.flatMap((_, slot) => {
      const value = valueOf(read(placeOf(slot), VALUE))
      return this.allows(slot, value) ? [] : [this.explain(slot, value)]
    })
  }

  explain(slot: number, value: number): string {
    const { values, outdated } = this.at(slot)
    return `slot ${slot} has ${value}, not one of ${values.slice(outdated).join(' ')}`
  }

  private at(slot: number): Slot {
    const found = this.slots[slot]
    if (found === undefined) throw new Error(`no slot ${slot}`)
    return found
  }
}

const valueOf = (bytes: Buffer): number => Number(bytes.readBigUInt64BE(0))

export function bytesOf(value: number): Buffer {
  const bytes = Buffer.alloc(VALUE)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

export class Guest {
  private readonly clients: NbdClient[] = []
  private ended = false

  constructor(
    private readonly simulator: Simulator,
    readonly process: SimProcess,
    private readonly memory: GuestMemory,
    private readonly complain: (text: string) => void,
  ) {}

  get isRunning(): boolean {
    return !this.ended && this.process.alive
  }

  async begin(socket: string): Promise<void> {
    for (let worker = 0; worker < WORKERS; worker++) {
      const client = await NbdClient.over(await connectSocket(socket))
      this.clients.push(client)
      void this.work(client, worker).catch(() => this.end())
    }
  }

  end(): void {
    this.ended = true
    for (const client of this.clients) client.close()
  }

  private async work(client: NbdClient, worker: number): Promise<void> {
    const { simulator, memory } = this
    while (!this.ended) {
      await this.process.clock.sleep(simulator.between(0.1, 40))
      const slot = worker + WORKERS * simulator.random.below(Math.floor((SLOTS - worker - 1) / WORKERS) + 1)
      const kind = simulator.random.below(10)
      try {
        if (kind === 0) await this.flush(client)
        else if (kind < 4) await this.read(client, slot)
        else {
          const isZero = kind === 4
          const value = memory.begin(slot, isZero)
          if (isZero) await client.discard(placeOf(slot), VALUE)
          else await client.write(placeOf(slot), bytesOf(value))
          memory.confirm(slot)
        }
      } catch (error) {
        if (String(error).includes('hung up')) return this.end()
      }
    }
  }

  private async flush(client: NbdClient): Promise<void> {
    const safe = this.memory.confirmed()
    await client.flush().catch((error: unknown) => {
      this.memory.doubt()
      throw error
    })
    for (const one of safe) one()
  }

  private async read(client: NbdClient, slot: number): Promise<void> {
    const value = valueOf(await client.read(placeOf(slot), VALUE))
    if (!this.memory.allows(slot, value)) this.complain(`the guest reads: ${this.memory.explain(slot, value)}`)
  }
}
