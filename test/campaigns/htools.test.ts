// Ganeti's own programs of allocation beside ours, on the same clusters.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { SEED, tries } from '../support/effort'
import { DATA, dataFiles } from '../support/htools-answers'
import { HTOOLS_PACKAGE, type Ran, clusterOf, debianPresent, debians, ours } from '../support/htools'
import { testWith } from '../support/needs'

const files = dataFiles()
const GENERATED = tries(40, 2000)

const peer = testWith(debianPresent(), HTOOLS_PACKAGE)

const first = (pattern: RegExp, text: string): number => Number(pattern.exec(text)?.[1] ?? NaN)
const initial = ({ out }: Ran): number => first(/(?:Initial score:|improved from|initial score) ([\d.e-]+|NaN)/, out)
const final = (ran: Ran): number => {
  const improved = first(/improved from \S+ to (\S+)/, ran.out)
  return Number.isNaN(improved) ? initial(ran) : improved
}

function expectAsGood(mine: Ran, theirs: Ran): void {
  expect(mine.code).toBe(theirs.code)
  if (Number.isNaN(initial(theirs))) return expect(mine.out).toBe(theirs.out)
  expect(initial(mine).toFixed(8)).toBe(initial(theirs).toFixed(8))
  // Scores are printed with eight digits.
  expect(final(mine)).toBeLessThanOrEqual(final(theirs) + 2e-8)
}

const VARIANTS = [[], ['-E'], ['--ignore-soft-errors'], ['--no-disk-moves'], ['--restricted-migration'], ['-l1']]

for (const name of files) {
  peer(`hbal balances ${name} as well as Ganeti's`, async () => {
    for (const variant of VARIANTS) {
      const args = ['-t', path.join(DATA, name), ...variant]
      expectAsGood(await ours('hbal', args), debians('hbal', args))
    }
  })

  peer(`hspace puts on ${name} what Ganeti's puts there, in the same places`, async () => {
    for (const more of [
      [],
      ['--disk-template=plain'],
      ['--independent-groups'],
      ['--disk-template=drbd', '-l', '40'],
    ]) {
      const args = ['-v', '-v', '-v', '-t', path.join(DATA, name), '--tiered-alloc=20g,2g,4', ...more]
      const [mine, theirs] = [await ours('hspace', args), debians('hspace', args)]
      // For instances in two groups, Ganeti's hspace looks for a node in the wrong group and crashes.
      if (theirs.err.includes('IntMap.!: key')) continue
      expect({ more, ...mine }).toEqual({ more, ...theirs })
    }
  })

  peer(`hbal makes on ${name} the moves that Ganeti's makes`, async () => {
    const args = ['-t', path.join(DATA, name), '--static-kvm-node-memory=4096']
    const [mine, theirs] = [await ours('hbal', args), debians('hbal', args)]
    expect({ code: mine.code, out: mine.out }).toEqual({ code: theirs.code, out: theirs.out })
  })

  peer(`hinfo says of ${name} what Ganeti's says`, async () => {
    const args = ['-v', '-t', path.join(DATA, name)]
    const [mine, theirs] = [await ours('hinfo', args), debians('hinfo', args)]
    expect(mine.code).toBe(theirs.code)
    expect(mine.out).toBe(theirs.out)
  })
}

for (const name of fs.readdirSync(DATA).filter((one) => one.startsWith('hail-'))) {
  peer(`hail answers ${name} as Ganeti's does`, async () => {
    const file = path.join(DATA, name)
    const [mine, theirs] = [await ours('hail', [file]), debians('hail', [file])]
    expect(mine).toEqual(theirs)
  })
}

peer(
  "hbal balances generated clusters as well as Ganeti's, and ends where Ganeti's finds nothing to improve",
  async () => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'htools-'))
    try {
      for (let seed = SEED; seed < SEED + GENERATED; seed++) {
        const file = path.join(directory, `seed-${seed}.data`)
        fs.writeFileSync(file, clusterOf(seed, 3 + (seed % 7), 5 + (seed % 23)))
        const [mine, theirs] = [await ours('hbal', ['-t', file]), debians('hbal', ['-t', file])]
        expect({ seed, code: mine.code }).toEqual({ seed, code: theirs.code })
        expect({ seed, score: initial(mine) }).toEqual({ seed, score: initial(theirs) })
        if (!(final(mine) <= final(theirs) + 2e-8)) throw new Error(`seed ${seed}: ${mine.out}\n${theirs.out}`)
      }
    } finally {
      fs.rmSync(directory, { recursive: true })
    }
  },
)
