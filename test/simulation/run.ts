// Runs many seeds without Jest: `node -r ./scripts/typescript.cjs test/simulation/run.ts FROM COUNT [cluster|mirror]`. Prints each seed that
// fails with the way to repeat it, and now and then how far it is. Ends with 1 if one has failed.
import { howToRepeat, Simulation } from './compiled'

const EVERY_S = 60

async function main([first = '1', count = '1', what = 'cluster']: readonly string[]): Promise<void> {
  if (what !== 'cluster' && what !== 'mirror') throw new Error(`there is no simulation of '${what}'`)
  const simulation = await Simulation.compile()
  const begun_ms = Date.now()
  let [done, failed, told_ms] = [0, 0, begun_ms]
  const tell = () => {
    told_ms = Date.now()
    const last = Number(first) + done - 1
    const each_s = (told_ms - begun_ms) / 1000 / done
    process.stdout.write(`${done} seeds, up to ${last}: ${failed} failed, ${each_s.toFixed(1)} s each\n`)
  }
  try {
    for await (const { seed, complaints } of simulation.run(what, Number(first), Number(count))) {
      done++
      if (complaints.length > 0) {
        failed++
        process.stdout.write(
          `seed ${seed}: ${howToRepeat(what, seed)}\n${complaints.map((one) => `  ${one}\n`).join('')}`,
        )
      }
      if (Date.now() - told_ms > EVERY_S * 1000) tell()
    }
  } finally {
    simulation.remove()
  }
  tell()
  if (failed > 0) process.exitCode = 1
}

void main(process.argv.slice(2))
