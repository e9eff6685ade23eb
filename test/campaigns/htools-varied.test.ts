// Ganeti's programs beside ours on clusters that have all that an allocation has to heed.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { SEED, tries } from '../support/effort'
import { HTOOLS_PACKAGE, debianPresent, debians, ours } from '../support/htools'
import { variedClusterOf } from '../support/htools-varied'
import { testWith } from '../support/needs'

const GENERATED = tries(40, 2000)

const peer = testWith(debianPresent(), HTOOLS_PACKAGE)

// hspace is not among them: of clusters with forthcoming instances Debian's says that it is inconsistent itself.
const VARIANTS = [
  ['hinfo', '-v'],
  ['hinfo', '-p', '--print-instances'],
  ['hcheck', '--machine-readable', '--no-simulation'],
  ['hbal', '-C', '-G', 'group0'],
  ['hbal', '-C', '-E', '-G', 'group0'],
  ['hbal', '-C', '--ignore-soft-errors', '--restricted-migration', '-G', 'group0'],
  ['hroller', '-f', '--print-moves', '-v'],
] as const

peer("hinfo, hcheck, hbal and hroller say of varied clusters what Ganeti's say", async () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'htools-varied-'))
  try {
    const file = path.join(directory, 'cluster')
    for (let seed = SEED; seed < SEED + GENERATED; seed++) {
      fs.writeFileSync(file, variedClusterOf(seed))
      for (const [program, ...more] of VARIANTS) {
        const args = ['-t', file, ...more]
        const [mine, theirs] = [await ours(program, args), debians(program, args)]
        const err = theirs.err.replaceAll('htools: ', `${program}: `)
        expect({ seed, program, ...mine }).toEqual({ seed, program, ...theirs, err })
      }
    }
  } finally {
    fs.rmSync(directory, { recursive: true })
  }
})
