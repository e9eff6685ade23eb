// Whole clusters in one process, and single mirrored disks, each from one seed: users, faults, and what must hold whatever happens. A failure
// names its seed; `SIM_SEED=7 npx jest test/simulation` runs that one alone and leaves a trace of it, `SIM_SEED=1+500` five hundred from 1 on.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { environmentValue } from '../../src/lib/environment'
import { SEED, tries } from '../support/effort'
import { howToRepeat, Simulation } from './compiled'
import type { SeedRun, Simulated } from './run-seeds'

const desired = environmentValue('SIM_SEED')
const [first = 1, count = 1] = desired === undefined ? [SEED, tries(16, 1000)] : desired.split('+').map(Number)
const single = desired !== undefined && count === 1
/** For one seed with all around it; a calm machine needs a second. */
const PATIENCE_MS = 120_000

let simulation: Simulation
beforeAll(async () => {
  simulation = await Simulation.compile()
})
afterAll(() => simulation.remove())

test(
  `nothing that was promised is lost, whatever fails: ${count} seeds from ${first} on`,
  () => expectNoComplaints('cluster'),
  PATIENCE_MS + count * 20_000,
)

test(
  `no write to a mirrored disk is lost, whatever fails: ${count} seeds from ${first} on`,
  () => expectNoComplaints('mirror'),
  PATIENCE_MS + count * 20_000,
)

test.each(['cluster', 'mirror'] as const)(
  'the same seed is the same run: %s',
  async (what) => {
    const [once, again] = [await traceOf(what, 3), await traceOf(what, 3)]
    expect(again).toEqual(once)
    expect(once.length).toBeGreaterThan(50)
  },
  PATIENCE_MS,
)

async function expectNoComplaints(what: Simulated): Promise<void> {
  const failed: { hint: string; complaints: readonly string[] }[] = []
  let observed = 0
  const sums = new Map<string, [done: number, failed: number]>()
  for await (const { seed, complaints, trace, ops } of simulation.run(what, first, count, single)) {
    observed++
    for (const [id, [done, failed]] of Object.entries(ops)) {
      const [before, more] = sums.get(id) ?? [0, 0]
      sums.set(id, [before + done, more + failed])
    }
    if (complaints.length > 0) failed.push({ hint: howToRepeat(what, seed), complaints })
    if (single) keepTrace(what, seed, trace)
    else if (observed % 500 === 0) process.stdout.write(`${observed} of ${count} seeds, ${failed.length} failed\n`)
  }
  const rows = [...sums].sort().map(([id, [done, failed]]) => `${id}: ${done} done, ${failed} failed\n`)
  if (desired !== undefined) process.stdout.write(rows.join(''))
  expect(failed).toEqual([])
  expect(observed).toBe(count)
}

async function traceOf(what: Simulated, seed: number): Promise<SeedRun['trace']> {
  for await (const { trace } of simulation.run(what, seed, 1, true)) return trace
  return []
}

function keepTrace(what: Simulated, seed: number, trace: readonly string[]): void {
  const file = path.join(os.tmpdir(), `simulation-${what}-${seed}.log`)
  fs.writeFileSync(file, trace.join('\n'))
  process.stdout.write(`the trace of seed ${seed} is in ${file}\n`)
}
