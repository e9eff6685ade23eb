// Processes on all nodes that write to a mirror all the time, as guests do: what was acknowledged to them has to be there, whatever happens
// to the mirror meanwhile. Only those on nodes that may write get anywhere.
import * as path from 'node:path'
import type { Machines } from './machines'

const PROGRAM = path.join(__dirname, 'writer.py')
const NOTED = '/run/written'
/** The blocks of the first node's writer; each writer has so many. The tests of one write use those before. */
const [FIRST, SLOTS] = [1000, 200]

export class Writers {
  /** The last number that was acknowledged to the writer of each node. */
  private readonly acknowledged = new Map<number, number>()

  constructor(
    private readonly machines: Machines,
    private readonly nodes: readonly number[],
    private readonly device: string,
  ) {}

  async start(): Promise<void> {
    const each = this.nodes.map((node) => {
      const words = `${this.words(node)} ${(this.acknowledged.get(node) ?? 0) + 1} ${NOTED}`
      return this.machines.inGuest(node, `: > ${NOTED}; setsid ${words} > /run/writer.log 2>&1 < /dev/null &`)
    })
    await Promise.all(each)
  }

  /** Waits until the writer of a node has got on. */
  async getsOn(node: number): Promise<void> {
    const beyond = (await this.note(node)) + 3
    await this.machines.inGuest(node, `until (($(cat ${NOTED}) + 0 >= ${beyond})); do sleep 0.2; done`)
    await this.note(node)
  }

  /** All that was acknowledged up to now is on the device, as this node reads it. */
  async expectKept(primary: number): Promise<void> {
    for (const node of this.nodes) await this.note(node)
    await this.expectNotedKept(primary)
  }

  /** The same without asking the writers, whose nodes may be gone. */
  async expectNotedKept(primary: number): Promise<void> {
    for (const [node, last] of this.acknowledged) {
      if (last === 0) continue
      const has = (await this.machines.inGuest(primary, this.words(node))).trim().split('\n').map(Number)
      const lost = numbers(last).filter((number) => (has[number % SLOTS] ?? 0) < number)
      expect({ writer: node, last, lost }).toEqual({ writer: node, last, lost: [] })
    }
  }

  /** No guest writes any more when its disks are let go. */
  async stop(): Promise<void> {
    for (const node of this.nodes) {
      await this.note(node)
      await this.machines.inGuest(node, `rm -f ${NOTED}; while pgrep -f '[w]riter.py' > /dev/null; do sleep 0.1; done`)
    }
  }

  private async note(node: number): Promise<number> {
    const reported = await this.machines.inGuest(node, `cat ${NOTED} 2> /dev/null || true`)
    const last = reported.trim() === '' ? (this.acknowledged.get(node) ?? 0) : Number(reported)
    this.acknowledged.set(node, last)
    return last
  }

  private words(node: number): string {
    return `python3 -B ${PROGRAM} ${this.device} ${FIRST + node * SLOTS} ${SLOTS}`
  }
}

/** Those that no later one has taken the block of. */
const numbers = (last: number): number[] =>
  Array.from({ length: Math.min(last, SLOTS - 1) }, (_, before) => last - before)
