// The program of the simulation: runs some seeds one after the other, and prints a line of JSON for each.
import { runMirrorSeed } from './mirror-seed'
import { type Run, runSeed } from './run-seed'

export type SeedRun = Run & { readonly seed: number }

const RUNS = { cluster: runSeed, mirror: runMirrorSeed } as const

export type Simulated = keyof typeof RUNS

async function main(what: Simulated, first: number, count: number, tracing: boolean): Promise<void> {
  for (let seed = first; seed < first + count; seed++) {
    const found: Run = await RUNS[what](seed, tracing)
    const run: SeedRun = { seed, ...found }
    process.stdout.write(`${JSON.stringify(run)}\n`)
  }
}

const [what, ...numbers] = process.argv.slice(2)
const [first = 1, count = 1, tracing = 0] = numbers.map(Number)
void main(what === 'mirror' ? 'mirror' : 'cluster', first, count, tracing === 1)
