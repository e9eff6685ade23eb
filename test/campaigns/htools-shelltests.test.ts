// Ganeti's own tests of its programs of allocation and of monitoring: command lines, and what they should say. They are run against ours.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { GANETI_PROGRAMS } from '../support/ganeti-programs'
import { testWith } from '../support/needs'

const SOURCES = path.join(GANETI_PROGRAMS, 'test')
const SHELLTESTS = path.join(SOURCES, 'hs/shelltests')
const DATA = path.join(SOURCES, 'data/htools')
const BIN = path.join(__dirname, '../../bin')
const RUNNER = '/usr/bin/shelltest'

const present = fs.existsSync(SHELLTESTS) && fs.existsSync(RUNNER)
const peer = testWith(present, 'shelltestrunner && sh test/peers/ganeti-programs.sh')

/** The tests that our programs fail, by their number in the file, with the reason. */
const FAILING: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  'htools-hail.test': { 26: "it wants the cluster in Haskell's notation; ours shows JSON" },
  'htools-mon-collector.test': {
    12: 'a file without end is refused before it is looked at',
    16: 'a file without end is refused before it is looked at',
  },
}

const FOLDER = fs.mkdtempSync(path.join(os.tmpdir(), 'htools-shelltests-'))
const made = (name: string): string => path.join(FOLDER, name)
const ENVIRONMENT = {
  ...process.env,
  T: FOLDER,
  TESTDATA_DIR: DATA,
  PYTESTDATA_DIR: path.join(SOURCES, 'data'),
  RAPI_URL: `file://${DATA}/rapi`,
  BACKEND_BAL_STD: `-t${made('simu-rebal-merged.standard')}`,
  BACKEND_BAL_TIER: `-t${made('simu-rebal-merged.tiered')}`,
  BACKEND_DYNU: `-t ${made('simu-onegroup.standard')}`,
  BACKEND_EXCL: `-t ${made('simu-onegroup.standard')}`,
}

beforeAll(() => {
  if (!present) return
  nameOurs()
  makeClusters()
  makeRequests()
  scan()
})

afterAll(() => fs.rmSync(FOLDER, { recursive: true }))

for (const file of present ? fs.readdirSync(SHELLTESTS) : ['htools-*.test'])
  peer(`of ${file} all tests pass but those that are known to fail`, () => {
    const { stdout } = spawnSync(RUNNER, [path.join(SHELLTESTS, file)], {
      ...{ cwd: FOLDER, env: ENVIRONMENT, encoding: 'utf8', maxBuffer: 2 ** 26 },
    })
    const results = [...stdout.matchAll(/:(\d+): \[(OK|Failed)\]$/gm)].map(([, number, outcome]) => ({
      number,
      outcome,
    }))
    expect(results.length).toBeGreaterThan(0)
    const failed = results.filter(({ outcome }) => outcome === 'Failed').map(({ number }) => number)
    const expected = Object.keys(FAILING[file] ?? {})
    expect({ failed, said: failed.join() === expected.join() ? '' : stdout }).toEqual({ failed: expected, said: '' })
  })

/** Under the names that the tests call. */
function nameOurs(): void {
  const programs = made('test/hs')
  fs.mkdirSync(programs, { recursive: true })
  for (const name of ['hail', 'hbal', 'hcheck', 'hinfo', 'hroller', 'hscan', 'hspace', 'hsqueeze'])
    fs.symlinkSync(path.join(BIN, `${name}.js`), path.join(programs, name))
  const collector = `#!/bin/sh\nexec ${path.join(BIN, 'mon-collector.js')} "$@"\n`
  fs.writeFileSync(path.join(programs, 'hpc-mon-collector'), collector, { mode: 0o755 })
}

function ours(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(path.join(BIN, `${program}.js`), args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
  return stdout + stderr
}

function makeClusters(): void {
  const fill = (name: string, ...groups: readonly string[]) => {
    const simulated = groups.flatMap((policy) => ['--simu', `${policy},4,8T,64g,16`])
    ours('hspace', ...simulated, '-S', made(name), '--disk-template', 'drbd', '-l', '8')
  }
  fill('simu-onegroup', 'p')
  fill('simu-twogroups', 'p', 'p')
  // Instances are only on the nodes of one group; those of the other join it, so that there is something to balance.
  fill('simu-rebal-orig', 'u', 'p')
  for (const suffix of ['standard', 'tiered']) {
    const text = fs.readFileSync(made(`simu-rebal-orig.${suffix}`), 'utf8')
    fs.writeFileSync(made(`simu-rebal-merged.${suffix}`), text.replace(/^(node-.*|fake-uuid-)-02/gm, '$1-01'))
  }
}

function makeRequests(): void {
  const read = (name: string) => fs.readFileSync(path.join(DATA, `${name}.json`), 'utf8')
  const withoutSpindles = (text: string) => text.replace(/"spindles": \d+,/g, '')
  for (const mode of ['primary-only', 'secondary-only', 'all']) {
    const text = read('hail-node-evac').replace(/"evac_mode": "all"/g, `"evac_mode": "${mode}"`)
    fs.writeFileSync(made(`hail-node-evac.json.${mode}`), withoutSpindles(text))
  }
  const names = [
    'alloc-drbd',
    'alloc-invalid-twodisks',
    'alloc-twodisks',
    'alloc-spindles',
    'change-group',
    'node-evac',
  ]
  for (const name of [...names, 'reloc-drbd'].map((end) => `hail-${end}`)) {
    const text = read(name).replace(/"exclusive_storage": false/g, '"exclusive_storage": true')
    fs.writeFileSync(made(`${name}.json.excl-stor`), text)
    fs.writeFileSync(made(`${name}.json.fail-excl-stor`), withoutSpindles(text))
  }
}

/** Prints the cluster twice: from the remote API, and from the file that hscan made of it. Both must be the same. */
function scan(): void {
  fs.mkdirSync(made('hscan'))
  ours('hscan', '-d', `${made('hscan')}/`, '-p', '-v', '-v', ENVIRONMENT.RAPI_URL)
  const [text = ''] = fs.readdirSync(made('hscan')).filter((name) => name.endsWith('.data'))
  const print = (name: string, option: string, from: string) =>
    fs.writeFileSync(made(`hscan/${name}.hinfo`), ours('hinfo', '-p', '--print-instances', option, from))
  print('direct', '-m', ENVIRONMENT.RAPI_URL)
  print('fromtext', '-t', made(`hscan/${text}`))
}
