// The longest time that the event loops of a cluster's daemons were blocked.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { processesBelow } from './processes'

const PRELOAD = path.join(__dirname, 'loop-delay.cjs')
const ANSWER_MS = 2000
/** The daemons that are watched. */
const NAMES = ['rapi', 'luxid', 'wconfd']

interface Block {
  readonly block_ms: number
  readonly worked_ms: number
}

export class LoopWatch {
  constructor(private readonly folder: string) {
    fs.mkdirSync(folder, { recursive: true })
  }

  /** Daemons that are started from now on can be watched. */
  arm(): void {
    process.env['BENCH_NODE_OPTIONS'] = `${process.env['BENCH_NODE_OPTIONS'] ?? ''} --require ${PRELOAD}`
    process.env['GANTRY_BENCH_LOOPS'] = this.folder
  }

  /** By daemon, in milliseconds since the last call: the longest block, and the longest time of work without a break. */
  async longest(pid: number): Promise<Map<string, Block>> {
    const blocks = new Map<string, Block>()
    for (const { pid: daemon, name } of processesBelow(pid)) {
      if (!NAMES.includes(name)) continue
      const file = path.join(this.folder, String(daemon))
      fs.rmSync(file, { force: true })
      process.kill(daemon, 'SIGUSR2')
      const until = performance.now() + ANSWER_MS
      while (!fs.existsSync(file) && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 5))
      const [block_ms = Number.NaN, worked_ms = Number.NaN] = fs.readFileSync(file, 'utf8').split(' ').map(Number)
      blocks.set(name, { block_ms, worked_ms })
    }
    return blocks
  }
}
