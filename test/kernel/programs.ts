// Which programs of storage guests start, as their kernels account for them when they end.
import type { Machines } from './machines'

const FILE = '/run/programs'
/** A record of version 3 of Linux's accounting, and where in it the name of the program stands. */
const [RECORD_BYTES, NAME_AT] = [64, 48]
/** Not vgs: the master asks each node all the time how much room it has. Nor the threads of DRBD, which end like programs. */
const STORAGE = /^(lv|pv|drbdsetup|drbdmeta|blockdev$|blkdiscard$)/
const SWITCH_ON = `: > ${FILE} && python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).acct(b"${FILE}"))'`

interface Figure {
  readonly what: string
  readonly ours: number
  /** What the same step took in the recordings that test/golden/storage is from. */
  readonly ganeti: number
  readonly seconds: number
}

export class Programs {
  private readonly figures: Figure[] = []

  constructor(
    private readonly machines: Machines,
    private readonly nodes: readonly number[],
  ) {}

  /** As `noted`, of a command that waits for no copy: it never costs more than with Ganeti. */
  async of(what: string, ganeti: number, ...words: string[]): Promise<void> {
    const ours = await this.noted(what, ganeti, ...words)
    expect({ what, more: ours > ganeti, ours, ganeti }).toMatchObject({ more: false })
  }

  /** Carries out a command, and notes what it costs. The longer it waits for a copy, the more often it looks how far that is. */
  async noted(what: string, ganeti: number, ...words: string[]): Promise<number> {
    let seconds = 0
    const ours = await this.during(async () => {
      const begun_ms = performance.now()
      await this.machines.gnt(...words)
      seconds = (performance.now() - begun_ms) / 1000
    })
    this.figures.push({ what, ours, ganeti, seconds })
    return ours
  }

  table(): string {
    const lines = this.figures.map(
      ({ what, ours, ganeti, seconds }) =>
        `${what.padEnd(44)}${String(ours).padStart(8)}${String(ganeti).padStart(8)}${seconds.toFixed(1).padStart(10)}\n`,
    )
    return `${'programs of storage started on all nodes'.padEnd(44)}${'Gantry'.padStart(8)}${'Ganeti'.padStart(8)}${'seconds'.padStart(10)}\n${lines.join('')}`
  }

  /** From then on; a guest forgets it with its power. */
  async count(): Promise<void> {
    await Promise.all(this.nodes.map((node) => this.machines.inGuest(node, SWITCH_ON)))
  }

  private async during(work: () => Promise<unknown>): Promise<number> {
    const before = await this.all()
    await work()
    return (await this.all()) - before
  }

  private async all(): Promise<number> {
    const each = this.nodes.map(async (node) => {
      const records = Buffer.from(await this.machines.inGuest(node, `base64 ${FILE}`), 'base64')
      return Array.from({ length: Math.floor(records.length / RECORD_BYTES) }, (_, at) =>
        nameIn(records.subarray(at * RECORD_BYTES, (at + 1) * RECORD_BYTES)),
      ).filter((name) => STORAGE.test(name)).length
    })
    return (await Promise.all(each)).reduce((sum, count) => sum + count, 0)
  }
}

const nameIn = (record: Buffer): string => record.toString('latin1', NAME_AT).replace(/\0.*$/s, '')
