// Ganeti's hinfo, hcheck, hbal, hspace and hail beside ours on generated clusters, each of them small: what Ganeti's cost grows fast.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { SEED, tries } from '../support/effort'
import { HTOOLS_PACKAGE, alikeClusterOf, clusterOf, debianPresent, debians, ours } from '../support/htools'
import { questionOf, requestAbout } from '../support/htools-requests'
import { testWith } from '../support/needs'

const SEEDS = Array.from({ length: tries(40, 2000) }, (_, at) => SEED + at)

const peer = testWith(debianPresent(), HTOOLS_PACKAGE)

const VARIANTS = [
  ['hinfo', '-v'],
  ['hcheck', '--machine-readable', '--no-simulation'],
  ['hcheck', '--machine-readable'],
  ['hbal', '-C', '-p'],
  ['hspace', '--machine-readable', '-l', '20'],
  ['hspace', '--disk-template=rbd', '--no-capacity-checks', '-l10'],
  // Where each goes.
  ['hspace', '-v', '-v', '--tiered-alloc=6g,12g,2', '--standard-alloc=20g,2g,4', '--disk-template=drbd', '-l9'],
  ['hspace', '-v', '-v', '--tiered-alloc=20g,3g,4', '--standard-alloc=20g,2g,4', '--disk-template=plain', '-l20'],
] as const

const text = (seed: number): string => clusterOf(seed, 3 + (seed % 5), 5 + (seed % 13))

async function inFolder(run: (file: string) => Promise<void>): Promise<void> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'htools-generated-'))
  try {
    await run(path.join(directory, 'cluster'))
  } finally {
    fs.rmSync(directory, { recursive: true })
  }
}

peer("hinfo, hcheck, hbal and hspace say of generated clusters what Ganeti's say", () =>
  inFolder(async (file) => {
    for (const seed of SEEDS) {
      fs.writeFileSync(file, text(seed))
      for (const [program, ...more] of VARIANTS) {
        const args = ['-t', file, ...more]
        const [mine, theirs] = [await ours(program, args), debians(program, args)]
        expect({ seed, program, ...mine }).toEqual({ seed, program, ...theirs })
      }
    }
  }),
)

peer("hail answers questions about generated clusters as Ganeti's does", () =>
  inFolder(async (file) => {
    for (const seed of SEEDS) {
      fs.writeFileSync(file, requestAbout(text(seed), questionOf(seed, text(seed))))
      const [mine, theirs] = [await ours('hail', [file]), debians('hail', [file])]
      expect({ seed, ...mine }).toEqual({ seed, ...theirs })
    }
  }),
)

peer('hbal tells moves apart that are as good where nodes and instances are alike, as Ganeti does', () =>
  inFolder(async (file) => {
    for (const template of ['drbd', 'sharedfile'] as const) {
      fs.writeFileSync(file, alikeClusterOf(1, 18, 54, template))
      const args = ['-t', file, '-C', '-p']
      expect(await ours('hbal', args)).toEqual(debians('hbal', args))
    }
  }),
)

peer("text files are read by Ganeti's programs as ours write them, and by ours as Ganeti's do", () =>
  inFolder(async (file) => {
    for (let seed = 1; seed <= 10; seed++) {
      fs.writeFileSync(file, text(seed))
      const written = new Map<string, string>()
      await ours('hbal', ['-t', file, '-S', 'mine'], written)
      debians('hbal', ['-t', file, '-S', file])
      fs.writeFileSync(`${file}.mine`, written.get('mine.original') ?? '')
      expect(fs.readFileSync(`${file}.mine`, 'utf8')).toBe(fs.readFileSync(`${file}.original`, 'utf8'))
      const args = ['-v', '-t', `${file}.mine`]
      expect(await ours('hinfo', args)).toEqual(debians('hinfo', args))
    }
  }),
)
