// The program of the simulation: runs some seeds one after the other, and prints a line of JSON for each.
import { runSeed } from './run-seed'

export interface SeedRun {
  readonly seed: number
  readonly complaints: readonly string[]
  /** The events in order, when they were asked for. */
  readonly trace: readonly string[]
}

async function main(first: number, count: number, tracing: boolean): Promise<void> {
  for (let seed = first; seed < first + count; seed++) {
    const run: SeedRun = { seed, ...(await runSeed(seed, tracing)) }
    process.stdout.write(`${JSON.stringify(run)}\n`)
  }
}

const [first = 1, count = 1, tracing = 0] = process.argv.slice(2).map(Number)
void main(first, count, tracing === 1)
