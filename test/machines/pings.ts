// Pings a guest from a machine while something happens to it, and counts what was lost.
import type { Machines } from './machines'

const EVERY_MS = 20

export interface Pinged {
  readonly answers: number
  /** How many pings in a row had no answer, at most; and for how long that was. */
  readonly lost: number
  readonly silent_ms: number
}

export class Pings {
  private readonly ended: Promise<unknown>
  private readonly ping: string
  private readonly file: string

  constructor(
    private readonly machines: Machines,
    private readonly machine: number,
    private readonly address: string,
  ) {
    this.ping = `ping -i ${EVERY_MS / 1000} ${address}`
    this.file = `/tmp/pings-${address}`
    this.ended = machines.attempt(machine, `timeout --signal=INT 600 ${this.ping} > ${this.file}; true`)
  }

  /** Fails if the guest does not answer any more. */
  async end(): Promise<Pinged> {
    await this.machines.run(this.machine, `ping -c 3 ${this.address}`)
    await this.machines.run(this.machine, `pkill -INT -f '^${this.ping}$'`)
    await this.ended
    const said = await this.machines.run(this.machine, `cat ${this.file}`)
    const answers = Array.from(said.matchAll(/bytes from .*icmp_seq=(\d+)/g), ([, number]) => Number(number))
    const gaps = answers.slice(1).map((number, index) => number - (answers[index] ?? number) - 1)
    const lost = Math.max(0, ...gaps)
    return { answers: answers.length, lost, silent_ms: lost * EVERY_MS }
  }
}
