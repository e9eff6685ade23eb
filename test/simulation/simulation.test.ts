// Whole clusters in one process, each from one seed: users, faults, and what must hold whatever happens. A failure names its seed;
// `SIM_SEED=7 npx jest test/simulation` runs that one alone and leaves a trace of it, `SIM_SEED=1+500` five hundred from 1 on.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { environmentValue } from '../../src/lib/environment'
import { SEED, tries } from '../support/effort'
import { runSeed } from './run-seed'

jest.mock('../../src/lib/json-socket', () => jest.requireActual<object>('./sim-sockets'))
const wanted = environmentValue('SIM_SEED')
const [first = 1, count = 1] = wanted === undefined ? [SEED, tries(16)] : wanted.split('+').map(Number)
const single = wanted !== undefined && count === 1

test.each(Array.from({ length: count }, (_, index) => first + index))(
  'nothing that was promised is lost, whatever fails: seed %d',
  async (seed) => {
    const { complaints, trace } = await runSeed(seed, single)
    const hint = `SIM_SEED=${seed} npx jest test/simulation`
    if (single) {
      const file = path.join(os.tmpdir(), `simulation-${seed}.log`)
      fs.writeFileSync(file, trace.join('\n'))
      process.stdout.write(`the trace of seed ${seed} is in ${file}\n`)
    }
    expect({ hint, complaints }).toEqual({ hint, complaints: [] })
  },
)

test('the same seed is the same run', async () => {
  const [once, again] = [await runSeed(3, true), await runSeed(3, true)]
  expect(again.trace).toEqual(once.trace)
  expect(once.trace.length).toBeGreaterThan(50)
})
