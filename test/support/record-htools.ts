// Records what Debian's hspace and hcheck print for Ganeti's data files, because some of these take a long time: `node -r
// ./scripts/typescript.cjs test/support/record-htools.ts`. The tests compare our programs with the recordings.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { ANSWERS, DATA, VARIANTS, dataFiles } from './htools-answers'
import { debians } from './htools'

/** Runs that take longer are not recorded, and not compared. */
const LIMIT_MS = 20_000

const answers: Record<string, { code: number; out: string }> = {}
for (const file of dataFiles()) {
  for (const [program, ...args] of VARIANTS) {
    const { code, out } = debians(program, ['-t', path.join(DATA, file), ...args], LIMIT_MS)
    if (code >= 0) answers[[program, file, ...args].join(' ')] = { code, out }
  }
}
fs.mkdirSync(path.dirname(ANSWERS), { recursive: true })
fs.writeFileSync(ANSWERS, `${JSON.stringify(answers, null, 1)}\n`)
