// Which programs of storage guests start, as their kernels account for them when they end.
import type { Machines } from './machines'

const FILE = '/run/programs'
/** A record of version 3 of Linux's accounting, and where in it the name of the program stands. */
const [RECORD_BYTES, NAME_AT] = [64, 48]
const STORAGE = /^(lv|vg|pv|drbd|blockdev$|dd$)/
const SWITCH_ON = `: > ${FILE} && python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).acct(b"${FILE}"))'`

export class Programs {
  constructor(
    private readonly machines: Machines,
    private readonly nodes: readonly number[],
  ) {}

  /** From then on; a guest forgets it with its power. */
  async count(): Promise<void> {
    for (const node of this.nodes) await this.machines.inGuest(node, SWITCH_ON)
  }

  /** How many all nodes have started while this was done. */
  async during(work: () => Promise<unknown>): Promise<number> {
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
