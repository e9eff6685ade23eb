// Ganeti's own hroller and hsqueeze beside ours, on the same clusters.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { SEED, tries } from '../support/effort'
import { DATA, dataFiles } from '../support/htools-answers'
import { HTOOLS_PACKAGE, clusterOf, debianPresent, debians, ours } from '../support/htools'
import { testWith } from '../support/needs'

const files = dataFiles()
const GENERATED = tries(40, 2000)

const peer = testWith(debianPresent(), HTOOLS_PACKAGE)

async function expectSame(program: string, args: readonly string[]): Promise<void> {
  expect({ args, ...(await ours(program, args)) }).toEqual({ args, ...debians(program, args) })
}

const ROLLING = [
  [],
  ['-f', '--print-moves', '-v', '-v'],
  ['-f', '--offline-maintenance', '--print-moves'],
  ['-f', '--skip-non-redundant'],
  ['-f', '--ignore-non-redundant'],
  ['-f', '--one-step-only', '--no-headers'],
]
/** If Ganeti also clears an offline node, it names a wrong node as an instance's new one. */
const FULL = ['-f', '--full-evacuation', '--print-moves']

const SQUEEZING = [
  ['-v', '-C'],
  ['--minimal-resources', '1', '--target-resources=3'],
  ['--no-headers', '--minimal-resources=8'],
]

for (const name of files) {
  peer(`hroller groups the nodes of ${name} as Ganeti's does`, async () => {
    for (const variant of [...ROLLING, FULL]) await expectSame('hroller', ['-t', path.join(DATA, name), ...variant])
  })
}

for (const name of files) {
  peer(`hsqueeze switches the nodes of ${name} as Ganeti's does`, async () => {
    for (const variant of SQUEEZING) await expectSame('hsqueeze', ['-t', path.join(DATA, name), ...variant])
  })
}

peer('the selections of hroller are those of Ganeti', async () => {
  const file = path.join(DATA, 'hroller-nodegroups.data')
  for (const selection of [
    ['-G', 'group-01'],
    ['-G', 'no-such-group'],
    ['-O', 'node-01-001'],
    ['-O', 'no-such-node'],
  ]) {
    await expectSame('hroller', ['-f', '-t', file, ...selection])
  }
  for (const name of ['multiple-tags.data', 'hroller-online.data']) {
    await expectSame('hroller', ['-f', '-t', path.join(DATA, name), '--node-tags=red,green'])
  }
})

peer("hroller and hsqueeze say of generated clusters what Ganeti's say", async () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'htools-nodes-'))
  try {
    for (let seed = SEED; seed < SEED + GENERATED; seed++) {
      const file = path.join(directory, `seed-${seed}.data`)
      const text = clusterOf(seed, 3 + (seed % 9), 5 + (seed % 31))
      fs.writeFileSync(file, text)
      const variants = text.includes('|Y|uuid-1|') ? ROLLING : [...ROLLING, FULL]
      // Each cluster in a few ways, each way on many clusters.
      for (const at of [seed, seed + 3]) {
        await expectSame('hroller', ['-t', file, ...(variants[at % variants.length] ?? [])])
      }
      await expectSame('hsqueeze', ['-t', file, ...(SQUEEZING[seed % SQUEEZING.length] ?? [])])
    }
  } finally {
    fs.rmSync(directory, { recursive: true })
  }
})
